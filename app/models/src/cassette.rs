//! Cassettes: the model exchanges of a run as a file that people can read, and that a run can be trained from without
//! any model. One JSON object a line: a header, then one exchange a line. The format is told in `docs/replay.md`.

mod exchange;
mod miss;
mod model;

pub use exchange::{Answer, Draw, Exchange, Question, RecordedFailure};
pub use model::ReplayModel;

use exchange::Line;
use miss::miss;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{ChatRequest, Message};
use std::collections::HashMap;

/// The word and the version that every cassette begins with.
pub const FORMAT: &str = "skillopt-cassette/1";

/// What a cassette says about itself. Only `format` is needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always [`FORMAT`].
    pub format: String,
    /// Version of the program that wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// A line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The run that was recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// The config of the run under the flat names of `config.json`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    /// Which data the run was made on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataMark>,
    /// The skill that the run started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}

/// The data of a recorded run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataMark {
    /// Hash of all tasks of all splits, in order.
    pub sha256: Sha256Hex,
    /// Tasks of the train split.
    pub n_train: u32,
    /// Tasks of the selection split.
    pub n_selection: u32,
    /// Tasks of the test split.
    pub n_test: u32,
}

/// The file is no cassette.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct CassetteError {
    /// Line from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// A header and exchanges, found by what is asked.
#[derive(Clone, Debug)]
pub struct Cassette {
    header: Header,
    exchanges: Vec<Exchange>,
    /// Recorded exchanges by what was sent.
    recorded: HashMap<Sha256Hex, usize>,
    /// Exchanges with conditions, in the order of the file.
    ruled: Vec<usize>,
    sha: Sha256Hex,
}

impl Cassette {
    /// Puts a cassette together.
    #[must_use]
    pub fn new(header: Header, exchanges: Vec<Exchange>) -> Self {
        let mut cassette = Self {
            header: Header { format: FORMAT.to_owned(), ..header },
            exchanges,
            recorded: HashMap::new(),
            ruled: Vec::new(),
            sha: Sha256Hex::of(""),
        };
        cassette.index();
        cassette.sha = Sha256Hex::of(cassette.text());
        cassette
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// [`CassetteError`] with the first line that cannot be used.
    pub fn read(text: &str) -> Result<Self, CassetteError> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let fault = |line, message: String| CassetteError { line, message };
        let (line, first) = lines
            .next()
            .ok_or_else(|| fault(1, "the file is empty; it must begin with a header".into()))?;
        let header: Header = serde_json::from_str(first)
            .map_err(|err| fault(line, format!("the header cannot be read: {err}")))?;
        if header.format != FORMAT {
            let found = &header.format;
            return Err(fault(
                line,
                format!("`format` is `{found}`; this program reads `{FORMAT}`"),
            ));
        }
        let mut exchanges = Vec::new();
        for (line, text) in lines {
            let read: Line = serde_json::from_str(text)
                .map_err(|err| fault(line, format!("the exchange cannot be read: {err}")))?;
            exchanges.push(read.into_exchange(line).map_err(|message| fault(line, message))?);
        }
        let mut cassette = Self {
            header,
            exchanges,
            recorded: HashMap::new(),
            ruled: Vec::new(),
            sha: Sha256Hex::of(text),
        };
        cassette.index();
        Ok(cassette)
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", json(&self.header));
        for exchange in &self.exchanges {
            text.push_str(&json(&Line::of(exchange)));
            text.push('\n');
        }
        text
    }

    /// What it says about itself.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All exchanges in the order of the file.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Hash of the file's text.
    #[must_use]
    pub fn sha(&self) -> &Sha256Hex {
        &self.sha
    }

    /// The exchange that answers a request: a recorded one with the same messages, token limit and draw, else the first
    /// whose conditions hold.
    ///
    /// # Errors
    /// Why there is none, with the stage and the nearest exchange.
    pub fn find(
        &self,
        role: Role,
        request: &ChatRequest,
        sample: &Sample,
    ) -> Result<&Exchange, String> {
        let draw = Draw::of(sample);
        let key = key_of(role, &request.messages, request.max_tokens, draw);
        let ruled = || self.ruled.iter().find(|at| self.exchanges[**at].holds_for(role, request));
        let found = self.recorded.get(&key).or_else(ruled);
        found.map(|at| &self.exchanges[*at]).ok_or_else(|| miss(self, role, request, draw))
    }

    fn index(&mut self) {
        for (at, exchange) in self.exchanges.iter().enumerate() {
            match &exchange.question {
                Question::Recorded { messages, max_tokens, draw } => {
                    let key = key_of(exchange.role, messages, *max_tokens, *draw);
                    self.recorded.entry(key).or_insert(at);
                }
                Question::Rule { .. } => self.ruled.push(at),
            }
        }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers are JSON")
}

fn key_of(role: Role, messages: &[Message], max_tokens: Option<u32>, draw: Draw) -> Sha256Hex {
    Sha256Hex::of(json(&(role, messages, max_tokens, draw)))
}

#[cfg(test)]
mod tests;
