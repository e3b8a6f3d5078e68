//! Records of a file, one a line, read as bytes in bounded memory. Only the byte `0x0A` ends a record. What is in a
//! record is not known here.

use std::io::{self, Read};

/// Bytes that one read asks for.
const CHUNK: usize = 256 * 1024;

/// What a file yields.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A record that its line end closes.
    Whole(&'a [u8]),
    /// What stands after the last line end: a whole record, or one that is still being written.
    Rest(&'a [u8]),
    /// A record over the cap. Its bytes are gone.
    Oversized,
}

/// Reads lines; the buffer is used again for each file.
#[derive(Debug)]
pub(crate) struct LineReader {
    buffer: Vec<u8>,
    cap: usize,
}

impl LineReader {
    /// `cap`: the longest record, in bytes.
    pub(crate) fn new(cap: usize) -> Self {
        Self { buffer: vec![0; CHUNK], cap }
    }

    /// Hands each line of `from` to `take`: without its line end, without a byte order mark, never blank.
    ///
    /// # Errors
    /// What reading yields.
    pub(crate) fn read(
        &mut self,
        mut from: impl Read,
        mut take: impl FnMut(Line<'_>),
    ) -> io::Result<()> {
        let mut held = 0;
        let mut is_first = true;
        let mut is_skipping = false;
        loop {
            if self.buffer.len() < held + CHUNK / 4 {
                self.buffer.resize(held + CHUNK, 0);
            }
            let n = match from.read(&mut self.buffer[held..]) {
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if n == 0 {
                break;
            }
            let end = held + n;
            let mut start = 0;
            for at in memchr::memchr_iter(b'\n', &self.buffer[held..end]) {
                let line = &self.buffer[start..held + at];
                start = held + at + 1;
                if is_skipping || line.len() > self.cap {
                    is_skipping = false;
                    take(Line::Oversized);
                } else {
                    emit(line, &mut is_first, |line| take(Line::Whole(line)));
                }
            }
            if is_skipping || end - start > self.cap {
                is_skipping = true;
                held = 0;
            } else {
                self.buffer.copy_within(start..end, 0);
                held = end - start;
            }
        }
        if is_skipping {
            take(Line::Oversized);
        } else {
            emit(&self.buffer[..held], &mut is_first, |line| take(Line::Rest(line)));
        }
        self.shrink();
        Ok(())
    }

    /// Gives back what a giant record made grow.
    fn shrink(&mut self) {
        if self.buffer.len() > 4 * CHUNK {
            self.buffer = vec![0; CHUNK];
        }
    }
}

fn emit(line: &[u8], is_first: &mut bool, take: impl FnOnce(&[u8])) {
    let line = if *is_first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    *is_first = false;
    let line = line.trim_ascii();
    if !line.is_empty() {
        take(line);
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, LineReader};

    fn lines(bytes: &[u8], cap: usize) -> Vec<String> {
        let mut out = Vec::new();
        LineReader::new(cap)
            .read(bytes, |line| {
                out.push(match line {
                    Line::Whole(line) => format!("whole {}", String::from_utf8_lossy(line)),
                    Line::Rest(line) => format!("rest {}", String::from_utf8_lossy(line)),
                    Line::Oversized => "oversized".to_owned(),
                });
            })
            .unwrap();
        out
    }

    #[test]
    fn c100_only_a_line_feed_ends_a_record() {
        let text = "\u{feff}{\"a\":\"x\u{2028}y\"}\r\n\r\n\n  \n{\"b\":1}\n";
        assert_eq!(
            lines(text.as_bytes(), 100),
            ["whole {\"a\":\"x\u{2028}y\"}", "whole {\"b\":1}"]
        );
    }

    #[test]
    fn c04_a_record_over_the_cap_is_one_skip_and_the_next_is_read() {
        let text = format!("ab\n{}\ncd\n{}", "x".repeat(2_000_000), "y".repeat(700_000));
        assert_eq!(
            lines(text.as_bytes(), 100_000),
            ["whole ab", "oversized", "whole cd", "oversized"]
        );
    }

    #[test]
    fn records_longer_than_a_read_come_whole() {
        let long = "z".repeat(900_000);
        let text = format!("{long}\nrest");
        assert_eq!(
            lines(text.as_bytes(), 1_000_000),
            [format!("whole {long}"), "rest rest".to_owned()]
        );
    }
}
