//! Answers given from elsewhere than an editor: several people or tabs may look at the same prompts, so an answer names
//! the one that it takes the place of. Files and their form are those that the night reads.

use super::files::{Asked, HandoffError, io_error};
use super::{Handoff, plain};
use skillopt_domain::hash::Sha256Hex;
use std::fs::{self, File, OpenOptions};
use std::time::UNIX_EPOCH;

/// The longest answer, in bytes.
pub const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The most prompts that are shown at once.
const MAX_PROMPTS: usize = 1000;
/// The most that the answers of a round have together, in bytes.
const MAX_ROUND_BYTES: usize = 32 << 20;

/// What the last round asked, with what was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// When it ended, in milliseconds since 1970; `None` when nothing is asked.
    pub asked_at_ms: Option<u64>,
    /// Its prompts, in the order of their ids.
    pub prompts: Vec<AskedPrompt>,
}

/// A prompt with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedPrompt {
    /// What was asked.
    pub asked: Asked,
    /// The answer.
    pub answer: Option<GivenAnswer>,
}

/// An answer as it stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The text.
    pub text: String,
    /// Its hash.
    pub sha: Sha256Hex,
}

/// Which answer a new one may take the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces<'a> {
    /// None: the prompt must have no answer.
    Nothing,
    /// The one with this hash.
    Answer(&'a str),
    /// Whichever there is.
    Anything,
}

impl Handoff {
    /// What the last round asked, and what was answered since.
    ///
    /// # Errors
    /// [`HandoffError`] when a file cannot be read or understood, or is a link.
    pub fn round(&self) -> Result<Round, HandoffError> {
        let path = self.dir().join("pending.json");
        let all = self.asked()?;
        let asked_at_ms = match path.metadata() {
            Ok(meta) => meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()),
            Err(_) => None,
        };
        if all.len() > MAX_PROMPTS {
            let reason = format!("it has {} prompts; {MAX_PROMPTS} at most", all.len());
            return Err(HandoffError::Damaged { path, reason });
        }
        let (mut prompts, mut n_bytes) = (Vec::new(), 0);
        for asked in all {
            let answer = self.given(&asked.id)?;
            n_bytes += answer.as_ref().map_or(0, |answer| answer.text.len());
            if n_bytes > MAX_ROUND_BYTES {
                let reason = format!("its files have more than {MAX_ROUND_BYTES} bytes together");
                return Err(HandoffError::Damaged { path: self.answers_dir(), reason });
            }
            prompts.push(AskedPrompt { asked, answer });
        }
        let asked_at_ms = asked_at_ms
            .filter(|_| !prompts.is_empty())
            .map(|since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        Ok(Round { asked_at_ms, prompts })
    }

    /// Answers a prompt of the last round, if its answer is still the one that was seen. Gives the hash of what stands
    /// there then. The same answer once more changes nothing.
    ///
    /// # Errors
    /// [`HandoffError`]; nothing is written then.
    pub fn give(
        &self,
        id: &str,
        text: &str,
        replaces: Replaces<'_>,
    ) -> Result<Sha256Hex, HandoffError> {
        if text.trim().is_empty() {
            return Err(HandoffError::EmptyAnswer);
        }
        if text.len() > MAX_ANSWER_BYTES {
            return Err(HandoffError::LongAnswer { n_bytes: text.len(), most: MAX_ANSWER_BYTES });
        }
        let _lock = self.lock_answers(id)?;
        let sha = Sha256Hex::of(text);
        match (self.given(id)?, replaces) {
            (Some(known), _) if known.sha == sha => return Ok(sha),
            (None, _) | (Some(_), Replaces::Anything) => {}
            (Some(known), Replaces::Answer(seen)) if known.sha.as_str() == seen => {}
            (Some(_), _) => return Err(HandoffError::AnswerChanged(id.to_owned())),
        }
        self.write(&self.answer_file(id), text.as_bytes())?;
        Ok(sha)
    }

    /// Takes an answer back that no round has used.
    ///
    /// # Errors
    /// [`HandoffError`]; the answer stays then.
    pub fn take_back(&self, id: &str) -> Result<(), HandoffError> {
        let _lock = self.lock_answers(id)?;
        if self.given(id)?.is_none() {
            return Err(HandoffError::NoAnswer(id.to_owned()));
        }
        let path = self.answer_file(id);
        fs::remove_file(&path).map_err(io_error("remove", &path))
    }

    /// Only ids that the last round asked become paths; what it did not ask was used or is nobody's.
    /// The lock ends with the file that is given back.
    fn lock_answers(&self, id: &str) -> Result<File, HandoffError> {
        if !self.asked()?.iter().any(|asked| asked.id == id) {
            return Err(HandoffError::UnknownId(id.to_owned()));
        }
        self.make_dir(&self.answers_dir())?;
        let path = self.dir().join("answers.lock");
        plain::check_file(&path)?;
        // Empties nothing, whatever has the name by now.
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(&path);
        let lock = file.and_then(|file| file.lock().map(|()| file));
        lock.map_err(io_error("lock", &path))
    }

    fn given(&self, id: &str) -> Result<Option<GivenAnswer>, HandoffError> {
        let path = self.answer_file(id);
        let text = self.read_text(&path, MAX_ANSWER_BYTES)?;
        let text = text.filter(|text| !text.trim().is_empty());
        Ok(text.map(|text| GivenAnswer { sha: Sha256Hex::of(&text), text }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::Arc;

    fn handoff(dir: &Path) -> Handoff {
        let folder = dir.join(".skillopt-sleep-handoff");
        Handoff::new(folder, &dir.join("state"), Arc::new(str::to_owned))
    }

    fn asked(dir: &Path) -> (Handoff, String) {
        let round = handoff(dir);
        let id = round.pend_for("reflect", "what?", 7).unwrap();
        round.pend("and then?", 8).unwrap();
        round.flush().unwrap();
        (handoff(dir), id)
    }

    #[test]
    fn a_round_has_its_prompts_with_purpose_and_answer() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(handoff(dir.path()).round().unwrap(), Round::default());
        let (inbox, id) = asked(dir.path());
        let sha = inbox.give(&id, "because\n", Replaces::Nothing).unwrap();
        let round = inbox.round().unwrap();
        assert!(round.asked_at_ms.is_some());
        let prompt = round.prompts.iter().find(|prompt| prompt.asked.id == id).unwrap();
        assert_eq!((prompt.asked.purpose.as_str(), prompt.asked.max_tokens), ("reflect", 7));
        assert_eq!(prompt.answer, Some(GivenAnswer { text: "because\n".into(), sha }));
        assert_eq!(inbox.pending().unwrap().len(), 1, "the night sees the same answer");
        assert_eq!(inbox.answer_of("what?").unwrap().as_deref(), Some("because"));
    }

    #[test]
    fn an_answer_is_not_replaced_unseen() {
        let dir = tempfile::tempdir().unwrap();
        let (inbox, id) = asked(dir.path());
        let one = inbox.give(&id, "one", Replaces::Nothing).unwrap();
        assert_eq!(
            inbox.give(&id, "one", Replaces::Nothing).unwrap(),
            one,
            "once more is no change"
        );
        let refused = inbox.give(&id, "two", Replaces::Nothing);
        assert!(matches!(refused, Err(HandoffError::AnswerChanged(_))), "{refused:?}");
        let two = inbox.give(&id, "two", Replaces::Answer(one.as_str())).unwrap();
        let stale = inbox.give(&id, "three", Replaces::Answer(one.as_str()));
        assert!(matches!(stale, Err(HandoffError::AnswerChanged(_))), "{stale:?}");
        assert_ne!(inbox.give(&id, "three", Replaces::Anything).unwrap(), two);
        assert_eq!(inbox.answer_of("what?").unwrap().as_deref(), Some("three"));
    }

    #[test]
    fn an_answer_is_taken_back_until_the_next_round_begins() {
        let dir = tempfile::tempdir().unwrap();
        let (inbox, id) = asked(dir.path());
        assert!(matches!(inbox.take_back(&id), Err(HandoffError::NoAnswer(_))));
        inbox.give(&id, "one", Replaces::Nothing).unwrap();
        inbox.take_back(&id).unwrap();
        assert_eq!(inbox.answer_of("what?").unwrap(), None);
        inbox.give(&id, "one", Replaces::Nothing).unwrap();
        let next = handoff(dir.path());
        next.pend("and then?", 8).unwrap();
        next.flush().unwrap();
        assert!(matches!(inbox.take_back(&id), Err(HandoffError::UnknownId(_))));
        assert_eq!(inbox.answer_of("what?").unwrap().as_deref(), Some("one"));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (inbox, id) = asked(dir.path());
        for bad in ["../../x", "0123456789abcdef", "", "answers"] {
            let refused = inbox.give(bad, "x", Replaces::Anything);
            assert!(matches!(refused, Err(HandoffError::UnknownId(_))), "{bad}: {refused:?}");
        }
        let empty = inbox.give(&id, " \n", Replaces::Anything);
        assert!(matches!(empty, Err(HandoffError::EmptyAnswer)));
        let long = inbox.give(&id, &"x".repeat(MAX_ANSWER_BYTES + 1), Replaces::Anything);
        assert!(matches!(long, Err(HandoffError::LongAnswer { .. })));
        assert_eq!(inbox.pending().unwrap().len(), 2);
    }

    #[test]
    fn a_prompt_that_is_listed_often_is_shown_once_and_too_many_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = handoff(dir.path());
        fs::create_dir(inbox.dir()).unwrap();
        let list = |ids: Vec<usize>| {
            let row = |id: usize| {
                let id = format!("{id:016x}");
                serde_json::json!({"id": id, "answer_file": "a", "max_tokens": 1, "prompt": "p"})
            };
            let pending: Vec<_> = ids.into_iter().map(row).collect();
            let format = "skillopt_sleep.handoff.v1";
            let file = serde_json::json!({"format": format, "answers_dir": "", "pending": pending});
            fs::write(inbox.dir().join("pending.json"), file.to_string()).unwrap();
        };
        list(vec![7; MAX_PROMPTS + 1]);
        assert_eq!(inbox.round().unwrap().prompts.len(), 1);
        list((0..MAX_PROMPTS).collect());
        assert_eq!(inbox.round().unwrap().prompts.len(), MAX_PROMPTS);
        list((0..=MAX_PROMPTS).collect());
        assert!(matches!(inbox.round(), Err(HandoffError::Damaged { .. })));
    }

    #[test]
    fn an_answer_that_is_too_long_or_no_text_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let (inbox, id) = asked(dir.path());
        for bytes in [b"caf\xe9".to_vec(), vec![b'x'; MAX_ANSWER_BYTES + 1]] {
            fs::write(inbox.answer_file(&id), bytes).unwrap();
            let refused = inbox.round();
            assert!(matches!(refused, Err(HandoffError::Damaged { .. })), "{refused:?}");
        }
        fs::write(inbox.answer_file(&id), vec![b'x'; MAX_ANSWER_BYTES]).unwrap();
        assert!(inbox.round().is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn an_answer_that_is_a_link_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (inbox, id) = asked(dir.path());
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, "secret").unwrap();
        std::os::unix::fs::symlink(&elsewhere, inbox.answer_file(&id)).unwrap();
        assert!(matches!(inbox.round(), Err(HandoffError::NotPlain(_))));
    }

    #[cfg(unix)]
    #[test]
    fn links_in_the_folder_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (inbox, id) = asked(dir.path());
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::remove_dir_all(inbox.dir().join("answers")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, inbox.dir().join("answers")).unwrap();
        let refused = inbox.give(&id, "x", Replaces::Anything);
        assert!(matches!(refused, Err(HandoffError::NotPlain(_))), "{refused:?}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        assert!(matches!(inbox.round(), Err(HandoffError::NotPlain(_))));
    }
}
