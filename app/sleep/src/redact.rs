//! Takes secrets out of text, before it is stored, cut or sent.
//!
//! Linear in the length of the text and idempotent: what is masked stays as it is when it is masked again. Nothing here
//! knows where a text comes from or goes to.

mod assignment;
mod json;
mod kind;
mod pem;
mod shape;
mod value;

#[cfg(test)]
mod tests;

pub use json::redact_json;
pub use kind::Kind;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often each kind of secret was masked.
pub type Counts = BTreeMap<Kind, u64>;

/// A text without its secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redacted {
    /// The text with a tag in the place of each secret.
    pub text: String,
    /// How many of each kind were masked.
    pub counts: Counts,
}

/// Where a secret is: bytes `start..end` of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    kind: Kind,
}

/// Masks every secret in `text`. Call it before a text is clipped: half a secret is not recognised.
pub fn redact(text: &str) -> Redacted {
    let mut redacted = Redacted { text: text.to_owned(), counts: Counts::new() };
    for _ in 0..PASSES {
        let spans = find(&redacted.text);
        if spans.is_empty() {
            break;
        }
        redacted.text = mask(&redacted.text, spans, &mut redacted.counts);
    }
    redacted
}

/// A secret that stood right behind another one shows only when that one is masked, so there is a second look. A text
/// that needs more than a few looks is made for it.
const PASSES: usize = 8;

fn find(text: &str) -> Vec<Span> {
    let mut spans = shape::find(text);
    pem::find(text, &mut spans);
    assignment::find(text, &mut spans);
    spans.retain(|span| !text[span.start..span.end].starts_with(MASK));
    merged(spans)
}

/// Adds `more` to `counts`.
pub fn add_counts(counts: &mut Counts, more: &Counts) {
    for (kind, n) in more {
        *counts.entry(*kind).or_default() += n;
    }
}

/// How every tag begins.
const MASK: &str = "[REDACTED";

/// Overlapping spans become one, which has the most telling kind of them.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                last.kind = last.kind.more_telling(span.kind);
            }
            _ => out.push(span),
        }
    }
    out
}

fn mask(text: &str, spans: Vec<Span>, counts: &mut Counts) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        out.push_str(span.kind.tag());
        *counts.entry(span.kind).or_default() += 1;
        from = span.end;
    }
    out.push_str(&text[from..]);
    out
}
