//! What all runs of a process share about the servers that they call: limits, pauses, what was learned about
//! each model, and pooled connections.

use super::adapt::Learned;
use super::address::{Address, Transport};
use super::setup::SetupError;
use super::sign_in::{TokenSource, Tokens};
use crate::limiter::{Limiter, Place, Size};
use crate::retry::Jitter;
use crate::secret::Secret;
use crate::timer::{SystemTimer, Timer};
use reqwest::{Client, redirect};
use skillopt_domain::api::EndpointState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The servers that this process calls. Make one and share it.
#[derive(Debug)]
pub struct Endpoints {
    limiters: Mutex<HashMap<LimiterKey, Arc<Limiter>>>,
    learned: Mutex<HashMap<ModelKey, Arc<Learned>>>,
    clients: Mutex<HashMap<Transport, Client>>,
    tokens: Mutex<Vec<Arc<Tokens>>>,
    timer: Arc<dyn Timer>,
    jitter: Jitter,
}

/// A provider counts requests by key and model.
#[derive(Debug, PartialEq, Eq, Hash)]
struct LimiterKey {
    model: ModelKey,
    key_fingerprint: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ModelKey {
    base_url: String,
    model: String,
}

impl Endpoints {
    /// Nothing is opened or read yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Self::with_timer(Arc::new(SystemTimer::new()))
    }

    pub(crate) fn with_timer(timer: Arc<dyn Timer>) -> Arc<Self> {
        Arc::new(Self {
            limiters: Mutex::default(),
            learned: Mutex::default(),
            clients: Mutex::default(),
            tokens: Mutex::default(),
            timer,
            jitter: Jitter::default(),
        })
    }

    pub(crate) fn timer(&self) -> &dyn Timer {
        &*self.timer
    }

    /// A random part of 0..1.
    pub(crate) fn jitter(&self) -> f64 {
        self.jitter.fraction()
    }

    /// The limiter of an endpoint.
    pub(crate) fn limiter(
        &self,
        address: &Address,
        model: &str,
        secret: Option<&Secret>,
        size: Size,
    ) -> Arc<Limiter> {
        self.limiter_for(
            LimiterKey {
                model: model_key(address, model),
                key_fingerprint: secret.map(Secret::fingerprint),
            },
            size,
        )
    }

    /// The limiter of a program on this machine and the model that it uses; its calls are processes.
    pub(crate) fn limiter_of_program(
        &self,
        program: &str,
        model: &str,
        size: Size,
    ) -> Arc<Limiter> {
        let model = ModelKey { base_url: format!("program:{program}"), model: model.to_owned() };
        self.limiter_for(LimiterKey { model, key_fingerprint: None }, size)
    }

    /// A known limiter gets another size only from a run.
    fn limiter_for(&self, key: LimiterKey, size: Size) -> Arc<Limiter> {
        match lock(&self.limiters).entry(key) {
            Entry::Occupied(known) => {
                if size.is_for_run {
                    known.get().resize(size.calls);
                }
                Arc::clone(known.get())
            }
            Entry::Vacant(free) => {
                let key = free.key();
                let place =
                    Place { address: key.model.base_url.clone(), model: key.model.model.clone() };
                let limiter = Limiter::new(place, size.calls, Arc::clone(&self.timer));
                Arc::clone(free.insert(Arc::new(limiter)))
            }
        }
    }

    /// What is known of each endpoint, sorted by address, model and key.
    #[must_use]
    pub fn states(&self) -> Vec<EndpointState> {
        let mut states: Vec<EndpointState> = lock(&self.limiters)
            .iter()
            .map(|(key, limiter)| {
                let learned = lock(&self.learned).get(&key.model).map(|learned| learned.snapshot());
                EndpointState {
                    key: key.key_fingerprint.clone(),
                    adaptations: learned.map(|learned| learned.words()).unwrap_or_default(),
                    ..limiter.describe()
                }
            })
            .collect();
        states.sort_by(|a, b| (&a.address, &a.model, &a.key).cmp(&(&b.address, &b.model, &b.key)));
        states
    }

    /// What was learned about a model.
    pub(crate) fn learned(&self, address: &Address, model: &str) -> Arc<Learned> {
        Arc::clone(lock(&self.learned).entry(model_key(address, model)).or_default())
    }

    /// The tokens of a source for a scope, kept for all runs.
    pub(crate) fn tokens(&self, source: TokenSource, scope: &str) -> Arc<Tokens> {
        let wanted = Tokens::new(source, scope);
        let mut known = lock(&self.tokens);
        if let Some(same) = known.iter().find(|one| one.is_for_same(&wanted)) {
            return Arc::clone(same);
        }
        let wanted = Arc::new(wanted);
        known.push(Arc::clone(&wanted));
        wanted
    }

    /// The client for a kind of connection. Certificates are read only for the first encrypted one.
    pub(crate) fn client(&self, transport: Transport) -> Result<Client, SetupError> {
        let mut clients = lock(&self.clients);
        if let Some(client) = clients.get(&transport) {
            return Ok(client.clone());
        }
        let client = build_client(transport).map_err(|err| SetupError::Client(causes(&err)))?;
        clients.insert(transport, client.clone());
        Ok(client)
    }
}

/// Redirects are never followed: the key would go to a host that it was not meant for.
fn build_client(transport: Transport) -> reqwest::Result<Client> {
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(30));
    if transport.loopback {
        builder = builder.no_proxy();
    }
    if !transport.tls {
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// An error with all that caused it, without the address: its query may hold a key.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

fn model_key(address: &Address, model: &str) -> ModelKey {
    ModelKey { base_url: address.public.clone(), model: model.to_owned() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
