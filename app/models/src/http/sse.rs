//! Splits a stream of server-sent events into the data of each. Pure, and linear in the bytes however they are cut:
//! known crates for this read their whole buffer again with every piece, which a reply of megabytes does not bear.

/// Reads a stream piece by piece.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    has_begun: bool,
}

impl EventReader {
    /// The data of the events that are complete with these bytes. Comments and names of events are left out.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&bytes[..end]);
            let is_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if is_return {
                match bytes.first() {
                    Some(b'\n') => bytes = &bytes[1..],
                    Some(_) => {}
                    None => self.after_return = true,
                }
            }
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(bytes);
        events
    }

    /// What an end of the stream leaves behind: some servers forget the last empty line.
    pub(crate) fn finish(mut self) -> Option<String> {
        self.end_line().or_else(|| self.end_line())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let data = self.data.take()?;
            return Some(String::from_utf8_lossy(&data).into_owned());
        }
        let value = match line.strip_prefix(b"data") {
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            Some([]) => &[],
            _ => return None,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            none => *none = Some(value.to_vec()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = EventReader::default();
        let mut events: Vec<String> = pieces.iter().flat_map(|piece| reader.feed(piece)).collect();
        events.extend(reader.finish());
        events
    }

    #[rstest]
    #[case::plain("data: {\"a\":1}\n\ndata: b\n\n", &["{\"a\":1}", "b"])]
    #[case::carriage_returns("data: a\r\n\r\ndata: b\r\rdata:c\n\n", &["a", "b", "c"])]
    #[case::comments(": keepalive\n\n: again\ndata: a\n\n", &["a"])]
    #[case::names("event: x\nid: 7\nretry: 3\ndata: a\n\n", &["a"])]
    #[case::several_lines("data: a\ndata:\ndata:  b\n\n", &["a\n\n b"])]
    #[case::a_field_of_another_name("database: a\ndata: b\n\n", &["b"])]
    #[case::a_mark_at_the_beginning("\u{feff}data: a\n\n", &["a"])]
    #[case::no_last_line("data: a\n\ndata: [DONE]", &["a", "[DONE]"])]
    #[case::umlauts("data: äöü€😀\n\n", &["äöü€😀"])]
    #[case::nothing("", &[])]
    fn c35_events_are_the_same_however_the_stream_is_cut(
        #[case] stream: &str,
        #[case] events: &[&str],
    ) {
        assert_eq!(read(&[stream.as_bytes()]), events);
        let single: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(read(&single), events);
        for at in 0..=stream.len() {
            let (head, tail) = stream.as_bytes().split_at(at);
            assert_eq!(read(&[head, tail]), events, "cut at {at}");
        }
    }
}
