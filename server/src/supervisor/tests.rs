//! The supervisor with a driver that does nothing but hold its run.

use super::{ActionError, Driver, Supervisor};
use crate::testing::{TestClock, queued_run};
use async_trait::async_trait;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::{RunStatus, RunTransition};
use skillopt_engine::ctx::{RunControl, RunCtx};
use skillopt_store::{Author, Change, LeaseTerm, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const OWNER: &str = "driver";

#[derive(Debug)]
struct Holding {
    store: Store,
    // A permit lets one run finish.
    finish: Semaphore,
}

impl Holding {
    async fn change(&self, run: &RunId, transition: RunTransition) {
        let change = Change { transition, detail: None, by: Author::Owner(OWNER), at_ms: 2 };
        self.store.transition(run, change).await.unwrap();
    }
}

#[async_trait]
impl Driver for Holding {
    async fn drive(
        &self,
        run: &RunId,
        _from: RunStatus,
        _leash: (RunControl, RunCtx),
        interrupt: CancellationToken,
    ) {
        let term = LeaseTerm { owner: OWNER.to_owned(), ttl_ms: 1 << 50 };
        self.store.acquire_lease(run, &term, 1).await.unwrap();
        self.change(run, RunTransition::Start).await;
        let end = tokio::select! {
            permit = self.finish.acquire() => { permit.unwrap().forget(); RunTransition::Finish }
            () = interrupt.cancelled() => RunTransition::LoseOwner,
        };
        self.change(run, end).await;
        self.store.release_lease(run, OWNER).await.unwrap();
    }
}

struct World {
    store: Store,
    driver: Arc<Holding>,
    supervisor: Supervisor,
}

impl World {
    async fn new(max_parallel: usize) -> Self {
        let store = Store::in_memory().await.unwrap();
        let driver = Arc::new(Holding { store: store.clone(), finish: Semaphore::new(0) });
        let supervisor =
            Supervisor::new(store.clone(), driver.clone(), TestClock::shared(), max_parallel);
        Self { store, driver, supervisor }
    }

    async fn status(&self, run: &RunId) -> RunStatus {
        self.store.run_row(run).await.unwrap().status
    }

    /// Waits for a state that must come.
    async fn until(&self, run: &RunId, wanted: RunStatus) {
        let mut signals = self.store.subscribe();
        let reached = async {
            while self.status(run).await != wanted {
                let _ = signals.recv().await;
            }
        };
        let limit = Duration::from_secs(20);
        assert!(tokio::time::timeout(limit, reached).await.is_ok(), "never became {wanted}");
    }

    /// Runs `test` beside the supervisor, and stops it then.
    async fn beside(&self, test: impl Future<Output = ()>) {
        let test = async {
            test.await;
            self.supervisor.shut_down(Duration::from_secs(20)).await;
        };
        tokio::join!(self.supervisor.watch(), test);
    }
}

#[tokio::test]
async fn runs_wait_for_a_place_and_start_in_order() {
    let world = World::new(1).await;
    let (first, second) =
        (queued_run(&world.store, None).await, queued_run(&world.store, None).await);
    world
        .beside(async {
            world.supervisor.launch(first.clone());
            world.supervisor.launch(second.clone());
            world.until(&first, RunStatus::Running).await;
            assert_eq!(world.status(&second).await, RunStatus::Queued);
            world.driver.finish.add_permits(1);
            world.until(&second, RunStatus::Running).await;
            assert_eq!(world.status(&first).await, RunStatus::Done);
        })
        .await;
}

#[tokio::test]
async fn the_queue_survives_a_restart_and_leaves_runs_of_other_processes_alone() {
    let world = World::new(4).await;
    let ours = queued_run(&world.store, None).await;
    let theirs = queued_run(&world.store, Some("another process")).await;
    world
        .beside(async {
            world.until(&ours, RunStatus::Running).await;
            assert_eq!(world.status(&theirs).await, RunStatus::Queued);
        })
        .await;
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_waits_never_starts() {
    let world = World::new(1).await;
    let (first, second) =
        (queued_run(&world.store, None).await, queued_run(&world.store, None).await);
    world
        .beside(async {
            world.supervisor.launch(first.clone());
            world.supervisor.launch(second.clone());
            world.until(&first, RunStatus::Running).await;
            assert_eq!(
                world.supervisor.cancel(&second, "local").await.unwrap(),
                RunStatus::Cancelled
            );
            world.driver.finish.add_permits(1);
            world.until(&first, RunStatus::Done).await;
        })
        .await;
    assert_eq!(world.status(&second).await, RunStatus::Cancelled);
}

#[tokio::test]
async fn a_stop_interrupts_runs_so_that_they_can_be_resumed() {
    let world = World::new(1).await;
    let run = queued_run(&world.store, None).await;
    world.beside(world.until(&run, RunStatus::Running)).await;
    assert_eq!(world.status(&run).await, RunStatus::Interrupted);

    let again = Supervisor::new(world.store.clone(), world.driver.clone(), TestClock::shared(), 1);
    let test = async {
        assert_eq!(again.resume(&run, "local").await.unwrap(), RunStatus::Running);
        again.shut_down(Duration::from_secs(20)).await;
    };
    tokio::join!(again.watch(), test);
}

#[tokio::test]
async fn what_is_done_can_neither_be_paused_nor_resumed() {
    let world = World::new(1).await;
    let run = queued_run(&world.store, None).await;
    world
        .beside(async {
            world.supervisor.launch(run.clone());
            world.driver.finish.add_permits(1);
            world.until(&run, RunStatus::Done).await;
            for refused in [
                world.supervisor.pause(&run, "local").await,
                world.supervisor.resume(&run, "local").await,
                world.supervisor.cancel(&run, "local").await,
            ] {
                assert!(matches!(
                    refused,
                    Err(ActionError::WrongState { status: RunStatus::Done, .. })
                ));
            }
        })
        .await;
}
