//! Evidence: the matrix of tasks by skills, pairs of attempts, the origin of lines, rejected edits page by page.

use crate::support::{
    Kind, Opened, planned, run_id, scored, set, sha, started, step, with_outcome,
};
use rstest::rstest;
use skillopt_domain::api::{MatrixQuery, RejectedQuery, RejectedWhy, TaskMatrix};
use skillopt_domain::blame::Origin;
use skillopt_domain::edit::{Edit, EditOp, EditReport, EditStatus, apply_in_order};
use skillopt_domain::epoch::{EpochAction, SlowUpdate};
use skillopt_domain::event::{EventKind, StepSummary};
use skillopt_domain::matrix::{CellState, TaskFilter, TaskOrder};
use skillopt_domain::outcome::{
    Outcome, OutcomeCounts, RolloutPurpose, RolloutSet, Sample, TaskOutcome,
};
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::Action;
use skillopt_engine::ports::Journal;
use skillopt_store::{RunJournal, StoreFailure};

/// Outcomes of the tasks `t0`, `t1` … from letters: passed, failed, error, and a dot for none.
fn outcomes(letters: &str) -> Vec<TaskOutcome> {
    let error = || Outcome::InfraError { code: "timeout".into(), message: "late".into() };
    let outcome = |(n, letter): (usize, char)| {
        let task = format!("t{n}");
        match letter {
            'p' => Some(scored(&task, 1.0, None)),
            'f' => Some(scored(&task, 0.0, None)),
            'e' => Some(with_outcome(&task, error())),
            _ => None,
        }
    };
    letters.chars().enumerate().filter_map(outcome).collect()
}

async fn measure(journal: &RunJournal, skill: &str, at_step: u32, letters: &str) {
    let key = format!("selection/{skill}");
    let measured = RolloutSet {
        purpose: RolloutPurpose::Selection,
        skill: sha(skill),
        ..set(&key, at_step, outcomes(letters))
    };
    journal.keep_outcomes(&measured).await.unwrap();
}

async fn finish(journal: &RunJournal, number: u32, action: Action, skill: &str, version: u32) {
    let finished = StepSummary { version, ..step(number, action, Some(0.5), 0.5) };
    let finished = StepSummary { skill: sha(skill), candidate: Some(sha(skill)), ..finished };
    journal.append(&format!("step/{number}"), EventKind::StepFinished(finished)).await.unwrap();
}

/// Step 1 is kept, step 2 loses, step 3 is the best.
async fn measured_run(opened: &Opened) -> RunJournal {
    let journal = started(&opened.store, 1).await;
    journal.append("planned", planned()).await.unwrap();
    measure(&journal, "initial", 0, "pffpe").await;
    measure(&journal, "one", 1, "pfpp.").await;
    finish(&journal, 1, Action::Accept, "one", 1).await;
    measure(&journal, "two", 2, "fffpp").await;
    finish(&journal, 2, Action::Reject, "one", 1).await;
    measure(&journal, "three", 3, "pppfp").await;
    finish(&journal, 3, Action::AcceptNewBest, "three", 2).await;
    journal
}

async fn matrix(opened: &Opened, query: MatrixQuery) -> TaskMatrix {
    opened.store.task_matrix(&run_id(1), &query).await.unwrap()
}

fn tasks(matrix: &TaskMatrix) -> Vec<&str> {
    matrix.rows.iter().map(|row| row.task.as_str()).collect()
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn candidates_are_compared_with_the_skill_that_was_current(#[case] kind: Kind) {
    use CellState::{Broke, Error, Fail, Fixed, Missing, Pass};
    let opened = kind.open().await;
    measured_run(&opened).await;
    let all =
        matrix(&opened, MatrixQuery { sort: Some(TaskOrder::Task), ..Default::default() }).await;
    let shape: Vec<_> = all
        .columns
        .iter()
        .map(|c| (c.step, c.version, c.is_best, c.base, c.n_passed, c.n, c.n_fixed, c.n_broke))
        .collect();
    assert_eq!(
        shape,
        [
            (0, Some(0), false, None, 2, 4, 0, 0),
            (1, Some(1), false, Some(0), 3, 4, 1, 0),
            (2, None, false, Some(1), 2, 5, 0, 2),
            (3, Some(2), true, Some(1), 4, 5, 1, 1),
        ]
    );
    let states: Vec<Vec<CellState>> =
        all.rows.iter().map(|row| row.cells.iter().map(|cell| cell.state).collect()).collect();
    assert_eq!(
        states,
        [
            [Pass, Pass, Broke, Pass],
            [Fail, Fail, Fail, Fixed],
            [Fail, Fixed, Broke, Pass],
            [Pass, Pass, Pass, Broke],
            [Error, Missing, Pass, Pass],
        ]
    );
    let fixed = all.rows[1].cells[3];
    let pair = opened
        .store
        .trajectory_pair(&run_id(1), fixed.against.unwrap(), fixed.id.unwrap())
        .await
        .unwrap();
    assert_eq!((pair.left.row.skill, pair.right.row.skill), (sha("one"), sha("three")));
    assert_eq!(fixed.soft, Some(1.0 / 3.0));
    let ends = all.ends.unwrap();
    assert_eq!(ends.versions, Some((0, 2)));
    assert_eq!((ends.n_fixed, ends.n_broke, ends.n_passed, ends.n_failed), (2, 1, 1, 0));
    assert_eq!(all.purposes, [RolloutPurpose::Selection]);
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn tasks_are_filtered_sorted_searched_and_paged(#[case] kind: Kind) {
    let opened = kind.open().await;
    measured_run(&opened).await;
    let all = matrix(&opened, MatrixQuery::default()).await;
    assert_eq!(tasks(&all), ["t2", "t0", "t1", "t3", "t4"], "the most changed one is first");
    assert_eq!((all.n_rows, all.n_columns, all.counts.as_slice()), (5, 4, &[5, 4, 1, 0, 1][..]));
    let changed = MatrixQuery { show: Some(TaskFilter::Changed), ..Default::default() };
    assert_eq!(matrix(&opened, changed).await.n_rows, 4);
    let kept = matrix(&opened, MatrixQuery { kept: Some(true), ..Default::default() }).await;
    assert_eq!((kept.n_columns, tasks(&kept)), (3, vec!["t1", "t2", "t3", "t0", "t4"]));
    assert_eq!(kept.columns[2].base, Some(1), "places are those of the shown columns");
    let text = MatrixQuery { q: Some("of T3".into()), ..Default::default() };
    assert_eq!(tasks(&matrix(&opened, text).await), ["t3"]);
    let page = MatrixQuery {
        row: Some(1),
        rows: Some(2),
        column: Some(1),
        columns: Some(2),
        ..Default::default()
    };
    let page = matrix(&opened, page).await;
    assert_eq!((tasks(&page), page.first_row, page.n_rows), (vec!["t0", "t1"], 1, 5));
    assert_eq!(page.columns.iter().map(|column| column.place).collect::<Vec<_>>(), [1, 2]);
    assert!(page.rows.iter().all(|row| row.cells.len() == 2));
    let last = matrix(&opened, MatrixQuery { columns: Some(3), ..Default::default() }).await;
    assert_eq!(last.columns[0].place, 1, "the newest columns come first");
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn batches_of_a_step_are_one_column_and_compare_with_earlier_ones(#[case] kind: Kind) {
    let opened = kind.open().await;
    let journal = started(&opened.store, 1).await;
    let batch = async |key: &str, at_step: u32, letters: &str| {
        journal.keep_outcomes(&set(key, at_step, outcomes(letters))).await.unwrap();
    };
    batch("step/1/batch/0", 1, "pf").await;
    batch("step/1/batch/1", 1, "..p").await;
    batch("step/2/batch/0", 2, "f.p").await;
    let query = MatrixQuery { purpose: Some(RolloutPurpose::Train), ..Default::default() };
    let train = matrix(&opened, query).await;
    assert_eq!(train.columns.iter().map(|c| (c.step, c.n)).collect::<Vec<_>>(), [(1, 3), (2, 2)]);
    assert_eq!((tasks(&train)[0], train.rows[0].n_broke), ("t0", 1));
    assert!(train.rows[0].cells[1].against.is_some());
    assert_eq!(train.ends, None, "batches are no two measurements of the same tasks");
    assert_eq!(matrix(&opened, MatrixQuery::default()).await.n_columns, 0);
}

#[tokio::test]
async fn attempts_at_different_tasks_are_not_compared() {
    let opened = Kind::Memory.open().await;
    measured_run(&opened).await;
    let all = matrix(&opened, MatrixQuery::default()).await;
    let (one, other) = (all.rows[0].cells[0].id.unwrap(), all.rows[1].cells[0].id.unwrap());
    let refused = opened.store.trajectory_pair(&run_id(1), one, other).await;
    assert!(matches!(refused, Err(StoreFailure::BadQuery { .. })), "{refused:?}");
    let unknown = opened.store.trajectory_pair(&run_id(1), one, 99_999).await;
    assert!(matches!(unknown, Err(StoreFailure::NotFound { .. })), "{unknown:?}");
}

/// The text after these edits, kept with the run and told in the journal as a step that was kept.
async fn edited(journal: &RunJournal, before: &str, number: u32, edits: &[Edit]) -> String {
    let (doc, edits) = apply_in_order(&SkillDoc::parse(before), edits, 9);
    let text = doc.text().to_owned();
    journal.keep_skill(&text).await.unwrap();
    let counts = OutcomeCounts { passed: 3, failed: 5, ..OutcomeCounts::default() };
    let rolled = EventKind::RolledOut { step: number, score: None, counts, sets: Vec::new() };
    let updated = EventKind::Updated {
        step: number,
        edits,
        candidate: doc.sha(),
        candidate_chars: 1,
        candidate_tokens: 1,
    };
    journal.append(&format!("rolled/{number}"), rolled).await.unwrap();
    journal.append(&format!("updated/{number}"), updated).await.unwrap();
    finish(journal, number, Action::Accept, &text, number).await;
    text
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn a_line_is_told_with_its_edit_its_step_and_its_trajectories(#[case] kind: Kind) {
    let opened = kind.open().await;
    let journal = started(&opened.store, 1).await;
    let first = "- Read.\n- Answer.\n";
    journal.keep_skill(first).await.unwrap();
    let EventKind::Planned(plan) = planned() else { return };
    let plan = skillopt_domain::event::RunPlan { initial_skill: sha(first), ..plan };
    journal.append("planned", EventKind::Planned(plan)).await.unwrap();
    let lost = Edit::new(EditOp::Delete, Some("nowhere"), None);
    let added = Edit::new(EditOp::Append, None, Some("- Check."));
    let second = edited(&journal, first, 1, &[lost, added.clone()]).await;
    let better = Edit::new(EditOp::Replace, Some("- Check."), Some("- Check twice."));
    edited(&journal, &second, 2, &[better]).await;

    let told = opened.store.blame(&run_id(1), 2).await.unwrap();
    let lines: Vec<_> = told.lines.iter().map(|line| (line.text.as_str(), line.origin)).collect();
    assert_eq!(lines, [("- Read.", 0), ("- Answer.", 0), ("- Check twice.", 2)]);
    assert_eq!(told.lines[2].before, Some(1));
    let origins: Vec<_> =
        told.origins.iter().map(|note| (note.origin, note.version, note.n_lines)).collect();
    assert_eq!(
        origins,
        [
            (Origin::Initial, Some(0), 2),
            (Origin::Edit { step: 1, number: 2 }, Some(1), 0),
            (Origin::Edit { step: 2, number: 1 }, Some(2), 1),
        ]
    );
    assert_eq!(told.origins[1].edit, Some(added));
    assert_eq!(
        (told.origins[1].n_trajectories, told.origins[1].reason.as_str()),
        (Some(5), "because")
    );
    let old = opened.store.blame(&run_id(1), 0).await.unwrap();
    assert!(old.lines.iter().all(|line| line.origin == 0 && line.before.is_none()));
    let missing = opened.store.blame(&run_id(1), 7).await;
    assert!(matches!(missing, Err(StoreFailure::NotFound { what: "version", .. })), "{missing:?}");
}

#[tokio::test]
async fn many_versions_are_followed_and_many_may_ask_at_once() {
    let opened = Kind::File.open().await;
    let journal = started(&opened.store, 1).await;
    let mut text = "- Read.\n".to_owned();
    journal.keep_skill(&text).await.unwrap();
    let EventKind::Planned(plan) = planned() else { return };
    let plan = skillopt_domain::event::RunPlan { initial_skill: sha(&text), ..plan };
    journal.append("planned", EventKind::Planned(plan)).await.unwrap();
    for number in 1..=70 {
        let content = format!("- Rule {number}.");
        text = edited(&journal, &text, number, &[Edit::new(EditOp::Append, None, Some(&content))])
            .await;
    }
    let run = run_id(1);
    let asked = tokio::join!(opened.store.blame(&run, 70), opened.store.blame(&run, 70));
    let (told, other) = (asked.0.unwrap(), asked.1.unwrap());
    assert_eq!(told, other);
    let origins: Vec<Origin> = told.origins.iter().map(|note| note.origin).collect();
    let edits = (1..=70).map(|step| Origin::Edit { step, number: 1 });
    assert_eq!(origins, std::iter::once(Origin::Initial).chain(edits).collect::<Vec<_>>());
    assert!(told.lines.iter().any(|line| line.text == "- Rule 64." && line.origin == 64));
}

#[tokio::test]
async fn a_slow_update_is_the_origin_only_of_the_version_with_its_text() {
    let opened = Kind::Memory.open().await;
    let journal = started(&opened.store, 1).await;
    let first = "- Read.\n";
    journal.keep_skill(first).await.unwrap();
    let EventKind::Planned(plan) = planned() else { return };
    let plan = skillopt_domain::event::RunPlan { initial_skill: sha(first), ..plan };
    journal.append("planned", EventKind::Planned(plan)).await.unwrap();
    let added = Edit::new(EditOp::Append, None, Some("- Check."));
    edited(&journal, first, 1, &[added]).await;
    // Told later, with a number that the step has.
    let guided = "- Read.\n- Guided.\n";
    journal.keep_skill(guided).await.unwrap();
    journal.append("slow", EventKind::SlowUpdated(slow_update(1, guided))).await.unwrap();
    let told = opened.store.blame(&run_id(1), 1).await.unwrap();
    let origins: Vec<Origin> = told.origins.iter().map(|note| note.origin).collect();
    assert_eq!(origins, [Origin::Initial, Origin::Edit { step: 1, number: 1 }]);

    journal.append("slow/2", EventKind::SlowUpdated(slow_update(2, guided))).await.unwrap();
    let told = opened.store.blame(&run_id(1), 2).await.unwrap();
    assert!(told.origins.iter().any(|note| note.origin == Origin::SlowUpdate { epoch: 2 }));
}

/// Kept guidance at the end of an epoch, with the number of the epoch as that of its version.
fn slow_update(epoch: u32, text: &str) -> SlowUpdate {
    SlowUpdate {
        epoch,
        step: 1,
        action: EpochAction::Accept,
        content: "Guided.".into(),
        reasoning: String::new(),
        candidate: Some(sha(text)),
        verdict: None,
        set: None,
        version: epoch,
        current_score: None,
        current_n: None,
        skill_tokens: 4,
        wall_ms: 0,
        spend: SpendByRole::default(),
        reason: "kept".into(),
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn rejected_edits_come_page_by_page_with_counts(#[case] kind: Kind) {
    let opened = kind.open().await;
    let journal = started(&opened.store, 1).await;
    let report = |content: String| EditReport {
        edit: Edit::new(EditOp::Append, None, Some(&content)),
        status: EditStatus::NotFound,
        detail: String::new(),
        resembles_rejected_step: None,
    };
    for number in 1..=7 {
        let words = if number == 5 {
            "Quote page 2".to_owned()
        } else {
            format!("Rule no{number} of x{number}")
        };
        let edits = vec![report(words), report(format!("Quote page {number}"))];
        let updated = EventKind::Updated {
            step: number,
            edits,
            candidate: sha("c"),
            candidate_chars: 1,
            candidate_tokens: 1,
        };
        journal.append(&format!("updated/{number}"), updated).await.unwrap();
    }
    let ask =
        async |query: RejectedQuery| opened.store.rejected_page(&run_id(1), &query).await.unwrap();
    let mut query = RejectedQuery { limit: Some(4), ..Default::default() };
    let mut rows = Vec::new();
    loop {
        let page = ask(query.clone()).await;
        assert_eq!((page.page.total, page.n_gate, page.n_not_applied), (14, 0, 14));
        rows.extend(page.page.items);
        query.cursor = page.page.next;
        if query.cursor.is_none() {
            break;
        }
    }
    assert_eq!(rows, opened.store.rejected_edits(&run_id(1)).await.unwrap());
    assert_eq!((rows[0].step, rows[0].number, rows[1].number), (7, 1, 2));
    let gate = ask(RejectedQuery { why: Some(RejectedWhy::Gate), ..Default::default() }).await;
    assert_eq!((gate.page.total, gate.n_not_applied), (0, 14), "counts ignore their own filter");
    let again = ask(RejectedQuery { again: Some(true), ..Default::default() }).await;
    assert_eq!(again.page.items.iter().map(|row| row.step).collect::<Vec<_>>(), [5, 2]);
    let text = ask(RejectedQuery { q: Some("no3".into()), ..Default::default() }).await;
    assert_eq!(text.page.total, 1);
    let wrong = RejectedQuery { cursor: Some("x".into()), ..Default::default() };
    let wrong = opened.store.rejected_page(&run_id(1), &wrong).await;
    assert!(matches!(wrong, Err(StoreFailure::BadQuery { .. })));
}

#[tokio::test]
async fn a_repeated_measurement_is_a_column_of_its_own() {
    let opened = Kind::Memory.open().await;
    let journal = measured_run(&opened).await;
    let again = RolloutSet {
        purpose: RolloutPurpose::Selection,
        skill: sha("initial"),
        sample: Sample { seed: 42, epoch: 0, repeat: 1, fresh: None },
        ..set("selection/initial/1", 0, outcomes("ppp"))
    };
    journal.keep_outcomes(&again).await.unwrap();
    let all = matrix(&opened, MatrixQuery::default()).await;
    assert_eq!(all.columns.last().map(|column| (column.repeat, column.n)), Some((1, 3)));
    assert_eq!(all.ends.map(|ends| ends.versions), Some(Some((0, 2))), "the ends are first draws");
}
