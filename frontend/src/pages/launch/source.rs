//! The run that the form was filled from: a fork of it, or going on with it. Pure but for one load.

use crate::api::{self, ApiResult, Values};
use skillopt_domain::api::RunDetail;
use skillopt_domain::config::Origin;
use skillopt_domain::ids::RunId;
use skillopt_domain::view::SkillVersion;

/// What the button at the end does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A run of its own.
    New,
    /// A run that starts from another one.
    Fork,
    /// The other run goes on, with what is safe to change.
    Resume,
}

/// Which form the address asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) preset: Option<String>,
    /// Values of this run, for a run of its own.
    pub(super) from: Option<String>,
    pub(super) fork: Option<String>,
    /// The version from which the fork starts.
    pub(super) version: Option<u32>,
    pub(super) resume: Option<String>,
}

impl Wanted {
    pub(super) fn read(param: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            preset: param("preset"),
            from: param("from"),
            fork: param("fork"),
            version: param("version").and_then(|text| text.parse().ok()),
            resume: param("resume"),
        }
    }

    pub(super) fn purpose(&self) -> Purpose {
        match (&self.resume, &self.fork) {
            (Some(_), _) => Purpose::Resume,
            (None, Some(_)) => Purpose::Fork,
            (None, None) => Purpose::New,
        }
    }

    /// Under which name the draft of this form is kept.
    pub(super) fn draft_name(&self) -> String {
        match (self.purpose(), &self.resume, &self.fork, &self.from, &self.preset) {
            (Purpose::Resume, Some(run), ..) => format!("resume.{run}"),
            (_, _, Some(run), ..) => fork_draft(run),
            (_, _, _, Some(run), _) => format!("from.{run}"),
            (_, _, _, _, Some(preset)) => format!("preset.{preset}"),
            _ => "new".to_owned(),
        }
    }
}

/// Under which name the draft of a fork is kept.
pub(super) fn fork_draft(run: &str) -> String {
    format!("fork.{run}")
}

/// The other run, as far as the form shows it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) id: RunId,
    pub(super) name: String,
    pub(super) versions: Vec<SkillVersion>,
    /// The version that measured best.
    pub(super) best: Option<u32>,
    pub(super) is_resumable: bool,
    /// What somebody set for it.
    pub(super) values: Values,
}

/// Loads a run for the form. Its folder is not taken over: two runs never share one.
pub(super) async fn load(run: &RunId) -> ApiResult<Source> {
    let detail: RunDetail = api::run(run).await?;
    let config = api::run_config(run).await?;
    let set = config
        .rows
        .into_iter()
        .filter(|row| row.place.origin != Origin::Default && row.path != "env.out_root");
    Ok(Source {
        id: run.clone(),
        name: detail.summary.name,
        best: detail.view.best.map(|best| best.version),
        versions: detail.view.versions,
        is_resumable: detail.summary.status.is_resumable() && detail.imported.is_none(),
        values: set.filter_map(|row| Some((row.path, row.value?))).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(pairs: &[(&str, &str)]) -> Wanted {
        Wanted::read(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_address_says_what_the_form_is_for_and_each_form_has_its_own_draft() {
        assert_eq!(wanted(&[]).purpose(), Purpose::New);
        assert_eq!(wanted(&[("fork", "a"), ("version", "3")]).version, Some(3));
        assert_eq!(wanted(&[("fork", "a")]).purpose(), Purpose::Fork);
        assert_eq!(wanted(&[("resume", "a"), ("fork", "b")]).purpose(), Purpose::Resume);
        let names = [
            wanted(&[]).draft_name(),
            wanted(&[("fork", "a")]).draft_name(),
            wanted(&[("resume", "a")]).draft_name(),
            wanted(&[("from", "a")]).draft_name(),
            wanted(&[("preset", "a")]).draft_name(),
        ];
        assert_eq!(names, ["new", "fork.a", "resume.a", "from.a", "preset.a"]);
    }
}
