//! Which sessions count, as one value that all sources ask.

use super::feedback::Phrases;
use super::own;
use super::{DropReason, HarvestOptions, Instant, Limits, Scope};

/// The options, made ready.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) phrases: Phrases,
    pub(crate) limits: Limits,
    pub(crate) now: Instant,
    agent_markers: Vec<String>,
    window_start: Option<Instant>,
    project: String,
    scope: Scope,
}

impl Rules {
    pub(crate) fn new(options: &HarvestOptions) -> Self {
        Self {
            phrases: Phrases::new(&options.negative_phrases, &options.positive_phrases),
            limits: options.limits,
            now: options.now,
            agent_markers: options.agent_markers.clone(),
            window_start: options.window_start(),
            project: normal(&options.project),
            scope: options.scope.clone(),
        }
    }

    /// Whether sessions of `project` are asked for.
    pub(crate) fn is_in_scope(&self, project: &str) -> bool {
        let project = normal(project);
        match &self.scope {
            Scope::All => true,
            Scope::Invoked if self.project.is_empty() => true,
            Scope::Invoked => are_related(&self.project, &project),
            Scope::List(list) => list.iter().any(|entry| normal(entry) == project),
        }
    }

    /// Whether a session that ended at `ended` is too old.
    pub(crate) fn is_before_window(&self, ended: Instant) -> bool {
        self.window_start.is_some_and(|start| ended < start)
    }

    /// The longest record, as databases count.
    pub(crate) fn record_limit(&self) -> i64 {
        i64::try_from(self.limits.record_bytes).unwrap_or(i64::MAX)
    }

    /// Whether a file that was last changed at `modified` cannot hold a session that is young enough. A day is for
    /// clocks that disagree.
    pub(crate) fn is_certainly_old(&self, modified: Instant) -> bool {
        self.window_start.is_some_and(|start| modified < start.hours_before(24))
    }

    /// Why prompts are no person's, if they are not.
    pub(crate) fn verdict_on<'a>(
        &self,
        mut prompts: impl Iterator<Item = &'a str>,
    ) -> Option<DropReason> {
        let Some(first) = prompts.next() else { return Some(DropReason::NoUserTurn) };
        let mut rest = prompts.peekable();
        let is_only = rest.peek().is_none();
        if own::has_sentinel(first)
            || rest.any(own::has_sentinel)
            || is_only && own::is_replay(first)
        {
            return Some(DropReason::OwnCall);
        }
        own::is_plugin(first, &self.agent_markers).then_some(DropReason::OtherPlugin)
    }
}

/// Whether one folder is the other, or is in it.
pub(crate) fn are_related(a: &str, b: &str) -> bool {
    let below = |inner: &str, outer: &str| {
        !outer.is_empty()
            && inner.strip_prefix(outer).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') || outer.ends_with('/')
            })
    };
    below(a, b) || below(b, a)
}

/// With `/` between folders and none at the end, so that paths of all systems compare.
pub(crate) fn normal(path: &str) -> String {
    let slashed = path.replace('\\', "/");
    match slashed.trim_end_matches('/') {
        "" if slashed.is_empty() => String::new(),
        "" => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::are_related;
    use rstest::rstest;

    #[rstest]
    #[case("/w/a", "/w/a", true)]
    #[case("/w/a/sub", "/w/a", true)]
    #[case("/w", "/w/a", true)]
    #[case("/w/a-b", "/w/a", false)]
    #[case("/", "/w/a", true)]
    #[case("", "/w/a", false)]
    #[case("C:/w/p", "C:/w", true)]
    fn folders_are_related_by_whole_names(
        #[case] a: &str,
        #[case] b: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(are_related(a, b), expected);
    }
}
