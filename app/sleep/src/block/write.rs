//! Puts entries into a document.

use super::Block;
use super::entry::Entry;
use super::layout::{END, START};
use skillopt_domain::skill::Eol;

const HEADING: &str = "## Learned preferences & procedures";
const BANNER: &str = "*Kept by SkillOpt-Sleep: learned from past sessions and checked on held-out tasks. \
                      Text outside of the markers is never changed.*";

/// The document with other entries in its block. Preamble and entries that stayed keep their bytes.
pub(super) fn into_block(text: &str, block: &Block, entries: &[Entry], eol: Eol) -> String {
    let span = &block.span;
    let mut out = text[..span.inner.start].to_owned();
    out.push_str(&block.preamble);
    push_entries(&mut out, entries, eol);
    out.push_str(&text[span.inner.end..]);
    out
}

/// The document with a new block at its end. What was there stays as it is, and stands first.
pub(super) fn new_block(text: &str, entries: &[Entry], eol: Eol) -> String {
    let end = eol.as_str();
    let mut out = text.to_owned();
    let has_text = !text.trim_start_matches('\u{feff}').is_empty();
    if has_text {
        if !ends_line(text) {
            out.push_str(end);
        }
        let blank = format!("{end}{end}");
        if !out.ends_with(&blank) {
            out.push_str(end);
        }
    }
    for line in [START, HEADING, "", BANNER, ""] {
        out.push_str(line);
        out.push_str(end);
    }
    push_entries(&mut out, entries, eol);
    out.push_str(END);
    if !has_text || ends_line(text) {
        out.push_str(end);
    }
    out
}

fn push_entries(out: &mut String, entries: &[Entry], eol: Eol) {
    for entry in entries {
        // The last entry of a block by hand may have gone before; a bullet starts a line.
        if !ends_line(out) {
            out.push_str(eol.as_str());
        }
        out.push_str(&entry.raw);
    }
}

fn ends_line(text: &str) -> bool {
    text.ends_with(['\n', '\r'])
}
