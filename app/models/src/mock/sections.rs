//! Finding one's way in a request: text between tags and numbers after words, as a model would read them.

use skillopt_engine::ports::{Message, Speaker};

/// The text between `<name>` and the last `</name>`, without the line ends around it.
pub(super) fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let start = text.find(&open)? + open.len();
    let end = start + text[start..].rfind(&close)?;
    Some(text[start..end].trim_matches('\n'))
}

/// The first number that follows `words` anywhere in the text.
pub(super) fn number_after(text: &str, words: &str) -> Option<usize> {
    text.match_indices(words).find_map(|(at, _)| {
        let rest = &text[at + words.len()..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    })
}

/// All that one side said, in order.
pub(super) fn said_by(messages: &[Message], speaker: Speaker) -> String {
    let texts = messages.iter().filter(|message| message.role == speaker);
    texts.map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
}
