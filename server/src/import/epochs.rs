//! What the Python system does between epochs: slow updates and the optimizer's memory. They are told as notes,
//! and their texts are kept with the run.

use super::findings::shortened;
use super::json::Fields;
use super::reader::Reader;
use serde_json::Value;
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;

/// Events that tell about the folder.
const CODE: &str = "import";

/// A note in the run's journal. The same note is there once.
pub(super) fn note(reader: &mut Reader, at_ms: u64, message: String) {
    let key = format!("import/note/{}", Sha256Hex::of(&message).short());
    if reader.events.iter().all(|event| event.key != key) {
        reader.emit(key, at_ms, EventKind::Warning { code: CODE.to_owned(), message });
    }
}

/// Reads what happened at the end of an epoch. `at_ms` is the time of its last step.
pub(super) fn read(reader: &mut Reader, epoch: u32, at_ms: u64) {
    let kinds = [
        ("slow_update", "slow_result.json", "slow update", "slow_update_content"),
        ("meta_skill", "meta_skill_result.json", "meta skill", "meta_skill_content"),
    ];
    for (dir, name, title, content) in kinds {
        let dir = format!("{dir}/epoch_{epoch:02}");
        let file = format!("{dir}/{name}");
        let Some(document) = reader.json(&file) else { continue };
        let Value::Object(object) = &document else {
            reader.findings.add(&file, "", "expected an object; left out");
            continue;
        };
        let fields = Fields { file: &file, place: String::new(), object };
        let action = fields.text("action", &mut reader.findings).unwrap_or("no action noted");
        let content = fields.text(content, &mut reader.findings).unwrap_or_default();
        if !content.is_empty() {
            let message = format!("epoch {epoch}, {title} ({action}): {}", shortened(content));
            note(reader, at_ms, message);
        }
        reader.skill(&format!("{dir}/candidate_skill.md"));
    }
}
