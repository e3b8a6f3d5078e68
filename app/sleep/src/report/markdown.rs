//! `report.md`: a night for people. Text of strangers stands on one line, without control characters, and cannot be
//! Markdown, HTML or a link. Pure.

use skillopt_domain::night::edit::{EditOp, EditRecord, GuidanceRecord, Target};
use skillopt_domain::night::report::{
    DeltaStatus, GateAction, GateTrial, GroupStatus, SkillGroupReport, SleepReport,
};
use std::fmt::Write;

/// What the report does not know of itself.
#[derive(Clone, Copy, Debug)]
pub struct ReportHeading<'a> {
    /// Name of the backend, with a word when it is a simulation.
    pub backend: &'a str,
    /// A word of the person's own for how tasks are replayed; empty for none.
    pub replay_mode: &'a str,
    /// Edits had to win.
    pub gated: bool,
}

/// The night as Markdown.
#[must_use]
pub fn report_md(report: &SleepReport, heading: &ReportHeading<'_>) -> String {
    let mut out = format!("# Night {}\n\n", report.night);
    head(&mut out, report, heading);
    if report.holdout_leaked && heading.gated {
        out.push_str(
            "\n> **Not validated.** Validation and training share tasks, so that a gain proves nothing. Nothing can be \
             adopted with one click.\n",
        );
    }
    trials(&mut out, &report.gate_trials);
    edits(&mut out, "Accepted edits", &report.edits);
    let lost = match report.gate_action {
        GateAction::RejectUnverified => "Unverified suggestions",
        _ => "Rejected by the gate",
    };
    edits(&mut out, lost, &report.rejected_edits);
    edits(&mut out, "Proposed, but changing nothing", &report.unmatched_edits);
    guidance(&mut out, report);
    groups(&mut out, &report.skill_groups);
    if !report.notes.is_empty() {
        out.push_str("\n## Notes\n\n");
        for note in &report.notes {
            let _ = writeln!(out, "- {}", escaped(note));
        }
    }
    out.push_str("\n---\nWritten before anything of this night was adopted; what was adopted since, by whom, is in the night's receipts.\n");
    out
}

fn head(out: &mut String, report: &SleepReport, heading: &ReportHeading<'_>) {
    let _ = writeln!(out, "- Project: {}", escaped(&report.project));
    let _ = writeln!(out, "- Backend: {}", escaped(heading.backend));
    if !heading.replay_mode.is_empty() {
        let _ = writeln!(out, "- Replay: {}", escaped(heading.replay_mode));
    }
    let _ = writeln!(out, "- Sessions: {}", report.n_sessions);
    let _ = writeln!(out, "- Tasks: {} ({} replayed)", report.n_tasks, report.n_replayed);
    if heading.gated {
        let (before, after) = (score(report.baseline_score), score(report.candidate_score));
        let _ = writeln!(out, "- Held-out score: {before} → {after} (n {})", report.n_validated);
    }
    let accepted = if report.accepted { "accepted" } else { "not accepted" };
    let _ = writeln!(out, "- Gate: {} ({accepted})", action(report.gate_action));
    let rule = if report.gate_no_regression { "enabled" } else { "disabled" };
    let _ = writeln!(out, "- No task may get worse: {rule}");
    if report.n_tested > 0 {
        let _ = writeln!(out, "- Test score: {} (n {})", score(report.test_score), report.n_tested);
    }
    let _ = writeln!(out, "- Tokens: {}", tokens(report));
    let _ = writeln!(out, "- Cost: {}", cost(report));
    if !report.decision.is_empty() {
        let _ = writeln!(out, "- Decision: {}", escaped(&report.decision));
    }
    if !report.no_edits_reason.is_empty() {
        let _ = writeln!(out, "- No edits: {}", escaped(&report.no_edits_reason));
    }
}

fn tokens(report: &SleepReport) -> String {
    match report.unmetered_calls {
        0 => report.tokens_used.to_string(),
        n => format!("{}, and those of {n} calls that nobody reported", report.tokens_used),
    }
}

fn cost(report: &SleepReport) -> String {
    match report.cost_usd_micros {
        Some(micros) => dollars(micros),
        None => "unknown: a call has no known price".to_owned(),
    }
}

fn score(score: Option<f64>) -> String {
    score.map_or("–".to_owned(), |score| format!("{score:.4}"))
}

fn action(action: GateAction) -> &'static str {
    match action {
        GateAction::AcceptNewBest => "accept_new_best",
        GateAction::Accept => "accept",
        GateAction::Reject => "reject",
        GateAction::RejectUnverified => "reject_unverified",
        GateAction::GreedyApplied => "greedy_applied",
        GateAction::GreedyNoop => "greedy_noop",
    }
}

fn trials(out: &mut String, trials: &[GateTrial]) {
    if trials.is_empty() {
        return;
    }
    out.push_str("\n## Held-out task changes\n");
    for trial in trials {
        let verdict = match (trial.accepted, trial.blocked_by_regression) {
            (true, _) => "went on",
            (false, true) => "blocked: a task got worse",
            (false, false) => "rejected",
        };
        let (before, after) = (score(trial.baseline_score), score(trial.candidate_score));
        let target = escaped(&trial.target);
        let _ = writeln!(out, "\n### Trial: {target}, {before} → {after}, {verdict}\n");
        if !trial.words.is_empty() {
            let _ = writeln!(out, "{}\n", escaped(&trial.words));
        }
        out.push_str("| Task | Before | After | Change |\n|---|---|---|---|\n");
        for delta in &trial.task_deltas {
            let change = match delta.status {
                DeltaStatus::Improved => "improved",
                DeltaStatus::Regressed if delta.scores_are_finite => "regressed",
                DeltaStatus::Regressed => "regressed (not scored)",
                DeltaStatus::Unchanged => "unchanged",
            };
            let (before, after) = (score(delta.baseline_score), score(delta.candidate_score));
            let _ =
                writeln!(out, "| {} | {before} | {after} | {change} |", escaped(&delta.task_id));
        }
    }
}

fn edits(out: &mut String, title: &str, edits: &[EditRecord]) {
    if edits.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {title}\n");
    for edit in edits {
        let target = target_word(edit.target);
        let op = match edit.op {
            EditOp::Add => "add",
            EditOp::Delete => "delete",
            EditOp::Replace => "replace",
        };
        let _ = writeln!(out, "- **{target}/{op}**: {}", escaped(&edit.content));
        if !edit.anchor.is_empty() {
            let _ = writeln!(out, "  - anchor: {}", escaped(&edit.anchor));
        }
        if !edit.rationale.is_empty() {
            let _ = writeln!(out, "  - why: {}", escaped(&edit.rationale));
        }
    }
}

fn target_word(target: Target) -> &'static str {
    match target {
        Target::Skill => "skill",
        Target::Memory => "memory",
    }
}

/// That of the managed skill, then that of the skills of their own.
fn guidance(out: &mut String, report: &SleepReport) {
    let managed = report.guidance.iter().map(|guidance| (String::new(), guidance));
    let own = report.skill_groups.iter().filter_map(|group| {
        Some((format!(" of {}", escaped(&group.skill_name)), group.guidance.as_ref()?))
    });
    let all: Vec<(String, &GuidanceRecord)> = managed.chain(own).collect();
    if all.is_empty() {
        return;
    }
    out.push_str("\n## Guidance of the slow update\n\n");
    for (whose, GuidanceRecord { target, content, before, accepted }) in all {
        let end = if *accepted { "accepted" } else { "not kept" };
        let (target, content) = (target_word(*target), escaped(content));
        let _ = writeln!(out, "- **{target}/guidance**{whose} ({end}): {content}");
        if !before.is_empty() {
            let _ = writeln!(out, "  - before: {}", escaped(before));
        }
    }
}

fn groups(out: &mut String, groups: &[SkillGroupReport]) {
    if groups.is_empty() {
        return;
    }
    out.push_str("\n## Skills\n\n| Skill | Status | Score | Edits | Rejected | Tasks | Why |\n");
    out.push_str("|---|---|---|---|---|---|---|\n");
    for group in groups {
        let status = match group.status {
            GroupStatus::Consolidated if group.accepted => "accepted",
            GroupStatus::Consolidated => "not accepted",
            GroupStatus::Skipped => "skipped",
            GroupStatus::Failed => "failed",
        };
        let scores = match (group.status, group.gate_action) {
            (GroupStatus::Skipped | GroupStatus::Failed, _) => "–".to_owned(),
            (_, verdict) => {
                let (before, after) = (score(group.baseline_score), score(group.candidate_score));
                let mark = match verdict {
                    Some(GateAction::RejectUnverified) => " (unvalidated)",
                    _ => "",
                };
                format!("{before} → {after}{mark}")
            }
        };
        let _ = writeln!(
            out,
            "| {} | {status} | {scores} | {} | {} | {} | {} |",
            escaped(&group.skill_name),
            group.n_applied_edits,
            group.n_rejected_edits,
            group.n_tasks,
            escaped(&group.reason)
        );
    }
}

/// Money in millionths of a dollar.
pub(crate) fn dollars(micros: u64) -> String {
    format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Text of strangers on one line that no reader takes for anything but text.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape_sequence(&mut chars),
            c if c.is_whitespace() => {
                if !out.ends_with(' ') && !out.is_empty() {
                    out.push(' ');
                }
            }
            c if c.is_control() || is_steering(c) => {}
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '-' | '!'
            | '|' | '~' => {
                out.push('\\');
                out.push(c);
            }
            // A bare address would become a link.
            ':' if chars.peek() == Some(&'/') => out.push_str("&#58;"),
            c => out.push(c),
        }
    }
    out.trim_end().to_owned()
}

/// Characters that turn the direction of text around or have no width.
fn is_steering(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Passes over the rest of a terminal's escape sequence.
fn skip_escape_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if chars.next_if(|c| *c == '[').is_some() {
        while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
        chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("plain words", "plain words")]
    #[case("a\n## b", "a \\#\\# b")]
    #[case("<img src=x>", "&lt;img src=x&gt;")]
    #[case("[x](y)", "\\[x\\]\\(y\\)")]
    #[case("see https://x.invalid", "see https&#58;//x.invalid")]
    #[case("\u{1b}[31mred\u{1b}[0m", "red")]
    #[case("a\u{202e}b\u{7}", "ab")]
    #[case("a | b", "a \\| b")]
    fn text_of_strangers_stays_text(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(escaped(text), expect);
    }

    fn edit(content: &str) -> EditRecord {
        EditRecord {
            target: Target::Skill,
            op: EditOp::Add,
            content: content.into(),
            anchor: String::new(),
            rationale: "it helps".into(),
        }
    }

    fn text(report: &SleepReport) -> String {
        report_md(
            report,
            &ReportHeading { backend: "mock (simulated)", replay_mode: "", gated: true },
        )
    }

    #[test]
    fn a_night_tells_its_scores_with_their_n_its_cost_and_its_edits() {
        let report = SleepReport {
            night: 3,
            baseline_score: Some(1.0 / 3.0),
            candidate_score: Some(1.0),
            n_validated: 6,
            accepted: true,
            gate_action: GateAction::AcceptNewBest,
            edits: vec![edit("Be brief.")],
            tokens_used: 12,
            cost_usd_micros: Some(1_500_000),
            ..SleepReport::default()
        };
        let text = text(&report);
        for part in [
            "# Night 3",
            "0.3333 → 1.0000 (n 6)",
            "accept_new_best (accepted)",
            "- Cost: $1.500000",
            "## Accepted edits\n\n- **skill/add**: Be brief.\n  - why: it helps",
            "mock \\(simulated\\)",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(!text.contains("Not validated"));
    }

    #[test]
    fn guidance_has_a_section_of_its_own_and_is_no_edit() {
        let guidance = GuidanceRecord {
            target: Target::Skill,
            content: "Keep it short.".into(),
            before: String::new(),
            accepted: true,
        };
        let mut report = SleepReport { guidance: Some(guidance), ..SleepReport::default() };
        let kept = text(&report);
        let line =
            "## Guidance of the slow update\n\n- **skill/guidance** (accepted): Keep it short.";
        assert!(kept.contains(line) && !kept.contains("## Accepted edits"), "{kept}");
        report.guidance.iter_mut().for_each(|guidance| {
            guidance.accepted = false;
            guidance.before = "Be *long*.".into();
        });
        let lost = text(&report);
        assert!(lost.contains("(not kept): Keep it short.\n  - before: Be \\*long\\*."), "{lost}");
    }

    #[test]
    fn a_leak_says_so_and_unknown_cost_is_not_zero() {
        let report = SleepReport {
            holdout_leaked: true,
            gate_action: GateAction::RejectUnverified,
            rejected_edits: vec![edit("x")],
            unmetered_calls: 2,
            ..SleepReport::default()
        };
        let text = text(&report);
        for part in
            ["**Not validated.**", "## Unverified suggestions", "unknown", "those of 2 calls"]
        {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    fn group(name: &str, status: GroupStatus, verdict: Option<GateAction>) -> SkillGroupReport {
        SkillGroupReport {
            skill_name: name.into(),
            status,
            accepted: false,
            gate_action: verdict,
            baseline_score: Some(0.5),
            candidate_score: Some(0.75),
            n_tasks: 2,
            n_applied_edits: 0,
            n_rejected_edits: 1,
            reason: "why|not".into(),
            edits: Vec::new(),
            guidance: None,
        }
    }

    #[test]
    fn guidance_of_skills_of_their_own_says_whose_it_is() {
        let guidance = |content: &str, accepted| GuidanceRecord {
            target: Target::Skill,
            content: content.into(),
            before: String::new(),
            accepted,
        };
        let mut one = group("my_letters", GroupStatus::Consolidated, None);
        one.guidance = Some(guidance("Greet *once*.", true));
        let mut report = SleepReport { skill_groups: vec![one], ..SleepReport::default() };
        let title = "## Guidance of the slow update\n\n";
        let line = "- **skill/guidance** of my\\_letters (accepted): Greet \\*once\\*.\n";
        let alone = text(&report);
        assert!(alone.contains(&format!("{title}{line}")), "{alone}");
        report.guidance = Some(guidance("Be brief.", false));
        let both = text(&report);
        let managed = "- **skill/guidance** (not kept): Be brief.\n";
        assert!(both.contains(&format!("{title}{managed}{line}")), "{both}");
        report.skill_groups[0].guidance = None;
        assert!(!text(&report).contains("letters ("), "a skill without guidance has no line");
    }

    #[test]
    fn skills_have_a_table_and_what_was_not_measured_has_no_score() {
        let report = SleepReport {
            skill_groups: vec![
                group("a", GroupStatus::Consolidated, Some(GateAction::RejectUnverified)),
                group("b", GroupStatus::Skipped, None),
            ],
            ..SleepReport::default()
        };
        let text = text(&report);
        assert!(
            text.contains(
                "| a | not accepted | 0.5000 → 0.7500 (unvalidated) | 0 | 1 | 2 | why\\|not |"
            ),
            "{text}"
        );
        assert!(text.contains("| b | skipped | – |"), "{text}");
    }
}
