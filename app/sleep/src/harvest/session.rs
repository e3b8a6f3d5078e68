//! From the turns of a session to its digests: one a project. Text is redacted here, before it is clipped.

use super::report::DropReason;
use super::rules::{Rules, are_related, normal};
use super::{Instant, Source, own, text};
use crate::digest::SessionDigest;
use crate::redact::{Counts, add_counts, redact};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Answers that a digest keeps.
const FINALS: usize = 5;
/// Files that a digest names.
const FILES: usize = 20;
/// Different tools, skills and signals that a digest names.
const NAMES: usize = 200;
/// Projects that a session can move through; what happens in more counts for the last of them.
const PROJECTS: usize = 50;
/// A text over this length in bytes is redacted and clipped at once, so that few of them are held whole.
pub(crate) const LONG: usize = 64 * 1024;

/// A session while it is read.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) id: String,
    pub(crate) branch: String,
    pub(crate) raw_path: String,
    /// It waited for this harvest: how old it is by now does not matter.
    waited: bool,
    /// Set where the source itself says that no person was there.
    pub(crate) dropped: Option<DropReason>,
    parts: Vec<Part>,
    current: usize,
    asked: HashSet<u64>,
    n_prompts: u32,
}

/// What happened in one project.
#[derive(Debug, Default)]
struct Part {
    project: String,
    prompts: Vec<String>,
    /// What tells each prompt from a copy of it in another file, where anything does.
    prompt_marks: Vec<Option<u64>>,
    /// The agent's messages that have a name, with what they used.
    messages: HashMap<u64, Tokens>,
    finals: VecDeque<Answer>,
    tools: Vec<String>,
    skills: Vec<String>,
    files: Vec<String>,
    signals: Vec<String>,
    n_prompts: u32,
    n_answers: u32,
    counts: Counts,
    started: Option<Instant>,
    ended: Option<Instant>,
}

#[derive(Debug)]
struct Answer {
    mark: u64,
    text: String,
    counts: Counts,
}

/// A digest with what is needed to find copies of its turns.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) digest: SessionDigest,
    pub(crate) counts: Counts,
    pub(crate) prompt_marks: Vec<Option<u64>>,
    pub(crate) messages: HashMap<u64, Tokens>,
    pub(crate) ended: Option<Instant>,
}

/// What became of a draft.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) result: Result<Vec<Finished>, DropReason>,
    pub(crate) projects: Vec<String>,
    pub(crate) ended: Option<Instant>,
}

/// One turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: Option<Instant>,
    /// What the agent calls this turn or its message; empty where it has no name.
    pub(crate) id: &'a str,
    /// What its message used up to now.
    pub(crate) tokens: Tokens,
}

/// Tokens of one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

impl Tokens {
    /// Usage only grows while a message is written.
    fn grow(&mut self, other: Self) {
        self.input = self.input.max(other.input);
        self.output = self.output.max(other.output);
    }
}

impl Draft {
    pub(crate) fn new(id: &str, raw_path: &str) -> Self {
        Self {
            id: id.to_owned(),
            branch: String::new(),
            raw_path: raw_path.to_owned(),
            waited: false,
            dropped: own::is_own_folder(raw_path).then_some(DropReason::OwnCall),
            parts: vec![Part::default()],
            current: 0,
            asked: HashSet::new(),
            n_prompts: 0,
        }
    }

    /// Says whether the session waited for this harvest.
    pub(crate) fn waiting(mut self, waited: bool) -> Self {
        self.waited = waited;
        self
    }

    /// What follows happened in `project`. A folder below or above one of before is the same project.
    pub(crate) fn enter(&mut self, project: &str) {
        if project.is_empty() {
            return;
        }
        if own::is_own_folder(project) {
            self.dropped = Some(DropReason::OwnCall);
        }
        if self.part().project.is_empty() {
            self.part().project = project.to_owned();
            return;
        }
        if self.parts[self.current].project == project {
            return;
        }
        let here = normal(project);
        let known = self.parts.iter().position(|part| are_related(&normal(&part.project), &here));
        if let Some(known) = known {
            self.current = known;
        } else if self.parts.len() < PROJECTS {
            self.current = self.parts.len();
            self.parts.push(Part { project: project.to_owned(), ..Part::default() });
        }
    }

    /// The folder of the store names this project; it counts where no record names one.
    pub(crate) fn enter_by_default(&mut self, project: &str) {
        let first = &mut self.parts[0];
        if first.project.is_empty() {
            project.clone_into(&mut first.project);
        }
    }

    /// A turn of the person. Returns whether it had words of a person.
    pub(crate) fn ask(&mut self, turn: Turn<'_>, rules: &Rules) -> bool {
        let Some(intent) = text::intent(turn.text) else { return false };
        let mark = mark(turn, &intent);
        if !turn.id.is_empty() && !self.asked.insert(mark) {
            return false;
        }
        let redacted = redact(&intent);
        let words = clip(redacted.text, rules.limits.text_chars);
        let is_first = self.n_prompts == 0;
        self.n_prompts += 1;
        let part = self.part();
        part.see(turn.at);
        part.n_prompts += 1;
        if !is_first {
            for signal in rules.phrases.find(&words) {
                remember(&mut part.signals, &signal, NAMES);
            }
        }
        let is_known_by_mark = !turn.id.is_empty() || turn.at.is_some();
        part.prompt_marks.push(is_known_by_mark.then_some(mark));
        if part.prompts.len() < rules.limits.prompts {
            add_counts(&mut part.counts, &redacted.counts);
            part.prompts.push(words);
        }
        true
    }

    /// Prompts that are not kept.
    pub(crate) fn count_prompts(&mut self, n: usize) {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        self.n_prompts = self.n_prompts.saturating_add(n);
        self.part().n_prompts = self.part().n_prompts.saturating_add(n);
    }

    /// A turn of the agent, or one of the blocks of such a turn: blocks with one id are one turn.
    pub(crate) fn answer(&mut self, turn: Turn<'_>, rules: &Rules) {
        let mark = mark(turn, turn.text);
        let part = self.part();
        part.see(turn.at);
        part.count_answer(turn, mark);
        let said = text::without_ansi(turn.text.trim());
        if !said.is_empty() {
            part.say(mark, &said, rules.limits.text_chars);
        }
    }

    /// The agent used a tool.
    pub(crate) fn tool(&mut self, name: &str) {
        let name = tool_name(name);
        remember(&mut self.part().tools, &name, NAMES);
    }

    /// The agent used a skill.
    pub(crate) fn skill(&mut self, name: &str) {
        let name = redact(name).text;
        remember(&mut self.part().skills, &clip(name, 200), NAMES);
    }

    /// The agent touched a file.
    pub(crate) fn file(&mut self, path: &str) {
        let path = redact(path).text;
        remember(&mut self.part().files, &clip(path, 1_000), FILES);
    }

    /// Something besides words says how it went.
    pub(crate) fn signal(&mut self, signal: &str) {
        remember(&mut self.part().signals, signal, NAMES);
    }

    /// The session was alive at `at`.
    pub(crate) fn see(&mut self, at: Option<Instant>) {
        self.part().see(at);
    }

    /// The session ended at `at`, and no record says when it began.
    pub(crate) fn end(&mut self, at: Instant) {
        for part in &mut self.parts {
            part.ended = Some(at);
        }
    }

    /// Its digests, or why there is none. `modified` stands in for the end where no record has a time.
    pub(crate) fn judge(self, source: Source, modified: Instant, rules: &Rules) -> Judged {
        let projects: Vec<String> = self.parts.iter().map(|part| part.project.clone()).collect();
        let ended = self.parts.iter().filter_map(|part| part.ended).max();
        let result = self.finish(source, ended.unwrap_or(modified), rules);
        Judged { result, projects, ended }
    }

    fn finish(
        self,
        source: Source,
        ended: Instant,
        rules: &Rules,
    ) -> Result<Vec<Finished>, DropReason> {
        if let Some(reason) = self.dropped {
            return Err(reason);
        }
        let prompts = self.parts.iter().flat_map(|part| part.prompts.iter().map(String::as_str));
        if let Some(reason) = rules.verdict_on(prompts) {
            return Err(reason);
        }
        let is_asked_for = |part: &Part| rules.is_in_scope(&part.project);
        if !self.parts.iter().any(is_asked_for) {
            return Err(DropReason::OutOfScope);
        }
        if !self.waited && rules.is_before_window(ended) {
            return Err(DropReason::BeforeWindow);
        }
        let Self { id, branch, raw_path, parts, .. } = self;
        let branch = redact(&branch).text;
        let finished: Vec<Finished> = parts
            .into_iter()
            .filter(|part| !part.prompts.is_empty() && rules.is_in_scope(&part.project))
            .map(|part| part.finish(source, (&id, &branch, &raw_path), rules))
            .collect();
        if finished.is_empty() { Err(DropReason::OutOfScope) } else { Ok(finished) }
    }

    fn part(&mut self) -> &mut Part {
        &mut self.parts[self.current]
    }
}

impl Part {
    fn see(&mut self, at: Option<Instant>) {
        if let Some(at) = at {
            self.started = Some(self.started.map_or(at, |started| started.min(at)));
            self.ended = Some(self.ended.map_or(at, |ended| ended.max(at)));
        }
    }

    /// Blocks of one message are one turn; a turn without a name is one of its own.
    fn count_answer(&mut self, turn: Turn<'_>, mark: u64) {
        let n_known = self.messages.len();
        if !turn.id.is_empty() || turn.tokens != Tokens::default() {
            self.messages.entry(mark).or_default().grow(turn.tokens);
        }
        let is_new = turn.id.is_empty() || self.messages.len() > n_known;
        self.n_answers += u32::from(is_new);
    }

    /// A message that grows replaces what there was of it.
    fn say(&mut self, mark: u64, text: &str, limit: usize) {
        let answer = Answer::new(mark, text, limit);
        match self.finals.back_mut() {
            Some(last) if last.mark == mark && answer.text.starts_with(&last.text) => {
                *last = answer;
            }
            _ => {
                self.finals.push_back(answer);
                if self.finals.len() > FINALS {
                    self.finals.pop_front();
                }
            }
        }
    }

    fn finish(self, source: Source, names: (&str, &str, &str), rules: &Rules) -> Finished {
        let mut counts = self.counts;
        let mut finals = Vec::with_capacity(self.finals.len());
        for answer in self.finals {
            let answer = answer.masked(rules.limits.text_chars);
            add_counts(&mut counts, &answer.counts);
            finals.push(answer.text);
        }
        let spelled = |at: Option<Instant>| at.map(|at| at.to_string()).unwrap_or_default();
        let (id, branch, raw_path) = names;
        let digest = SessionDigest {
            session_id: id.to_owned(),
            project: self.project,
            git_branch: branch.to_owned(),
            started_at: spelled(self.started),
            ended_at: spelled(self.ended),
            user_prompts: self.prompts,
            assistant_finals: finals,
            tools_used: self.tools,
            skills_used: self.skills,
            files_touched: self.files,
            feedback_signals: self.signals,
            n_user_turns: self.n_prompts,
            n_assistant_turns: self.n_answers,
            raw_path: raw_path.to_owned(),
            source: Some(source),
        };
        Finished {
            digest,
            counts,
            prompt_marks: self.prompt_marks,
            messages: self.messages,
            ended: self.ended,
        }
    }
}

impl Answer {
    fn new(mark: u64, text: &str, limit: usize) -> Self {
        let raw = Self { mark, text: text.to_owned(), counts: Counts::new() };
        if text.len() > LONG { raw.masked(limit) } else { raw }
    }

    fn masked(self, limit: usize) -> Self {
        let redacted = redact(&self.text);
        let mut counts = self.counts;
        add_counts(&mut counts, &redacted.counts);
        Self { mark: self.mark, text: clip(redacted.text, limit), counts }
    }
}

/// What tells a turn from another: its name, or its words and its time.
fn mark(turn: Turn<'_>, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    if turn.id.is_empty() {
        (text, turn.at).hash(&mut hasher);
    } else {
        turn.id.hash(&mut hasher);
    }
    hasher.finish()
}

/// Adds `name` unless it is there, is empty, or there are `max`.
fn remember(names: &mut Vec<String>, name: &str, max: usize) {
    if !name.is_empty() && names.len() < max && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// A tool's name without anything that a path, a shell or a page could take as more than a name.
fn tool_name(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    let name: String = name.chars().filter(is_plain).take(80).collect();
    redact(&name).text
}

/// The first `limit` characters.
pub(crate) fn clip(mut text: String, limit: usize) -> String {
    if text.len() > limit
        && let Some((at, _)) = text.char_indices().nth(limit)
    {
        text.truncate(at);
        text.push('…');
    }
    text
}
