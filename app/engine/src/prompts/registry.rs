//! THE table of the optimizer's prompts and their parts: what each is for, which placeholders it may and must hold,
//! and which reply it has to ask for. The texts are the files in `texts/`.

/// One text of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptSpec {
    /// Its name: that of its file without `.md`.
    pub name: &'static str,
    /// What it is for, one sentence.
    pub purpose: &'static str,
    /// Placeholders that it may hold.
    pub placeholders: &'static [&'static str],
    /// Those that it must hold.
    pub required: &'static [&'static str],
    /// The JSON object that it has to ask for; empty for parts, which have no reply.
    pub reply: &'static str,
    /// The program's own text.
    pub text: &'static str,
}

/// Meanings of all placeholders.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("mode", "the update mode: patch, rewrite_from_suggestions or full_rewrite_minibatch"),
    ("item", "what the mode proposes, in one word: edit, suggestion or skill candidate"),
    ("article", "the same with its article, such as \"an edit\""),
    ("group", "several replies of analysts, such as \"patches\""),
    ("whole", "one such reply, such as \"patch\""),
    (
        "max_items",
        "most items that may be proposed, or used where items are ranked; not defined without a limit",
    ),
    ("skill_aware", "true where lapses become notes"),
    ("notes_from_success", "true where passed trajectories may give notes too"),
    ("n_tasks", "how many tasks were compared between two epochs"),
    (
        "source",
        "`failure`, `success`, or both with a bar between them, as the merge at hand has it",
    ),
    ("rules", "the part parts/rules"),
    ("contract", "the part parts/contract"),
    ("lapses", "the part parts/lapses"),
    ("success_notes", "the part parts/success_notes"),
    ("merge_rules", "the part parts/merge_rules"),
    ("merge_limits", "the part parts/merge_limits"),
    ("merged", "the part parts/merged"),
];

const ANALYST: &[&str] = &[
    "mode",
    "item",
    "article",
    "max_items",
    "skill_aware",
    "notes_from_success",
    "rules",
    "contract",
    "lapses",
    "success_notes",
];
const MERGE: &[&str] = &[
    "mode",
    "item",
    "article",
    "group",
    "whole",
    "source",
    "merge_rules",
    "merge_limits",
    "merged",
];
const MODE: &[&str] = &["mode", "item", "article"];

/// Prompts first, then parts.
pub const PROMPTS: &[PromptSpec] = &[
    PromptSpec {
        name: "analyst_failure",
        purpose: "Reads a minibatch of failed trajectories and proposes changes of the skill.",
        placeholders: ANALYST,
        required: &["rules", "contract"],
        reply: r#"{"batch_size", "failure_summary": [{"failure_type", "count", "description"}], "appendix_notes" (where lapses become notes), "patch": the list of the mode}"#,
        text: include_str!("texts/analyst_failure.md"),
    },
    PromptSpec {
        name: "analyst_success",
        purpose: "Reads a minibatch of passed trajectories and proposes what the skill does not say yet.",
        placeholders: ANALYST,
        required: &["rules", "contract"],
        reply: r#"{"batch_size", "success_patterns": [text], "appendix_notes" (where passed tasks give notes), "patch": the list of the mode}"#,
        text: include_str!("texts/analyst_success.md"),
    },
    PromptSpec {
        name: "merge_failure",
        purpose: "Merges what several minibatches of failed trajectories proposed.",
        placeholders: MERGE,
        required: &["merge_limits", "merged"],
        reply: r#"{"reasoning", and the list of the mode with "support_count" and "source_type"}"#,
        text: include_str!("texts/merge_failure.md"),
    },
    PromptSpec {
        name: "merge_success",
        purpose: "Merges what several minibatches of passed trajectories proposed.",
        placeholders: MERGE,
        required: &["merge_limits", "merged"],
        reply: r#"{"reasoning", and the list of the mode with "support_count" and "source_type"}"#,
        text: include_str!("texts/merge_success.md"),
    },
    PromptSpec {
        name: "merge_final",
        purpose: "Merges what failures and successes called for, failures first.",
        placeholders: MERGE,
        required: &["merge_limits", "merged"],
        reply: r#"{"reasoning", and the list of the mode with "support_count" and "source_type"}"#,
        text: include_str!("texts/merge_final.md"),
    },
    PromptSpec {
        name: "ranking",
        purpose: "Orders edits or suggestions when there are more than the budget allows.",
        placeholders: &["mode", "item", "article", "max_items"],
        required: &["max_items"],
        reply: r#"{"reasoning", "selected_indices": [0-based indices, most important first]}"#,
        text: include_str!("texts/ranking.md"),
    },
    PromptSpec {
        name: "lr_control",
        purpose: "Sets how many of the proposed items may be used in a step.",
        placeholders: MODE,
        required: &[],
        reply: r#"{"learning_rate": a whole number from 0, "reasoning", "confidence", "risk_notes": [text]}"#,
        text: include_str!("texts/lr_control.md"),
    },
    PromptSpec {
        name: "rewrite",
        purpose: "Works the chosen suggestions into a whole new text of the skill.",
        placeholders: MODE,
        required: &[],
        reply: r#"{"reasoning", "change_summary": [text], "new_skill": the whole document}"#,
        text: include_str!("texts/rewrite.md"),
    },
    PromptSpec {
        name: "slow_update",
        purpose: "Writes guidance to the target from the comparison of two epochs.",
        placeholders: &["n_tasks"],
        required: &["n_tasks"],
        reply: r#"{"reasoning", "slow_update_content": the guidance}"#,
        text: include_str!("texts/slow_update.md"),
    },
    PromptSpec {
        name: "meta_skill",
        purpose: "Writes what the optimizer remembers from epoch to epoch.",
        placeholders: &["n_tasks"],
        required: &["n_tasks"],
        reply: r#"{"reasoning", "meta_skill_content": the memory}"#,
        text: include_str!("texts/meta_skill.md"),
    },
    PromptSpec {
        name: "appendix",
        purpose: "Condenses the reminders at the end of the skill.",
        placeholders: &[],
        required: &[],
        reply: r#"{"appendix_notes": [text]}"#,
        text: include_str!("texts/appendix.md"),
    },
    part(
        "parts/rules",
        "What an analyst's proposals may be; stands in both analysts.",
        &["mode", "item", "article", "max_items"],
        &["max_items"],
        include_str!("texts/parts/rules.md"),
    ),
    part(
        "parts/contract",
        "The JSON form of an analyst's proposals, by mode.",
        MODE,
        &[],
        include_str!("texts/parts/contract.md"),
    ),
    part(
        "parts/lapses",
        "How lapses of the target are told from faults of the skill.",
        MODE,
        &[],
        include_str!("texts/parts/lapses.md"),
    ),
    part(
        "parts/success_notes",
        "When a passed trajectory may give a reminder.",
        MODE,
        &[],
        include_str!("texts/parts/success_notes.md"),
    ),
    part(
        "parts/merge_rules",
        "How proposals of one side are merged.",
        MODE,
        &[],
        include_str!("texts/parts/merge_rules.md"),
    ),
    part(
        "parts/merge_limits",
        "What merged proposals may be; stands in all merges.",
        MODE,
        &[],
        include_str!("texts/parts/merge_limits.md"),
    ),
    part(
        "parts/merged",
        "The JSON form of merged proposals, by mode.",
        &["mode", "item", "article", "source"],
        &["source"],
        include_str!("texts/parts/merged.md"),
    ),
];

const fn part(
    name: &'static str,
    purpose: &'static str,
    placeholders: &'static [&'static str],
    required: &'static [&'static str],
    text: &'static str,
) -> PromptSpec {
    PromptSpec { name, purpose, placeholders, required, reply: "", text }
}

impl PromptSpec {
    /// It stands within prompts and has no reply of its own.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.placeholder().is_some()
    }

    /// The placeholder that stands for a part; `None` for a prompt.
    #[must_use]
    pub fn placeholder(&self) -> Option<&'static str> {
        self.name.strip_prefix("parts/")
    }
}

/// The text with this name.
#[must_use]
pub fn find_prompt(name: &str) -> Option<&'static PromptSpec> {
    PROMPTS.iter().find(|spec| spec.name == name)
}
