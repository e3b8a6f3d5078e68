//! C96 in use: nights that the clock of the server begins, over a store on disk and with a clock that is set by hand.

use super::super::order::{NightOrder, key};
use super::*;
use crate::adopt::{AdoptRoots, Adopter};
use crate::host::Hosting;
use crate::sleep::Nights;
use rstest::rstest;
use skillopt_domain::night::ScheduleOutcomeKind as Kind;
use skillopt_engine::ports::Clock;
use skillopt_sleep::instant::parse;
use skillopt_store::{NewNight, NewSchedule, OutcomeRow, ScheduleEdit, ScheduleTerms, Store};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Shows what it was set to.
#[derive(Debug, Default)]
struct SetClock(AtomicU64);

impl Clock for SetClock {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now_ms())
    }

    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A machine: its folder, its clock, and the servers that were started on it.
struct Machine {
    dir: tempfile::TempDir,
    clock: Arc<SetClock>,
}

/// A server over the machine's store.
struct Server {
    store: Store,
    nights: Nights,
    clock: NightClock,
}

impl Machine {
    fn at(now: &str) -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap(), clock: Arc::default() };
        fs::create_dir_all(machine.project("one")).unwrap();
        machine.set(now);
        machine
    }

    fn set(&self, now: &str) {
        self.clock.0.store(ms(now), Ordering::Release);
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn project(&self, name: &str) -> PathBuf {
        self.root().join("work").join(name)
    }

    async fn server(&self) -> Server {
        let store = Store::open(&self.root().join("data")).await.unwrap();
        let home = self.root().join("home");
        let env = Environment::from_pairs([("HOME", home.to_str().unwrap())]);
        let hosting = Hosting::with_clock(store.clone(), &self.root(), env, self.clock.clone());
        let nights = Nights::new(hosting.clone());
        let roots = AdoptRoots::new(None, [self.root().join("work")]);
        let adopter = Adopter::new(store.clone(), roots, hosting.clock());
        let clock = NightClock::new(nights.clone(), adopter);
        Server { store, nights, clock }
    }

    /// A schedule of project "one" that was taken care of up to a day.
    fn schedule(&self, at: (u8, u8), zone: &str, served: &str) -> NewSchedule {
        NewSchedule {
            id: new_schedule_id(),
            project: self.project("one").display().to_string(),
            terms: ScheduleTerms {
                options_json: simulated().text(),
                time: ScheduleTime { hour: at.0, minute: at.1, zone: zone.to_owned() },
                is_enabled: true,
            },
            served: served.to_owned(),
            actor: "anna".to_owned(),
            at_ms: 1,
        }
    }
}

impl Server {
    async fn look(&self) -> Option<u64> {
        let next = self.clock.look(&CancellationToken::new()).await.unwrap();
        self.nights.drained().await;
        next
    }

    async fn n_nights(&self) -> usize {
        self.store.nights(None, 99).await.unwrap().len()
    }

    async fn outcomes(&self, id: &ScheduleId) -> Vec<OutcomeRow> {
        self.store.schedule_outcomes(id, 99).await.unwrap()
    }

    async fn kinds(&self, id: &ScheduleId) -> Vec<Kind> {
        self.outcomes(id).await.iter().map(|outcome| outcome.kind).collect()
    }
}

fn simulated() -> KeptNight {
    let order = NightOrder { keys: vec![key("form", "backend", "mock")], ..NightOrder::default() };
    KeptNight::new(&order, false)
}

fn ms(text: &str) -> u64 {
    parse(text, &jiff::tz::TimeZone::UTC).unwrap()
}

#[tokio::test]
async fn c96_of_two_servers_over_one_store_one_runs_the_night() {
    let machine = Machine::at("2026-11-30T03:00:01Z");
    let (one, two) = (machine.server().await, machine.server().await);
    let schedule = machine.schedule((3, 0), "UTC", "2026-11-29");
    one.store.add_schedule(&schedule).await.unwrap();
    let (next, other) = tokio::join!(one.look(), two.look());
    assert_eq!((next, other), (Some(ms("2026-12-01T03:00:00Z")), next));
    assert_eq!(one.n_nights().await, 1);
    let outcomes = two.outcomes(&schedule.id).await;
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    let night = &one.store.nights(None, 9).await.unwrap()[0];
    assert_eq!((outcomes[0].kind, outcomes[0].night.as_ref()), (Kind::Begun, Some(&night.id)));
    assert_eq!((night.actor.as_str(), outcomes[0].words.as_str()), ("schedule", ""));
}

#[tokio::test]
async fn c96_after_three_missed_nights_one_runs_and_the_others_are_told() {
    let machine = Machine::at("2026-11-30T09:00:00Z");
    let server = machine.server().await;
    let schedule = machine.schedule((3, 0), "UTC", "2026-11-27");
    server.store.add_schedule(&schedule).await.unwrap();
    server.look().await;
    server.look().await;
    assert_eq!(server.n_nights().await, 1);
    let outcomes = server.outcomes(&schedule.id).await;
    let told: Vec<_> = outcomes.iter().map(|outcome| (outcome.kind, outcome.due_ms)).collect();
    assert_eq!(
        told,
        [
            (Kind::Begun, ms("2026-11-30T03:00:00Z")),
            (Kind::Missed, ms("2026-11-29T03:00:00Z")),
            (Kind::Missed, ms("2026-11-28T03:00:00Z")),
        ]
    );
    assert!(outcomes[0].words.contains("missed"), "{outcomes:?}");
    assert!(outcomes[1].words.contains("no server ran"), "{outcomes:?}");
}

#[tokio::test]
async fn c96_a_time_that_the_clocks_jump_over_comes_an_hour_later_and_once() {
    let machine = Machine::at("2026-03-29T01:29:59Z");
    let server = machine.server().await;
    let schedule = machine.schedule((2, 30), "Europe/Berlin", "2026-03-28");
    server.store.add_schedule(&schedule).await.unwrap();
    assert_eq!(server.look().await, Some(ms("2026-03-29T01:30:00Z")));
    assert_eq!(server.n_nights().await, 0);
    machine.set("2026-03-29T01:30:00Z");
    assert_eq!(server.look().await, Some(ms("2026-03-30T00:30:00Z")));
    machine.set("2026-03-29T23:00:00Z");
    server.look().await;
    assert_eq!((server.n_nights().await, server.kinds(&schedule.id).await), (1, vec![Kind::Begun]));
}

#[tokio::test]
async fn c96_a_server_that_is_started_again_runs_no_night_twice_and_the_next_one_once() {
    let machine = Machine::at("2026-11-30T03:00:05Z");
    let first = machine.server().await;
    let schedule = machine.schedule((3, 0), "UTC", "2026-11-29");
    first.store.add_schedule(&schedule).await.unwrap();
    first.look().await;
    first.store.close().await;
    machine.set("2026-11-30T04:00:00Z");
    let second = machine.server().await;
    second.look().await;
    assert_eq!(second.n_nights().await, 1);
    machine.set("2026-12-01T03:00:00Z");
    second.look().await;
    assert_eq!(second.kinds(&schedule.id).await, [Kind::Begun, Kind::Begun]);
}

#[tokio::test]
async fn c96_a_server_that_ended_between_the_claim_and_the_night_leaves_a_trace() {
    let machine = Machine::at("2026-11-30T03:00:05Z");
    let server = machine.server().await;
    let schedule = machine.schedule((3, 0), "UTC", "2026-11-29");
    server.store.add_schedule(&schedule).await.unwrap();
    let row = server.store.schedule(&schedule.id).await.unwrap().unwrap();
    let outcome = OutcomeRow {
        kind: Kind::Claimed,
        due_ms: ms("2026-11-30T03:00:00Z"),
        at_ms: ms("2026-11-30T03:00:05Z"),
        night: None,
        words: String::new(),
    };
    let claim = skillopt_store::ScheduleClaim {
        id: row.id,
        revision: row.revision,
        before: row.served,
        after: "2026-11-30".to_owned(),
        outcomes: vec![outcome],
    };
    assert!(server.store.claim_schedule(&claim).await.unwrap());
    server.look().await;
    assert_eq!(
        (server.n_nights().await, server.kinds(&schedule.id).await),
        (0, vec![Kind::Claimed])
    );
    machine.set("2026-11-30T03:03:00Z");
    server.look().await;
    assert_eq!(
        (server.n_nights().await, server.kinds(&schedule.id).await),
        (0, vec![Kind::Failed])
    );
    let words = &server.outcomes(&schedule.id).await[0].words;
    assert_eq!(words, "the server ended before the night began");
}

#[tokio::test]
async fn c96_a_clock_that_had_been_ahead_is_told_and_nights_go_on() {
    let machine = Machine::at("2026-11-30T09:00:00Z");
    let server = machine.server().await;
    let schedule = machine.schedule((3, 0), "UTC", "2027-11-30");
    server.store.add_schedule(&schedule).await.unwrap();
    assert_eq!(server.look().await, Some(ms("2026-12-01T03:00:00Z")));
    assert_eq!(server.kinds(&schedule.id).await, [Kind::ClockSetBack]);
    machine.set("2026-12-01T03:00:00Z");
    server.look().await;
    assert_eq!(server.n_nights().await, 1);
}

#[tokio::test]
async fn a_schedule_that_is_switched_off_does_not_run() {
    let machine = Machine::at("2026-11-30T03:00:05Z");
    let server = machine.server().await;
    let mut schedule = machine.schedule((3, 0), "UTC", "2026-11-29");
    schedule.terms.is_enabled = false;
    server.store.add_schedule(&schedule).await.unwrap();
    assert_eq!(server.look().await, None);
    assert_eq!((server.n_nights().await, server.outcomes(&schedule.id).await), (0, Vec::new()));
}

#[tokio::test]
async fn a_night_that_still_works_on_the_project_is_a_reason_to_skip_one() {
    let machine = Machine::at("2026-11-30T03:00:05Z");
    let server = machine.server().await;
    let schedule = machine.schedule((3, 0), "UTC", "2026-11-29");
    server.store.add_schedule(&schedule).await.unwrap();
    let running = NewNight {
        id: skillopt_domain::ids::NightId::parse(new_schedule_id().as_str()).unwrap(),
        project: schedule.project.clone(),
        is_dry: false,
        is_simulated: true,
        models: "mock".to_owned(),
        actor: "local".to_owned(),
        at_ms: ms("2026-11-30T03:00:00Z"),
        owner: "another".to_owned(),
        ttl_ms: 60_000,
        settings_json: String::new(),
    };
    server.store.begin_night(&running).await.unwrap();
    server.look().await;
    let outcomes = server.outcomes(&schedule.id).await;
    assert_eq!((outcomes.len(), outcomes[0].kind), (1, Kind::Busy));
    assert!(outcomes[0].words.contains(running.id.as_str()), "{outcomes:?}");
    machine.set("2026-12-01T03:00:00Z");
    server.look().await;
    assert_eq!(server.kinds(&schedule.id).await[0], Kind::Begun, "the next one runs");
}

#[derive(Clone, Copy)]
enum Fault {
    Outside,
    Gone,
    Options,
    Models,
    Zone,
}

#[rstest]
#[case(Fault::Outside, "outside of the folders")]
#[case(Fault::Gone, "does not exist")]
#[case(Fault::Options, "cannot be read")]
#[case(Fault::Models, "backend")]
#[case(Fault::Zone, "no time zone")]
#[tokio::test]
async fn what_cannot_begin_is_told_on_the_schedule_and_holds_up_no_other(
    #[case] fault: Fault,
    #[case] expect: &str,
) {
    let machine = Machine::at("2026-11-30T03:00:05Z");
    let server = machine.server().await;
    let mut broken = machine.schedule((3, 0), "UTC", "2026-11-29");
    let elsewhere = machine.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    // Sorts before "one", so that it is the first to be looked at.
    broken.project = machine.project("broken").display().to_string();
    match fault {
        Fault::Outside => broken.project = elsewhere.display().to_string(),
        Fault::Gone => {}
        Fault::Options => broken.terms.options_json = "{".to_owned(),
        Fault::Zone => broken.terms.time.zone = "Mars/Base".to_owned(),
        Fault::Models => {
            broken.terms.options_json = simulated().text().replace("\"mock\"", "\"no-such-one\"");
        }
    }
    if !matches!(fault, Fault::Outside | Fault::Gone) {
        fs::create_dir_all(&broken.project).unwrap();
    }
    server.store.add_schedule(&broken).await.unwrap();
    let fine = machine.schedule((3, 0), "UTC", "2026-11-29");
    server.store.add_schedule(&fine).await.unwrap();
    server.look().await;
    let outcomes = server.outcomes(&broken.id).await;
    assert_eq!((outcomes.len(), outcomes[0].kind), (1, Kind::Failed), "{outcomes:?}");
    assert!(outcomes[0].words.contains(expect), "{outcomes:?}");
    assert_eq!((server.n_nights().await, server.kinds(&fine.id).await), (1, vec![Kind::Begun]));
}

#[tokio::test]
async fn a_skill_outside_of_the_servers_folders_is_no_target_of_a_scheduled_night() {
    let machine = Machine::at("2026-11-30T03:00:05Z");
    let server = machine.server().await;
    let mut schedule = machine.schedule((3, 0), "UTC", "2026-11-29");
    let outside = machine.root().join("SKILL.md");
    let keys = vec![key("form", "target_skill_path", outside.display().to_string())];
    let order = NightOrder { keys, ..NightOrder::default() };
    schedule.terms.options_json = KeptNight::new(&order, false).text();
    server.store.add_schedule(&schedule).await.unwrap();
    server.look().await;
    let outcomes = server.outcomes(&schedule.id).await;
    assert_eq!((server.n_nights().await, outcomes[0].kind), (0, Kind::Failed));
    assert!(outcomes[0].words.contains("outside"), "{outcomes:?}");
}

#[tokio::test]
async fn the_clock_hears_of_a_new_schedule_at_once_and_ends_with_the_server() {
    let machine = Machine::at("2026-11-30T03:00:05Z");
    let server = machine.server().await;
    let stop = CancellationToken::new();
    let work = async {
        let mut schedule = machine.schedule((3, 0), "UTC", "2026-11-29");
        schedule.terms.is_enabled = false;
        server.store.add_schedule(&schedule).await.unwrap();
        let row = server.store.schedule(&schedule.id).await.unwrap().unwrap();
        let on = ScheduleEdit {
            revision: row.revision,
            terms: ScheduleTerms { is_enabled: true, ..row.terms },
            served: None,
            actor: "anna".to_owned(),
            at_ms: 2,
        };
        assert!(server.store.change_schedule(&schedule.id, &on).await.unwrap());
        server.clock.wake();
        while server.kinds(&schedule.id).await != [Kind::Begun] {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let both = async { tokio::join!(server.clock.run(&stop), work) };
    tokio::time::timeout(Duration::from_secs(20), both).await.expect("it woke up and it ended");
    server.nights.drained().await;
    assert_eq!(server.n_nights().await, 1);
}

#[test]
fn all_options_survive_and_an_edit_of_the_form_leaves_the_others_alone() {
    let keys = vec![
        key("--backend", "backend", "claude"),
        key("--max-tasks", "max_tasks_per_night", 7),
        key("--set gate_metric", "gate_metric", "hard"),
        key("--auto-adopt", "auto_adopt", true),
    ];
    let order = NightOrder { keys, config_file: Some("/c.json".into()), ..NightOrder::default() };
    let models = vec!["model.target_temperature=0".to_owned()];
    let kept = KeptNight::new(&order, false).with_models(Some("/t.json".into()), models);
    let kept = KeptNight::parse(&kept.text()).unwrap();
    let command = kept.command("/p".into(), None, "schedule").unwrap();
    assert_eq!(
        (&command.order.keys, &command.order.config_file),
        (&order.keys, &order.config_file)
    );
    assert_eq!((command.tasks_file, command.cfg_options.len()), (Some("/t.json".into()), 1));
    let request = kept.request("/p");
    assert_eq!((request.backend.as_deref(), request.max_tasks), (Some("claude"), Some(7)));
    let more = [
        "config=/c.json",
        "tasks_file=/t.json",
        "gate_metric=hard",
        "auto_adopt=true",
        "model.target_temperature=0",
    ];
    assert_eq!(kept.more(), more);
    let edited = kept.with_form(&simulated());
    let request = edited.request("/p");
    assert_eq!((request.backend.as_deref(), request.max_tasks), (Some("mock"), None));
    assert_eq!(edited.more(), more);
}
