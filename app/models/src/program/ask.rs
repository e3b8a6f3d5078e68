//! A request as a program can be asked it: instructions, one prompt, pictures as files, and a form for the reply. Pure,
//! except that pictures are written.

use super::folder::Folder;
use serde_json::{Value, json};
use skillopt_engine::ports::{ChatRequest, Message, Speaker, ToolCall, ToolSpec};
use std::fmt::Write;
use std::io;

/// What a program is asked.
#[derive(Debug)]
pub(super) struct Ask {
    /// What the system messages say; empty for nothing.
    pub(super) system: String,
    /// The conversation as one text.
    pub(super) prompt: String,
    /// JSON schema of the reply.
    pub(super) schema: Option<Value>,
    /// Paths of the pictures.
    pub(super) images: Vec<String>,
    /// The reply holds calls of tools, in the form of [`tool_schema`].
    pub(super) calls_tools: bool,
}

/// What is added when a program answered with nothing.
const AMENDMENT: &str = "Your last attempt ended without an answer. Do it again, and end with a message that holds the answer.";

impl Ask {
    /// `again` tells that the last attempt brought nothing.
    pub(super) fn of(request: &ChatRequest, folder: &Folder, again: bool) -> io::Result<Self> {
        let said =
            |wanted: Speaker| request.messages.iter().filter(move |message| message.role == wanted);
        let texts: Vec<&str> =
            said(Speaker::System).map(|message| message.content.as_str()).collect();
        let images = write_images(&request.messages, folder)?;
        let mut prompt = conversation(&request.messages);
        let calls_tools = !request.tools.is_empty();
        if calls_tools {
            prompt.push_str(&describe_tools(&request.tools));
        }
        if !images.is_empty() {
            let names: Vec<&str> =
                images.iter().map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path)).collect();
            // Writing to a String cannot fail.
            let _ = write!(prompt, "\n\nPictures in this folder: {}", names.join(", "));
        }
        if again {
            let _ = write!(prompt, "\n\n{AMENDMENT}");
        }
        let of_request = request.schema.as_ref().map(|schema| schema.schema.clone());
        Ok(Self {
            system: texts.join("\n\n"),
            prompt,
            schema: if calls_tools { Some(tool_schema()) } else { of_request },
            images,
            calls_tools,
        })
    }

    /// Instructions and prompt in one, for a program that takes one text only.
    pub(super) fn in_one(&self) -> String {
        match self.system.as_str() {
            "" => self.prompt.clone(),
            system => format!("<instructions>\n{system}\n</instructions>\n\n{}", self.prompt),
        }
    }
}

/// The prompt of a task that stands in files.
pub(super) fn amended(prompt: String, again: bool) -> String {
    if again { format!("{prompt}\n\n{AMENDMENT}") } else { prompt }
}

/// One question stands as it is; a longer conversation is told turn by turn.
fn conversation(messages: &[Message]) -> String {
    let turns: Vec<&Message> =
        messages.iter().filter(|message| message.role != Speaker::System).collect();
    if let [only] = turns.as_slice() {
        return only.content.clone();
    }
    let mut text = "The conversation so far; write the next turn of the assistant.\n".to_owned();
    for turn in turns {
        let who = match turn.role {
            Speaker::System | Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::Tool => "tool",
        };
        let _ = write!(text, "\n<turn by=\"{who}\">\n{}", turn.content);
        for call in &turn.tool_calls {
            let _ = write!(text, "\n[calls {} with {}]", call.name, call.arguments);
        }
        text.push_str("\n</turn>\n");
    }
    text
}

fn write_images(messages: &[Message], folder: &Folder) -> io::Result<Vec<String>> {
    let images = messages.iter().flat_map(|message| &message.images);
    let mut paths = Vec::new();
    for (at, image) in (1..).zip(images) {
        let end = match image.media_type.as_str() {
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            _ => "png",
        };
        let bytes = decode_base64(&image.base64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("picture {at} is no base64"))
        })?;
        paths.push(folder.place(&format!("picture-{at}.{end}"), &bytes)?);
    }
    Ok(paths)
}

/// Base64 with or without padding.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut n_bits, mut bytes) = (0u32, 0u32, Vec::with_capacity(text.len() / 4 * 3));
    for letter in text.trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from((bits >> n_bits) & 0xff).ok()?);
            bits &= (1 << n_bits) - 1;
        }
    }
    Some(bytes)
}

fn describe_tools(tools: &[ToolSpec]) -> String {
    let mut text = "\n\nYou may ask for calls of these tools, which are made for you; you have no others. Put the calls \
                    into `tool_calls` and leave `content` empty, or answer in `content`.\n"
        .to_owned();
    for tool in tools {
        let _ =
            writeln!(text, "- {}: {} Arguments: {}", tool.name, tool.description, tool.parameters);
    }
    text
}

fn tool_schema() -> Value {
    let call = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "arguments": {"type": "string", "description": "a JSON object as text"}
        },
        "required": ["name", "arguments"],
        "additionalProperties": false
    });
    json!({
        "type": "object",
        "properties": {
            "content": {"type": "string"},
            "tool_calls": {"type": "array", "items": call}
        },
        "required": ["content", "tool_calls"],
        "additionalProperties": false
    })
}

/// Text and calls of a reply in the form of [`tool_schema`]; another reply is all text.
pub(super) fn read_tool_calls(reply: &str) -> (String, Vec<ToolCall>) {
    let Ok(Value::Object(fields)) = serde_json::from_str(reply.trim()) else {
        return (reply.to_owned(), Vec::new());
    };
    let calls = fields.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls = (1..).zip(calls).filter_map(|(at, call)| {
        let arguments = match call.get("arguments")? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let name = call.get("name")?.as_str()?.to_owned();
        Some(ToolCall { id: format!("call_{at}"), name, arguments })
    });
    let content = fields.get("content").and_then(Value::as_str).unwrap_or_default();
    (content.to_owned(), calls.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_engine::ports::{Image, Purpose};

    fn ask(messages: Vec<Message>) -> Ask {
        let request = ChatRequest::new(Purpose::Qa, "", messages);
        Ask::of(&request, &Folder::new().unwrap(), false).unwrap()
    }

    #[test]
    fn one_question_stays_as_it_is_and_a_conversation_is_told_turn_by_turn() {
        let one = ask(vec![Message::system("Be brief."), Message::user("$(rm -rf /) `x`")]);
        assert_eq!((one.system.as_str(), one.prompt.as_str()), ("Be brief.", "$(rm -rf /) `x`"));
        assert_eq!(one.in_one(), "<instructions>\nBe brief.\n</instructions>\n\n$(rm -rf /) `x`");
        let more = ask(vec![Message::user("1"), Message::assistant("2"), Message::user("3")]);
        assert!(more.prompt.contains("<turn by=\"assistant\">\n2\n</turn>"), "{}", more.prompt);
    }

    #[test]
    fn pictures_become_files_and_broken_ones_an_error() {
        let mut message = Message::user("look");
        message.images = vec![Image { media_type: "image/png".into(), base64: "iVBORw==".into() }];
        let folder = Folder::new().unwrap();
        let request = ChatRequest::new(Purpose::Qa, "", vec![message.clone()]);
        let with_picture = Ask::of(&request, &folder, false).unwrap();
        assert_eq!(std::fs::read(folder.work().join("picture-1.png")).unwrap(), b"\x89PNG");
        assert!(with_picture.prompt.ends_with("Pictures in this folder: picture-1.png"));
        message.images[0].base64 = "not base64!".into();
        assert!(
            Ask::of(&ChatRequest::new(Purpose::Qa, "", vec![message]), &folder, false).is_err()
        );
    }

    #[test]
    fn calls_of_tools_are_read_from_the_form_and_a_plain_reply_is_text() {
        let reply =
            r#"{"content": "", "tool_calls": [{"name": "add", "arguments": "{\"a\": 1}"}]}"#;
        let (text, calls) = read_tool_calls(reply);
        assert!(text.is_empty());
        assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("add", "{\"a\": 1}"));
        assert_eq!(read_tool_calls("plain"), ("plain".to_owned(), Vec::new()));
    }
}
