//! How prompts are told. Pure.

use skillopt_domain::api::HandoffPage;

/// What a prompt is for.
pub(super) fn purpose_words(purpose: &str) -> &'static str {
    match purpose {
        "qa" => "Do a task",
        "mine" => "Find tasks in a session",
        "reflect" => "Propose edits",
        "contrast" => "Compare answers, propose edits",
        "judge" => "Score an answer",
        "slow_update" => "Write guidance",
        _ => "Answer a prompt",
    }
}

/// `3 of 7 answered`.
pub(super) fn progress_words(page: &HandoffPage) -> String {
    format!("{} of {} answered", page.n_answered, page.prompts.len())
}

/// What leads to the other prompts that wait in the project.
pub(super) fn other_words(page: &HandoffPage) -> Option<String> {
    let words = match page.is_dry {
        true => "Prompts of the night wait too",
        false => "Prompts of a dry run wait too",
    };
    page.other.is_some().then(|| words.to_owned())
}

/// Why the night cannot go on yet; `None` when it can.
pub(super) fn missing_words(page: &HandoffPage) -> Option<String> {
    if page.running.is_some() {
        return Some("A night works on the project now.".to_owned());
    }
    let n_missing = page.prompts.iter().filter(|prompt| prompt.answer.is_none()).count();
    match n_missing {
        0 if page.night.is_none() => {
            Some("No night of this server waits: go on with the command that began it.".to_owned())
        }
        0 => None,
        1 => Some("One answer is missing.".to_owned()),
        n => Some(format!("{n} answers are missing.")),
    }
}

/// The first prompt without an answer behind this one, from the start again at the end.
pub(super) fn next_open(page: &HandoffPage, id: &str) -> Option<String> {
    let at = page.prompts.iter().position(|prompt| prompt.id == id).map_or(0, |at| at + 1);
    let (before, behind) = page.prompts.split_at(at.min(page.prompts.len()));
    let mut others = behind.iter().chain(before);
    others.find(|prompt| prompt.answer.is_none() && prompt.id != id).map(|prompt| prompt.id.clone())
}

/// The prompt above or below; stays at the ends.
pub(super) fn beside(page: &HandoffPage, id: &str, is_down: bool) -> Option<String> {
    let at = page.prompts.iter().position(|prompt| prompt.id == id)?;
    let to = if is_down { at + 1 } else { at.checked_sub(1)? };
    page.prompts.get(to).map(|prompt| prompt.id.clone())
}

/// How many words a text has.
pub(super) fn n_words(text: &str) -> u64 {
    u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use skillopt_domain::api::HandoffPrompt;
    use skillopt_domain::ids::NightId;

    /// Prompts `a`, `b` and so on; a dot stands for one that is answered.
    pub(in crate::pages::handoff) fn page(marks: &str) -> HandoffPage {
        let prompt = |(at, mark): (u8, char)| HandoffPrompt {
            id: char::from(b'a' + at).to_string(),
            answer: (mark == '.').then(|| "yes".to_owned()),
            ..HandoffPrompt::default()
        };
        let n_answered = u32::try_from(marks.matches('.').count()).expect("few");
        HandoffPage {
            night: NightId::parse("0190a0c2-7b1e-7c33-8f00-00000000000a").ok(),
            n_answered,
            prompts: (0..).zip(marks.chars()).map(prompt).collect(),
            ..HandoffPage::default()
        }
    }

    #[test]
    fn the_night_goes_on_when_nothing_is_missing_and_somebody_waits() {
        assert_eq!(progress_words(&page(".o.")), "2 of 3 answered");
        assert_eq!(missing_words(&page(".o.")).as_deref(), Some("One answer is missing."));
        assert_eq!(missing_words(&page("oo")).as_deref(), Some("2 answers are missing."));
        assert_eq!(missing_words(&page("..")), None);
        let mut done = page("..");
        done.running.clone_from(&done.night);
        assert!(missing_words(&done).is_some_and(|words| words.contains("works")));
        (done.running, done.night) = (None, None);
        assert!(missing_words(&done).is_some_and(|words| words.contains("command")));
    }

    #[test]
    fn prompts_that_wait_beside_these_are_told_by_whose_they_are() {
        let mut page = page("o");
        assert_eq!(other_words(&page), None);
        page.other.clone_from(&page.night);
        assert!(other_words(&page).is_some_and(|words| words.contains("of a dry run")));
        page.is_dry = true;
        assert!(other_words(&page).is_some_and(|words| words.contains("of the night")));
    }

    #[test]
    fn the_next_open_prompt_comes_behind_and_then_from_the_start() {
        assert_eq!(next_open(&page("oo.o"), "b").as_deref(), Some("d"));
        assert_eq!(next_open(&page("oo.."), "b").as_deref(), Some("a"));
        assert_eq!(next_open(&page(".o."), "b"), None);
        assert_eq!(next_open(&page(".."), "a"), None);
    }

    #[test]
    fn one_moves_up_and_down_within_the_list() {
        assert_eq!(beside(&page("oo"), "a", true).as_deref(), Some("b"));
        assert_eq!(beside(&page("oo"), "b", true), None);
        assert_eq!(beside(&page("oo"), "a", false), None);
    }
}
