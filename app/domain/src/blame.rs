//! Blame: which update brought each line of a skill. The updates of a run are applied again, one edit after the
//! other, and after each of them the lines that are new have it as their origin. What that cannot explain is said to
//! be unknown, never guessed.

use crate::diff::same_lines;
use crate::edit::{Edit, EditReport, EditStatus, apply_one};
use crate::json::{Fields, FromFields, JsonError, from_fields};
use crate::python;
use crate::skill::{Region, SkillDoc, lines, to_lf};
use serde::Serialize;
use std::ops::Range;

/// What brought a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(tag = "origin", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Origin {
    /// It stands in the initial skill.
    Initial,
    /// An edit.
    Edit {
        /// The step that applied it.
        step: u32,
        /// Its place among the edits that the step tried, from 1.
        number: u32,
    },
    /// A whole new text that was written in a step.
    Rewrite {
        /// The step.
        step: u32,
    },
    /// Notes on rules that were not followed.
    Notes {
        /// The step that took them in.
        step: u32,
    },
    /// A step, but which of its edits is not known.
    Step {
        /// The step.
        step: u32,
    },
    /// Guidance that was written between epochs.
    SlowUpdate {
        /// The epoch that ended.
        epoch: u32,
    },
    /// Not known: a text in between is missing.
    Unknown,
}

from_fields!(Origin);

impl FromFields for Origin {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(match &*fields.take_tag("origin")? {
            "initial" => Self::Initial,
            "edit" => Self::Edit { step: fields.take("step")?, number: fields.take("number")? },
            "rewrite" => Self::Rewrite { step: fields.take("step")? },
            "notes" => Self::Notes { step: fields.take("step")? },
            "step" => Self::Step { step: fields.take("step")? },
            "slow_update" => Self::SlowUpdate { epoch: fields.take("epoch")? },
            "unknown" => Self::Unknown,
            other => return Err(JsonError::unknown_tag("origin", other)),
        })
    }
}

/// What made a version of the version before.
#[derive(Clone, Debug, PartialEq)]
pub enum MadeBy {
    /// A step with what became of its edits, in the order tried. Empty when that is not known.
    Step {
        /// The step.
        step: u32,
        /// The edits.
        edits: Vec<EditReport>,
        /// A whole new text was written.
        is_rewrite: bool,
    },
    /// Guidance between epochs.
    SlowUpdate {
        /// The epoch that ended.
        epoch: u32,
    },
    /// Something that the journal does not tell.
    Unknown,
}

/// A version of a skill after the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct NextVersion {
    /// Its text; `None` when it is not known.
    pub text: Option<String>,
    /// What made it.
    pub made_by: MadeBy,
}

/// The origin of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOrigin {
    /// What brought it.
    pub origin: Origin,
    /// What had brought the line whose place it took, where it took the place of one.
    pub before: Option<Origin>,
}

/// A text with the origin of each of its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    text: String,
    // Invariant: as many as `text` has lines.
    origins: Vec<LineOrigin>,
}

/// Follows a skill version by version, and keeps no text but the last one that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct BlameWalk {
    blame: Blame,
    /// The text of the last version is known.
    is_current: bool,
}

impl BlameWalk {
    /// Begins with the first version; `None` when its text is not known.
    #[must_use]
    pub fn start(initial: Option<&str>) -> Self {
        let blame = Blame::start(initial.unwrap_or_default());
        Self { blame, is_current: initial.is_some() }
    }

    /// Goes on to the next version.
    pub fn follow(&mut self, version: &NextVersion) {
        let Some(text) = &version.text else {
            self.is_current = false;
            return;
        };
        let blame = &self.blame;
        self.blame = match &version.made_by {
            // What changed since the last known text has more than one possible origin.
            _ if !self.is_current => blame.then(text, |_| Origin::Unknown),
            MadeBy::Unknown => blame.then(text, |_| Origin::Unknown),
            MadeBy::SlowUpdate { epoch } => {
                blame.then(text, |_| Origin::SlowUpdate { epoch: *epoch })
            }
            MadeBy::Step { step, edits, is_rewrite } => {
                blame.after_edits(*step, edits, text).after_step(*step, *is_rewrite, text)
            }
        };
        self.is_current = true;
    }

    /// The last version; `None` when its text is not known.
    #[must_use]
    pub fn end(self) -> Option<Blame> {
        self.is_current.then_some(self.blame)
    }
}

impl Blame {
    /// Follows a skill from its first version to its last. `None` when the last text is not known.
    #[must_use]
    pub fn of(initial: Option<&str>, versions: &[NextVersion]) -> Option<Self> {
        let mut walk = BlameWalk::start(initial);
        for version in versions {
            walk.follow(version);
        }
        walk.end()
    }

    /// A text all lines of which were there from the start.
    #[must_use]
    pub fn start(text: &str) -> Self {
        let origin = LineOrigin { origin: Origin::Initial, before: None };
        Self { origins: lines(text).map(|_| origin).collect(), text: text.to_owned() }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// One a line, in order.
    #[must_use]
    pub fn origins(&self) -> &[LineOrigin] {
        &self.origins
    }

    /// The next text: lines that it shares with this one keep their origin, `origin` tells that of the others by
    /// their place from 0.
    #[must_use]
    pub fn then(&self, next: &str, origin: impl Fn(usize) -> Origin) -> Self {
        let mut origins = Vec::with_capacity(self.origins.len());
        for block in same_lines(&self.text, next) {
            for (at, place) in block.new.enumerate() {
                let old = block.old.clone().nth(at).and_then(|old| self.origins.get(old)).copied();
                origins.push(match old {
                    Some(kept) if block.is_same => kept,
                    old => LineOrigin { origin: origin(place), before: old.map(|old| old.origin) },
                });
            }
        }
        Self { text: next.to_owned(), origins }
    }

    /// The text after the edits that were applied, as far as they can be applied again: by our own rules, or by those
    /// of the Python system where these come closer to the text that was made.
    fn after_edits(&self, step: u32, edits: &[EditReport], made: &str) -> Self {
        let own = self.applied(step, edits, |doc, edit| apply_one(doc, edit).ok());
        let n_open = new_lines(&own.text, made).len();
        if n_open == 0 {
            return own;
        }
        let python = self.applied(step, edits, |doc, edit| {
            let (next, _) = python::apply_edits(doc, std::slice::from_ref(edit));
            Some(next)
        });
        if new_lines(&python.text, made).len() < n_open { python } else { own }
    }

    /// The text after the edits that were applied, by the rules of `apply`.
    fn applied(
        &self,
        step: u32,
        edits: &[EditReport],
        apply: impl Fn(&SkillDoc, &Edit) -> Option<SkillDoc>,
    ) -> Self {
        let mut blame = self.clone();
        let mut doc = SkillDoc::parse(blame.text.clone());
        for (number, report) in (1..).zip(edits) {
            if report.status != EditStatus::Applied {
                continue;
            }
            if let Some(next) = apply(&doc, &report.edit) {
                blame = blame.then(next.text(), |_| Origin::Edit { step, number });
                doc = next;
            }
        }
        blame
    }

    /// What a step did besides its edits.
    fn after_step(&self, step: u32, is_rewrite: bool, next: &str) -> Self {
        let doc = SkillDoc::parse(next.to_owned());
        let notes = appendix_lines(&doc);
        let is_note = |line: usize| notes.iter().any(|range| range.contains(&line));
        let blank: Vec<bool> =
            lines(next).map(|line| next[line.content].trim().is_empty()).collect();
        let is_blank = |line: usize| blank.get(line).copied().unwrap_or_default();
        let is_new = |line: &usize| !is_note(*line) && !is_blank(*line);
        let new = new_lines(&self.text, next);
        // The blank line in front of new notes belongs to them when nothing else is new.
        let only_notes = new.iter().any(|line| is_note(*line)) && !new.iter().any(is_new);
        self.then(next, |line| match line {
            line if is_note(line) || only_notes => Origin::Notes { step },
            _ if is_rewrite => Origin::Rewrite { step },
            _ => Origin::Step { step },
        })
    }
}

fn new_lines(old: &str, new: &str) -> Vec<usize> {
    same_lines(old, new).into_iter().filter(|block| !block.is_same).flat_map(|b| b.new).collect()
}

/// Places of the lines of the appendix, markers included.
fn appendix_lines(doc: &SkillDoc) -> Vec<Range<usize>> {
    let line_at = |byte: usize| lines(doc.text()).take_while(|line| line.full.end <= byte).count();
    let appendix = doc.marked().filter(|(region, _)| *region == Region::Appendix);
    appendix
        .map(|(_, range)| line_at(range.start)..line_at(range.end.saturating_sub(1)) + 1)
        .collect()
}

/// The lines of a text without their ends.
#[must_use]
pub fn lines_of(text: &str) -> Vec<String> {
    let text = to_lf(text);
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
