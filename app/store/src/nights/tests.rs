//! Nights in a store: their lease, their end, and what is decided about them.

use super::*;

const TTL_MS: u64 = 10;

fn id(no: u8) -> NightId {
    NightId::parse(&format!("0190a0c2-7b1e-7c33-8f00-0123456789{no:02x}")).expect("an id")
}

fn new_night(no: u8, project: &str, at_ms: u64) -> NewNight {
    NewNight {
        id: id(no),
        project: project.into(),
        is_dry: false,
        is_simulated: true,
        models: "mock".into(),
        actor: "local".into(),
        at_ms,
        owner: "a".into(),
        ttl_ms: TTL_MS,
        settings_json: "[]".into(),
    }
}

fn end(transition: NightTransition) -> NightEnd {
    NightEnd {
        transition,
        detail: String::new(),
        owner: "a".into(),
        scores: NightScores { baseline: Some(0.25), candidate: None, accepted: true },
        night: Some(1),
        staging: Some("/p/.skillopt-sleep/staging/x".into()),
        report_json: Some("{}".into()),
        progress: NightProgress { done: 3, ..NightProgress::start() },
        at_ms: 9,
    }
}

async fn kept(store: &Store, no: u8, decision: NightDecision) -> ReviewKept {
    let row = store.night(&id(no)).await.expect("read").expect("there");
    store.keep_review(&row, decision, "{}").await.expect("kept")
}

#[tokio::test]
async fn one_night_at_a_time_works_on_a_project() {
    let store = Store::in_memory().await.expect("a store");
    store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
    store.begin_night(&new_night(2, "/q", 1)).await.expect("another project");
    let second = store.begin_night(&new_night(3, "/p", 5)).await;
    assert!(matches!(second, Err(BeginNightError::Running(first)) if first == id(1)));
    let end = end(NightTransition::Stage);
    assert!(store.end_night(&id(1), &end).await.expect("ended"));
    store.begin_night(&new_night(3, "/p", 6)).await.expect("the next one");
    let rows = store.nights(Some("/p"), 9).await.expect("read");
    let states: Vec<_> = rows.iter().map(|row| (row.id.clone(), row.status)).collect();
    assert_eq!(states, [(id(3), NightStatus::Running), (id(1), NightStatus::Staged)]);
    assert_eq!(rows[1].progress.done, 3);
    assert_eq!((rows[1].scores, rows[1].settings_json.as_str()), (end.scores, "[]"));
    let documents = store.night_documents(&id(1)).await.expect("read");
    assert_eq!(documents.report_json.as_deref(), Some("{}"));
    assert_eq!(store.night_projects().await.expect("read"), ["/p", "/q"]);
}

#[tokio::test]
async fn a_night_whose_process_is_gone_is_interrupted_and_holds_up_nobody() {
    let store = Store::in_memory().await.expect("a store");
    store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
    store.beat_night(&id(1), &NightProgress::start(), 50).await.expect("alive");
    assert!(store.begin_night(&new_night(2, "/p", 40)).await.is_err(), "still alive");
    store.begin_night(&new_night(2, "/p", 60)).await.expect("begun");
    let first = store.night(&id(1)).await.expect("read").expect("there");
    assert_eq!((first.status, first.ended_at_ms), (NightStatus::Interrupted, Some(60)));
    let call = store.beat_night(&id(1), &NightProgress::start(), 99).await.expect("told");
    assert_eq!(call, NightCall::Lost, "a process that comes back is told that it is not its own");
}

#[tokio::test]
async fn a_night_that_was_taken_for_gone_is_completed_by_its_own_process_and_no_other() {
    let store = Store::in_memory().await.expect("a store");
    store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
    store.reap_nights(60).await.expect("closed");
    let end = end(NightTransition::Stage);
    let other = NightEnd { owner: "b".into(), ..end.clone() };
    assert!(!store.end_night(&id(1), &other).await.expect("nothing"));
    assert!(store.end_night(&id(1), &end).await.expect("ended"));
    let row = store.night(&id(1)).await.expect("read").expect("there");
    assert_eq!(row.status, NightStatus::Staged);
    assert!(!store.end_night(&id(1), &end).await.expect("nothing"), "it ends once");
}

#[tokio::test]
async fn a_night_is_told_that_a_person_asks_for_its_end_and_one_that_is_over_is_not() {
    let store = Store::in_memory().await.expect("a store");
    let audit = AuditRow {
        at_ms: 2,
        actor: "local".into(),
        action: "cancel_night".into(),
        subject: id(1).to_string(),
        detail: String::new(),
    };
    store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
    let call = store.beat_night(&id(1), &NightProgress::start(), 9).await.expect("told");
    assert_eq!(call, NightCall::GoOn);
    assert!(store.cancel_night(&id(1), &audit).await.expect("asked"));
    let call = store.beat_night(&id(1), &NightProgress::start(), 9).await.expect("told");
    assert_eq!(call, NightCall::End);
    store.end_night(&id(1), &end(NightTransition::Cancel)).await.expect("ended");
    assert!(!store.cancel_night(&id(1), &audit).await.expect("asked"));
    store.end_night(&id(1), &end(NightTransition::Fail)).await.expect("nothing");
    let row = store.night(&id(1)).await.expect("read").expect("there");
    assert_eq!(row.status, NightStatus::Cancelled);
}

#[tokio::test]
async fn what_waits_is_found_page_by_page_and_what_nobody_looked_at_by_itself() {
    let store = Store::in_memory().await.expect("a store");
    for no in 1..=4 {
        store.begin_night(&new_night(no, "/p", u64::from(no))).await.expect("begun");
        store.end_night(&id(no), &end(NightTransition::Stage)).await.expect("ended");
    }
    let all = ["/p".to_owned()];
    let unseen = store.unseen_nights(&all, 9).await.expect("read");
    assert_eq!(unseen.iter().map(|row| row.id.clone()).collect::<Vec<_>>(), [4, 3, 2, 1].map(id));
    for (no, decision) in [
        (1, NightDecision::Waiting),
        (2, NightDecision::Adopted),
        (3, NightDecision::Stale),
        (4, NightDecision::Waiting),
    ] {
        assert_eq!(kept(&store, no, decision).await, ReviewKept::News);
    }
    assert!(store.unseen_nights(&all, 9).await.expect("read").is_empty());
    let open = async |before: Option<(u64, NightId)>| {
        let wanted = OpenNights { before, projects: &all, limit: 2 };
        let rows = store.open_nights(&wanted).await.expect("read");
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(open(None).await, [id(4), id(3)]);
    assert_eq!(open(Some((3, id(3)))).await, [id(1)]);
    let row = store.night(&id(3)).await.expect("read").expect("there");
    assert_eq!((row.decision, row.review_json.as_str()), (Some(NightDecision::Stale), "{}"));
    let of_folder = store.nights_of_folder("/p/.skillopt-sleep/staging/x").await.expect("read");
    assert_eq!(of_folder.len(), 4);
    assert_eq!(store.last_night().await.expect("read").map(|row| row.id), Some(id(4)));
    assert!(store.running_nights().await.expect("read").is_empty());
}

#[tokio::test]
async fn nights_of_projects_that_are_not_asked_about_use_up_no_limit() {
    let store = Store::in_memory().await.expect("a store");
    for (no, project) in [(1, "/p"), (2, "/q"), (3, "/q"), (4, "/r")] {
        store.begin_night(&new_night(no, project, u64::from(no))).await.expect("begun");
        store.end_night(&id(no), &end(NightTransition::Stage)).await.expect("ended");
    }
    let asked = ["/p".to_owned()];
    let unseen = store.unseen_nights(&asked, 1).await.expect("read");
    assert_eq!(unseen.into_iter().map(|row| row.id).collect::<Vec<_>>(), [id(1)]);
    for no in 1..=3 {
        kept(&store, no, NightDecision::Waiting).await;
    }
    let wanted = OpenNights { before: None, projects: &asked, limit: 1 };
    let open = store.open_nights(&wanted).await.expect("read");
    assert_eq!(open.into_iter().map(|row| row.id).collect::<Vec<_>>(), [id(1)]);
    kept(&store, 4, NightDecision::Adopted).await;
    let mut projects = store.projects_to_review().await.expect("read");
    projects.sort();
    assert_eq!(projects, ["/p", "/q"], "what is decided waits for nobody");
}

#[tokio::test]
async fn each_change_of_a_night_is_told_once_and_what_is_no_news_is_not() {
    let store = Store::in_memory().await.expect("a store");
    let start = store.changed_nights_since(u64::MAX).await.expect("read").token;
    let changed = async |token: u64| {
        let changes = store.changed_nights_since(token).await.expect("read");
        let rows: Vec<_> = changes.rows.iter().map(|row| (row.id.clone(), row.status)).collect();
        (rows, changes.token)
    };
    store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
    store.begin_night(&new_night(2, "/q", 1)).await.expect("begun");
    let (rows, token) = changed(start).await;
    assert_eq!(rows, [(id(1), NightStatus::Running), (id(2), NightStatus::Running)]);
    assert_eq!(changed(token).await, (Vec::new(), token));
    store.beat_night(&id(1), &NightProgress::start(), 99).await.expect("alive");
    assert_eq!(changed(token).await, (Vec::new(), token), "a sign of life is no news");
    let moved = NightProgress { done: 1, ..NightProgress::start() };
    store.beat_night(&id(1), &moved, 99).await.expect("alive");
    let (rows, token) = changed(token).await;
    assert_eq!(rows, [(id(1), NightStatus::Running)]);
    store.end_night(&id(1), &end(NightTransition::Stage)).await.expect("ended");
    let (rows, token) = changed(token).await;
    assert_eq!(rows, [(id(1), NightStatus::Staged)]);
    assert_eq!(kept(&store, 1, NightDecision::Waiting).await, ReviewKept::News);
    let (rows, token) = changed(token).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(kept(&store, 1, NightDecision::Waiting).await, ReviewKept::Known);
    assert_eq!(changed(token).await, (Vec::new(), token));
}

#[tokio::test]
async fn who_read_a_night_before_a_decision_does_not_take_the_decision_back() {
    let store = Store::in_memory().await.expect("a store");
    store.begin_night(&new_night(1, "/p", 1)).await.expect("begun");
    store.end_night(&id(1), &end(NightTransition::Stage)).await.expect("ended");
    let before = store.night(&id(1)).await.expect("read").expect("there");
    assert_eq!(kept(&store, 1, NightDecision::Adopted).await, ReviewKept::News);
    let late = store.keep_review(&before, NightDecision::Waiting, "{}").await.expect("told");
    let after = store.night(&id(1)).await.expect("read").expect("there");
    assert_eq!((late, after.decision), (ReviewKept::Overtaken, Some(NightDecision::Adopted)));
}
