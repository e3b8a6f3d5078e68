//! Copilot Chat in VS Code: `<workspaceStorage>/<hash>/chatSessions/*.jsonl`, logs of operations on one document, and
//! the whole documents `*.json` of older versions.

mod document;

use self::document::Document;
use super::files::{self, Format, Known, OpenFile};
use super::json::mended;
use super::listing::{self, Take};
use super::report::{LineReason, SourceReport};
use super::rules::Rules;
use super::session::{Draft, Turn};
use super::{HarvestOptions, Instant, Source, Yielded};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

/// The extension whose requests are a person's to Copilot.
const EXTENSION: &str = "github.copilot-chat";

/// Reads the stores of VS Code and its variants.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    let Some(first) = options.homes.vscode_storage.first() else {
        return Yielded::not_configured(Source::Copilot);
    };
    let roots: Vec<_> = options.homes.vscode_storage.iter().filter(|root| root.is_dir()).collect();
    let Some(root) = roots.first() else { return Yielded::missing(Source::Copilot, first) };
    let mut report = SourceReport::new(Source::Copilot, root);
    let mut found = Vec::new();
    for root in roots {
        found.append(&mut listing::list(root, &mut report, &take));
    }
    listing::sort(&mut found);
    files::harvest(&CopilotChat, &found, report, rules, known)
}

fn take(path: &Path) -> Take {
    let is_session = path.parent().and_then(Path::file_name) == Some(OsStr::new("chatSessions"));
    match path.extension().and_then(OsStr::to_str) {
        Some("jsonl" | "json") if is_session => Take::Read,
        _ => Take::Ignore,
    }
}

struct CopilotChat;

impl Format for CopilotChat {
    fn read(&self, file: &mut OpenFile<'_>) -> io::Result<Vec<Draft>> {
        if file.candidate.bytes > file.rules.limits.document_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let state = if file.candidate.path.extension() == Some(OsStr::new("json")) {
            serde_json::from_slice(&file.whole()?).map_err(|_| io::ErrorKind::InvalidData)?
        } else {
            replay(file)?
        };
        let mut draft = Draft::new(&file.stem(), &file.path());
        if let Some(id) = state.get("sessionId").and_then(Value::as_str) {
            id.clone_into(&mut draft.id);
        }
        match project_of(&file.candidate.path) {
            Some(project) => draft.enter(&project),
            None => draft.dropped = Some(super::DropReason::NoProject),
        }
        draft.see(state.get("creationDate").and_then(time));
        let requests = state.get("requests").and_then(Value::as_array);
        for request in requests.map(Vec::as_slice).unwrap_or_default() {
            take_request(&mut draft, request, file.rules);
        }
        Ok(vec![draft])
    }
}

/// The document after all operations.
fn replay(file: &mut OpenFile<'_>) -> io::Result<Value> {
    let mut document = Document::default();
    file.each_record(|line, _| {
        let parsed = match (serde_json::from_slice::<Value>(line), mended(line)) {
            (Err(_), Some(text)) => serde_json::from_str(&text),
            (parsed, _) => parsed,
        };
        let operation = parsed.map_err(|error| super::json::reason(&error))?;
        document.apply(operation).ok_or(LineReason::WrongShape)
    })?;
    Ok(document.into_state())
}

/// The folder that the workspace is for; none for one that is elsewhere.
fn project_of(session: &Path) -> Option<String> {
    let workspace = session.parent()?.parent()?.join("workspace.json");
    let workspace: Value = serde_json::from_slice(&fs::read(workspace).ok()?).ok()?;
    if let Some(folder) = workspace.get("folder").and_then(Value::as_str) {
        return path_of(folder);
    }
    let file = path_of(workspace.get("workspace").and_then(Value::as_str)?)?;
    Some(file.rsplit_once('/').map_or(file.clone(), |(folder, _)| folder.to_owned()))
}

/// The path in a `file:` URI of this machine.
fn path_of(uri: &str) -> Option<String> {
    let path = uri.strip_prefix("file://").filter(|path| path.starts_with('/'))?;
    let path = percent_decoded(path);
    let has_drive = path.as_bytes().get(2) == Some(&b':');
    Some(if has_drive { path[1..].to_owned() } else { path })
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn take_request(draft: &mut Draft, request: &Value, rules: &Rules) {
    let extension = request.pointer("/agent/extensionId");
    let name = extension
        .and_then(|id| id.get("_lower").or_else(|| id.get("value")).unwrap_or(id).as_str());
    let is_copilot = name.is_some_and(|name| name.eq_ignore_ascii_case(EXTENSION));
    if !is_copilot || request.get("isSystemInitiated") == Some(&Value::Bool(true)) {
        return;
    }
    let at = request.get("timestamp").and_then(time);
    let words = request.pointer("/message/text").and_then(Value::as_str).unwrap_or_default();
    let id = request.get("requestId").and_then(Value::as_str).unwrap_or_default();
    draft.ask(Turn { text: words, at, id, ..Turn::default() }, rules);
    let mut said = Vec::new();
    let parts = request.get("response").and_then(Value::as_array);
    for part in parts.map(Vec::as_slice).unwrap_or_default() {
        match part.get("kind").and_then(Value::as_str) {
            None => said.extend(markdown(part)),
            Some("markdownContent") => said.extend(part.get("content").and_then(markdown)),
            Some("toolInvocationSerialized") => {
                draft.tool(part.get("toolId").and_then(Value::as_str).unwrap_or_default());
            }
            Some(_) => {}
        }
    }
    if !said.is_empty() {
        let at = request.pointer("/modelState/completedAt").and_then(time).or(at);
        draft.answer(Turn { text: &said.concat(), at, ..Turn::default() }, rules);
    }
}

/// The text of a part: a text, or in `value`.
fn markdown(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("value").and_then(markdown))
}

fn time(value: &Value) -> Option<Instant> {
    match value {
        Value::String(text) => Instant::parse(text),
        Value::Number(number) => match number.as_u64() {
            Some(whole) => Instant::from_whole(whole),
            None => number.as_f64().and_then(Instant::from_number),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn uris_of_this_machine_are_paths() {
        assert_eq!(path_of("file:///w/my%20app").as_deref(), Some("/w/my app"));
        assert_eq!(path_of("file:///c%3A/w").as_deref(), Some("c:/w"));
        assert_eq!(path_of("vscode-remote://ssh/w"), None);
    }
}
