//! Whether a run would have other prompts now than those on its record.

use skillopt_domain::config::{ChangeEffect, ConfigDifference};
use skillopt_domain::prompt::PromptUse;

/// The path of a difference of the prompts' texts.
const PROMPTS: &str = "prompts";

/// The prompts that differ, in one row; `None` when none does, or when none are on record.
pub(super) fn prompt_difference(
    earlier: &[PromptUse],
    now: &[PromptUse],
) -> Option<ConfigDifference> {
    if earlier.is_empty() {
        return None;
    }
    let find = |list: &[PromptUse], name: &str| {
        list.iter().find(|prompt| prompt.name == name).map(|prompt| prompt.hash.clone())
    };
    let added = now.iter().filter(|prompt| find(earlier, &prompt.name).is_none());
    let changed: Vec<&str> = earlier
        .iter()
        .filter(|prompt| find(now, &prompt.name).as_ref() != Some(&prompt.hash))
        .chain(added)
        .map(|prompt| prompt.name.as_str())
        .collect();
    let shown = |list: &[PromptUse]| {
        let words = changed.iter().map(|name| match find(list, name) {
            Some(hash) => format!("{name} {}", hash.short()),
            None => format!("no {name}"),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    (!changed.is_empty()).then(|| ConfigDifference {
        path: PROMPTS.to_owned(),
        before: Some(shown(earlier)),
        after: Some(shown(now)),
        effect: ChangeEffect::Results,
        why: "other words for optimizer and target than when the run began".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::hash::Sha256Hex;
    use skillopt_domain::prompt::PromptOrigin;

    fn used(name: &str, text: &str) -> PromptUse {
        PromptUse {
            name: name.to_owned(),
            origin: PromptOrigin::Default,
            hash: Sha256Hex::of(text),
        }
    }

    #[test]
    fn each_prompt_that_changed_came_or_went_is_named() {
        let earlier = [used("ranking", "a"), used("target", "b"), used("gone", "c")];
        let now = [used("ranking", "a"), used("target", "x"), used("new", "d")];
        let row = prompt_difference(&earlier, &now).expect("a difference");
        let [b, x, c, d] = ["b", "x", "c", "d"].map(|text| Sha256Hex::of(text).short().to_owned());
        assert_eq!(row.before, Some(format!("target {b}, gone {c}, no new")));
        assert_eq!(row.after, Some(format!("target {x}, no gone, new {d}")));
        assert_eq!(row.effect, ChangeEffect::Results);
        assert_eq!(prompt_difference(&earlier, &earlier), None);
        assert_eq!(prompt_difference(&[], &now), None, "an imported run has none on record");
    }
}
