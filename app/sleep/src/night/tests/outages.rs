//! Endpoints that do not answer: the night tells it, and ends when none of its calls was ever answered.

use super::*;
use skillopt_domain::outage::Outage;
use std::time::Duration;
use tokio::sync::watch::{Receiver, Sender};

/// A model that answers `n_answers` calls, but none of a purpose; then its endpoint is out.
struct Dying {
    voice: Arc<Voice>,
    n_answers: u64,
    unanswered: Option<Purpose>,
    outages: Sender<Option<Outage>>,
}

impl std::fmt::Debug for Dying {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dying")
    }
}

impl Dying {
    fn new(n_answers: u64) -> Arc<Self> {
        Self::but(n_answers, None)
    }

    fn but(n_answers: u64, unanswered: Option<Purpose>) -> Arc<Self> {
        let outages = Sender::new(Some(outage()));
        Arc::new(Self { voice: willing(), n_answers, unanswered, outages })
    }
}

#[async_trait]
impl Model for Dying {
    fn identity(&self) -> Value {
        self.voice.identity()
    }

    fn name(&self) -> &'static str {
        "dying"
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn worst_case(&self, request: &ChatRequest) -> WorstCase {
        self.voice.worst_case(request)
    }

    fn outages(&self) -> Option<Receiver<Option<Outage>>> {
        Some(self.outages.subscribe())
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let is_answered = self.unanswered != Some(request.purpose);
        if is_answered && self.voice.n_calls() < self.n_answers {
            return self.voice.chat(request, sample, cancel).await;
        }
        // It is tried again and again, and each try that fails is told.
        let failing = async {
            loop {
                self.outages.send_replace(Some(outage()));
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let _never: Option<()> = cancel.run_until_cancelled(failing).await;
        Err(error(ModelErrorKind::Cancelled))
    }
}

/// Longer than a night waits for an endpoint that never answered, and between two tries.
const LONG: Duration = Duration::from_millis(90_500);

fn outage() -> Outage {
    Outage {
        endpoint: "http://127.0.0.1:1/v1".to_owned(),
        model: "m".to_owned(),
        since_ms: 0,
        next_try_ms: 2_000,
        error: "cannot connect".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_night_whose_endpoint_never_answered_tells_it_and_ends_with_address_and_words() {
    let world = World::new().given(letters());
    let (model, watch) = (Dying::new(0), Arc::new(Watch::default()));
    let (_control, ctx) = RunControl::new();
    let plan = world.plan();
    let answerers = world.capped(Arc::clone(&model) as _, None);
    let night = run_night(&plan, answerers, &watch, &world.clock, &ctx);
    let look = async {
        let words = "m at http://127.0.0.1:1/v1 does not answer: cannot connect; ";
        let mut counts = watch.subscribe();
        counts.wait_for(|now| now.doing.starts_with(words)).await.unwrap();
    };
    let (done, ()) = tokio::join!(night, look);
    let failure = done.unwrap_err().to_string();
    let words = "m at http://127.0.0.1:1/v1 has answered no call of this night: cannot connect";
    assert!(failure.contains(words), "{failure}");
    world.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn a_night_waits_for_an_endpoint_that_answered_before() {
    let world = World::new().given(letters());
    let (model, watch) = (Dying::new(1), Arc::new(Watch::default()));
    let (control, ctx) = RunControl::new();
    let plan = world.plan();
    let answerers = world.capped(Arc::clone(&model) as _, None);
    let night = run_night(&plan, answerers, &watch, &world.clock, &ctx);
    let look = async {
        let mut counts = watch.subscribe();
        counts.wait_for(|now| now.doing.contains("does not answer") && now.done > 0).await.unwrap();
        tokio::time::sleep(LONG).await;
        model.outages.send_replace(None);
        counts.wait_for(|now| !now.doing.contains("does not answer")).await.unwrap();
        control.cancel();
    };
    let (done, ()) = tokio::join!(night, look);
    assert!(done.unwrap_err().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_night_waits_for_an_endpoint_that_answered_in_another_role() {
    let world = World::new().given(letters());
    let model = Dying::but(u64::MAX, Some(Purpose::Reflect));
    let (watch, (control, ctx)) = (Arc::new(Watch::default()), RunControl::new());
    let plan = world.plan();
    let answerers = world.capped(Arc::clone(&model) as _, None);
    let night = run_night(&plan, answerers, &watch, &world.clock, &ctx);
    let look = async {
        let mut counts = watch.subscribe();
        counts.wait_for(|now| now.doing.contains("does not answer")).await.unwrap();
        assert!(model.voice.n_calls() > 0, "the target was answered");
        tokio::time::sleep(LONG).await;
        control.cancel();
    };
    let (done, ()) = tokio::join!(night, look);
    assert!(done.unwrap_err().is_cancelled());
}
