//! Reading an evidence log page by page. Lines that are no evidence are counted and passed over; memory is bounded by
//! the page and by the longest line that is read.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

/// A longer line is no evidence of ours.
const MAX_LINE_BYTES: u64 = 4_000_000;

/// Which part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceQuery {
    /// Lines with a higher number than this.
    pub after: u64,
    /// At most so many.
    pub limit: usize,
    /// Only this stage, where one is named.
    pub stage: Option<String>,
}

/// A part of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidencePage {
    /// Lines in order of their numbers.
    pub lines: Vec<Value>,
    /// There are more behind them.
    pub has_more: bool,
    /// Lines of the whole log that cannot be read.
    pub n_unreadable: u64,
}

/// Reads a page. Of lines with the same number the first counts.
///
/// # Errors
/// When the log cannot be read at all.
pub fn read_evidence(mut log: impl BufRead, query: &EvidenceQuery) -> io::Result<EvidencePage> {
    let mut kept: BTreeMap<u64, Value> = BTreeMap::new();
    let mut page = EvidencePage::default();
    let mut line = Vec::new();
    while next_line(&mut log, &mut line)? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Some((seq, value)) = numbered(&line) else {
            page.n_unreadable += 1;
            continue;
        };
        let is_wanted = query.stage.as_ref().is_none_or(|stage| value["stage"] == **stage);
        if seq > query.after && is_wanted {
            kept.entry(seq).or_insert(value);
            if kept.len() > query.limit {
                kept.pop_last();
                page.has_more = true;
            }
        }
    }
    page.lines = kept.into_values().collect();
    Ok(page)
}

fn numbered(line: &[u8]) -> Option<(u64, Value)> {
    let value: Value = serde_json::from_slice(line).ok()?;
    Some((value.get("seq")?.as_u64()?, value))
}

/// Reads a line without its end; the tail of one that is too long is passed over. False at the end of the log.
fn next_line(log: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if log.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    while line.last() != Some(&b'\n') {
        let rest = log.fill_buf()?;
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            let n = rest.len();
            log.consume(n);
            if n == 0 {
                break;
            }
            continue;
        };
        log.consume(end + 1);
        break;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(log: &[u8], after: u64, limit: usize) -> EvidencePage {
        let query = EvidenceQuery { after, limit, stage: None };
        read_evidence(log, &query).expect("readable")
    }

    fn seqs(page: &EvidencePage) -> Vec<u64> {
        page.lines.iter().filter_map(|line| line["seq"].as_u64()).collect()
    }

    #[test]
    fn corrupt_lines_are_counted_and_the_rest_stands_in_order() {
        let log = b"{\"seq\":3}\nnot json\n{\"seq\":1}\n\xff\xfe\n[1]\n{\"seq\":2}\n{\"seq\":4";
        let page = page(log, 0, 10);
        assert_eq!((seqs(&page), page.n_unreadable, page.has_more), (vec![1, 2, 3], 4, false));
    }

    #[test]
    fn a_page_has_the_next_lines_and_says_whether_there_are_more() {
        let log = b"{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n{\"seq\":4}\n";
        let first = page(log, 1, 2);
        assert_eq!((seqs(&first), first.has_more), (vec![2, 3], true));
        let last = page(log, 3, 2);
        assert_eq!((seqs(&last), last.has_more), (vec![4], false));
    }

    #[test]
    fn a_line_without_an_end_in_sight_does_not_fill_the_memory() {
        let mut log = vec![b'x'; 4_000_100];
        log.extend_from_slice(b"\n{\"seq\":1}\n");
        let page = page(&log, 0, 10);
        assert_eq!((seqs(&page), page.n_unreadable), (vec![1], 1));
    }

    #[test]
    fn a_stage_can_be_picked() {
        let log = b"{\"seq\":1,\"stage\":\"gate\"}\n{\"seq\":2,\"stage\":\"mine\"}\n";
        let query = EvidenceQuery { after: 0, limit: 9, stage: Some("mine".into()) };
        assert_eq!(seqs(&read_evidence(&log[..], &query).expect("readable")), [2]);
    }
}
