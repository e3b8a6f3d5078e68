//! One model at several addresses: calls go to them in turn, and an address that cannot answer is passed over for the
//! next. When none can at once, the one whose turn it was is asked with all its patience.

use async_trait::async_trait;
use serde_json::{Value, json};
use skillopt_domain::outcome::Sample;
use skillopt_engine::ports::{
    ChatReply, ChatRequest, Model, ModelError, ModelErrorKind, WorstCase,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

/// The model at one address.
#[derive(Clone, Debug)]
pub struct Place {
    /// Asked once, without a second try.
    pub quick: Arc<dyn Model>,
    /// Asked with all tries and waits.
    pub patient: Arc<dyn Model>,
}

/// A model at several addresses.
#[derive(Debug)]
pub struct InTurn {
    // Invariant: never empty.
    places: Vec<Place>,
    next: AtomicUsize,
}

impl InTurn {
    /// `None` without any place.
    #[must_use]
    pub fn new(places: Vec<Place>) -> Option<Self> {
        (!places.is_empty()).then(|| Self { places, next: AtomicUsize::new(0) })
    }
}

/// Another address may well answer.
fn is_of_address(kind: ModelErrorKind) -> bool {
    matches!(
        kind,
        ModelErrorKind::Connection
            | ModelErrorKind::Timeout
            | ModelErrorKind::Server
            | ModelErrorKind::RateLimited
            | ModelErrorKind::QuotaExhausted
            | ModelErrorKind::Authentication
    )
}

#[async_trait]
impl Model for InTurn {
    /// All addresses: a model behind another one may be another one.
    fn identity(&self) -> Value {
        json!(self.places.iter().map(|place| place.patient.identity()).collect::<Vec<_>>())
    }

    fn name(&self) -> &str {
        self.places[0].patient.name()
    }

    fn is_simulated(&self) -> bool {
        self.places.iter().any(|place| place.patient.is_simulated())
    }

    fn worst_case(&self, request: &ChatRequest) -> WorstCase {
        self.places[0].patient.worst_case(request)
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let n = self.places.len();
        let first = self.next.fetch_add(1, Ordering::Relaxed) % n;
        let mut attempts = 0;
        let mut earlier: Option<ModelError> = None;
        for at in (0..n).map(|step| (first + step) % n) {
            match self.places[at].quick.chat(request, sample, cancel).await {
                Err(error) if is_of_address(error.kind) => {
                    attempts += error.attempts;
                    earlier = both(earlier, Some(error).filter(|error| error.billed.answers > 0));
                }
                done => return with_earlier(done, attempts, earlier),
            }
        }
        let done = self.places[first].patient.chat(request, sample, cancel).await;
        with_earlier(done, attempts, earlier)
    }
}

/// What was taken for answers that never came, of two failures as of one; the first one's words stand for both.
fn both(first: Option<ModelError>, second: Option<ModelError>) -> Option<ModelError> {
    match (first, second) {
        (Some(mut first), Some(second)) => {
            first.billed.add_all(&second.billed);
            first.attempts += second.attempts;
            Some(first)
        }
        (first, second) => first.or(second),
    }
}

fn with_earlier(
    done: Result<ChatReply, ModelError>,
    attempts: u32,
    earlier: Option<ModelError>,
) -> Result<ChatReply, ModelError> {
    match done {
        Ok(mut reply) => {
            reply.attempts += attempts;
            let error = earlier.map(|error| ModelError { attempts: 0, ..error });
            reply.earlier = both(error, reply.earlier.map(|error| *error)).map(Box::new);
            Ok(reply)
        }
        Err(mut error) => {
            error.attempts += attempts;
            if let Some(before) = earlier {
                error.billed.add_all(&before.billed);
            }
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_engine::ports::{Billed, Message, Purpose};
    use std::sync::Mutex;

    #[derive(Debug)]
    struct Fixed {
        name: &'static str,
        failure: Option<ModelErrorKind>,
        seen: Arc<Mutex<Vec<&'static str>>>,
    }

    #[async_trait]
    impl Model for Fixed {
        fn identity(&self) -> Value {
            json!(self.name)
        }
        fn name(&self) -> &'static str {
            "small"
        }
        fn is_simulated(&self) -> bool {
            false
        }
        fn worst_case(&self, _: &ChatRequest) -> WorstCase {
            WorstCase::default()
        }
        async fn chat(
            &self,
            _: &ChatRequest,
            _: &Sample,
            _: &CancellationToken,
        ) -> Result<ChatReply, ModelError> {
            self.seen.lock().unwrap().push(self.name);
            match self.failure {
                None => {
                    Ok(ChatReply { text: self.name.into(), attempts: 1, ..ChatReply::default() })
                }
                Some(kind) => {
                    let (message, billed) = ("no".to_owned(), Billed::default());
                    Err(ModelError { kind, message, attempts: 1, billed })
                }
            }
        }
    }

    struct World {
        model: InTurn,
        seen: Arc<Mutex<Vec<&'static str>>>,
    }

    /// Places `a` and `b`, patient as `A` and `B`.
    fn world(failures: [Option<ModelErrorKind>; 2]) -> World {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let fixed = |name, failure| {
            Arc::new(Fixed { name, failure, seen: Arc::clone(&seen) }) as Arc<dyn Model>
        };
        let [a, b] = failures;
        let places = vec![
            Place { quick: fixed("a", a), patient: fixed("A", None) },
            Place { quick: fixed("b", b), patient: fixed("B", None) },
        ];
        World { model: InTurn::new(places).unwrap(), seen }
    }

    async fn ask(world: &World) -> Result<ChatReply, ModelError> {
        let request = ChatRequest::new(Purpose::Qa, "", vec![Message::user("What?")]);
        let sample = Sample { seed: 0, epoch: 0, repeat: 0, fresh: None };
        world.model.chat(&request, &sample, &CancellationToken::new()).await
    }

    #[tokio::test]
    async fn addresses_take_turns() {
        let world = world([None, None]);
        for expect in ["a", "b", "a"] {
            assert_eq!(ask(&world).await.unwrap().text, expect);
        }
        assert_eq!(world.model.identity(), json!(["A", "B"]));
    }

    #[tokio::test]
    async fn an_address_that_cannot_answer_is_passed_over() {
        let world = world([Some(ModelErrorKind::RateLimited), None]);
        let reply = ask(&world).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.attempts), ("b", 2));
    }

    #[tokio::test]
    async fn when_none_can_answer_at_once_the_first_is_asked_with_patience() {
        let down = Some(ModelErrorKind::Connection);
        let world = world([down, down]);
        assert_eq!(ask(&world).await.unwrap().text, "A");
        assert_eq!(ask(&world).await.unwrap().text, "B");
        assert_eq!(*world.seen.lock().unwrap(), ["a", "b", "A", "b", "a", "B"]);
    }

    #[test]
    fn what_every_failed_address_took_is_told() {
        let failed = |cost| {
            let mut billed = Billed::default();
            billed.add(None, cost);
            let (kind, message) = (ModelErrorKind::Timeout, "no".to_owned());
            ModelError { kind, message, attempts: 1, billed }
        };
        let earlier = both(Some(failed(Some(3))), Some(failed(Some(4))));
        let reply = with_earlier(Ok(ChatReply::default()), 2, earlier.clone()).unwrap();
        let billed = reply.earlier.unwrap().billed;
        assert_eq!((billed.answers, billed.cost_usd_micros), (2, Some(7)));
        let error = with_earlier(Err(failed(None)), 2, earlier).unwrap_err();
        assert_eq!((error.billed.answers, error.billed.cost_usd_micros), (3, None));
        let free = ModelError { billed: Billed::default(), ..failed(None) };
        let earlier = both(None, Some(failed(Some(3))));
        let error = with_earlier(Err(free), 1, earlier).unwrap_err();
        assert_eq!((error.billed.answers, error.billed.cost_usd_micros), (1, Some(3)));
    }

    #[tokio::test]
    async fn what_no_address_can_mend_is_an_error_at_once() {
        let world = world([Some(ModelErrorKind::BadRequest), None]);
        assert_eq!(ask(&world).await.unwrap_err().kind, ModelErrorKind::BadRequest);
        assert_eq!(*world.seen.lock().unwrap(), ["a"]);
        assert!(InTurn::new(Vec::new()).is_none());
    }
}
