//! The evidence log: what a night saw, asked, measured and decided, one JSON object a line. Secrets are taken out
//! before texts are cut. Opens no files: where lines go is passed in.

mod read;

pub use read::{EvidencePage, EvidenceQuery, read_evidence};

use crate::instant::utc_text_with_ms;
use serde_json::{Map, Value};
use skillopt_engine::ports::Clock;
use std::fmt::{self, Debug};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longest text that is kept when nothing is configured, in characters.
pub const DEFAULT_MAX_CHARS: usize = 4000;
/// A shorter limit makes the log useless.
pub const LEAST_MAX_CHARS: usize = 200;

/// Takes secrets out of a text.
pub type Redact = dyn Fn(&str) -> String + Send + Sync;

/// Where the log of a night goes, and how.
pub struct EvidenceOptions {
    /// Takes secrets out.
    pub redact: Arc<Redact>,
    /// Longest text that is kept, in characters; [`LEAST_MAX_CHARS`] at least.
    pub max_chars: usize,
    /// For the moment of each line.
    pub clock: Arc<dyn Clock>,
}

/// The log of one night. Threads may share it; it keeps nothing in memory.
pub struct Evidence {
    log: Option<Log>,
}

struct Log {
    options: EvidenceOptions,
    state: Mutex<State>,
}

struct State {
    sink: Box<dyn Write + Send>,
    seq: u64,
    n_lost: u64,
}

impl Debug for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evidence").field("on", &self.log.is_some()).finish()
    }
}

impl Debug for EvidenceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvidenceOptions")
            .field("max_chars", &self.max_chars)
            .finish_non_exhaustive()
    }
}

impl Evidence {
    /// A log that writes lines to `sink`.
    #[must_use]
    pub fn new(sink: Box<dyn Write + Send>, options: EvidenceOptions) -> Self {
        let state = Mutex::new(State { sink, seq: 0, n_lost: 0 });
        Self { log: Some(Log { options, state }) }
    }

    /// A log that keeps nothing.
    #[must_use]
    pub fn off() -> Self {
        Self { log: None }
    }

    /// Adds a line. `fields` is an object; its texts are redacted, then cut. A line that cannot be written is counted:
    /// a full disk must not end a night that is paid for.
    pub fn record(&self, stage: &str, event: &str, fields: Value) {
        let Some(log) = &self.log else { return };
        let mut line = Map::new();
        let moment = utc_text_with_ms(log.options.clock.now_ms());
        line.insert("ts".to_owned(), moment.into());
        line.insert("seq".to_owned(), 0.into());
        line.insert("stage".to_owned(), stage.into());
        line.insert("event".to_owned(), event.into());
        if let Value::Object(fields) = log.options.cleaned(fields) {
            line.extend(fields.into_iter().filter(|(name, _)| !is_ours(name)));
        }
        let mut state = log.lock();
        state.seq += 1;
        line["seq"] = state.seq.into();
        let text = format!("{}\n", Value::Object(line));
        let written = state.sink.write_all(text.as_bytes()).and_then(|()| state.sink.flush());
        state.n_lost += u64::from(written.is_err());
    }

    /// Lines that could not be written.
    #[must_use]
    pub fn n_lost(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.lock().n_lost)
    }
}

fn is_ours(name: &str) -> bool {
    matches!(name, "ts" | "seq" | "stage" | "event")
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves at most a half line, which readers skip.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EvidenceOptions {
    fn cleaned(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.cut(&(self.redact)(&text))),
            Value::Array(items) => items.into_iter().map(|item| self.cleaned(item)).collect(),
            Value::Object(fields) => {
                let cleaned = |(name, value)| (name, self.cleaned(value));
                Value::Object(fields.into_iter().map(cleaned).collect())
            }
            other => other,
        }
    }

    fn cut(&self, text: &str) -> String {
        let limit = self.max_chars.max(LEAST_MAX_CHARS);
        match text.char_indices().nth(limit) {
            None => text.to_owned(),
            Some((at, _)) => {
                let n_dropped = text[at..].chars().count();
                format!("{}… [{n_dropped} characters cut]", &text[..at])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use skillopt_engine::testing::TickingClock;

    #[derive(Clone, Default)]
    pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no space"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn options(redact: impl Fn(&str) -> String + Send + Sync + 'static) -> EvidenceOptions {
        EvidenceOptions {
            redact: Arc::new(redact),
            max_chars: 10,
            clock: Arc::new(TickingClock::default()),
        }
    }

    fn lines(shared: &Shared) -> Vec<Value> {
        let bytes = shared.0.lock().expect("not poisoned").clone();
        let text = String::from_utf8(bytes).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn c61_a_secret_across_the_cut_is_taken_out_first() {
        let shared = Shared::default();
        let hide = |text: &str| text.replace("sk-secret-of-a-user", "[gone]");
        let evidence = Evidence::new(Box::new(shared.clone()), options(hide));
        let text = format!("{}sk-secret-of-a-user", "x".repeat(195));
        evidence.record("replay", "result", json!({"why": [text], "hard": f64::NAN}));
        let line = &lines(&shared)[0];
        assert_eq!(line["why"][0], format!("{}[gone… [1 characters cut]", "x".repeat(195)));
        assert_eq!(line["hard"], Value::Null);
        assert_eq!(line["ts"], "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn lines_are_numbered_and_fields_cannot_pass_for_ours() {
        let shared = Shared::default();
        let evidence = Evidence::new(Box::new(shared.clone()), options(str::to_owned));
        evidence.record("a", "b", json!({"seq": 9, "stage": "x"}));
        evidence.record("a", "c", json!({}));
        let lines = lines(&shared);
        let heads: Vec<_> =
            lines.iter().map(|line| (line["seq"].clone(), line["stage"].clone())).collect();
        assert_eq!(heads, [(json!(1), json!("a")), (json!(2), json!("a"))]);
    }

    #[test]
    fn a_line_that_cannot_be_written_is_counted() {
        let evidence = Evidence::new(Box::new(Broken), options(str::to_owned));
        evidence.record("a", "b", json!({}));
        assert_eq!((evidence.n_lost(), Evidence::off().n_lost()), (1, 0));
    }
}
