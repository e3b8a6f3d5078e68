//! A task without the secrets in its texts.

use super::TaskRecord;
use crate::redact::{redact, redact_json};

impl TaskRecord {
    /// The task with every secret in its texts masked. Ids, paths and names of sessions stay: other records point to
    /// them.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut task = self.clone();
        let texts = [
            &mut task.intent,
            &mut task.context_excerpt,
            &mut task.system,
            &mut task.attempted_solution,
            &mut task.reference,
        ];
        for text in texts.into_iter().chain(&mut task.tags) {
            *text = redact(text).text;
        }
        redact_json(&mut task.judge);
        task
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_text_of_a_redacted_task_has_a_secret_and_its_id_stays() {
        let secret = "password=hunter2-hunter2";
        let text = || format!("log in with {secret}");
        let task = TaskRecord {
            id: "task_0123456789ab".into(),
            intent: text(),
            context_excerpt: text(),
            system: text(),
            attempted_solution: text(),
            reference: text(),
            judge: json!({"kind": "rule", "checks": [{"op": "contains", "arg": text()}]}),
            tags: vec![text(), "rule:json-only".into()],
            source_sessions: vec!["s".into()],
            ..TaskRecord::default()
        };
        let clean = task.redacted();
        let printed = json!(clean).to_string();
        assert!(!printed.contains("hunter2"), "{printed}");
        assert_eq!((&clean.id, &clean.tags[1]), (&task.id, &task.tags[1]));
        assert_eq!(clean.redacted(), clean);
        let plain = TaskRecord { id: "t".into(), intent: "sum up".into(), ..TaskRecord::default() };
        assert_eq!(plain.redacted(), plain);
    }
}
