//! Tells in the journal of a run when an endpoint of its models stops answering, and when it answers again. These
//! events depend on time, not on the place in the run, and nothing is decided by them.

use crate::ports::{Journal, StoreError};
use crate::train::Ports;
use futures::future::try_join;
use skillopt_domain::event::EventKind;
use skillopt_domain::outage::Outage;
use tokio::sync::watch;

/// Follows the endpoints of both roles. Returns only when the journal cannot be written. Safe to drop.
pub(crate) async fn tell_outages(ports: &Ports) -> StoreError {
    let journal = ports.journal.as_ref();
    let (target, optimizer) = (ports.target.outages(), ports.optimizer.outages());
    match try_join(follow(journal, target), follow(journal, optimizer)).await {
        Err(error) => error,
        Ok(_) => std::future::pending().await,
    }
}

/// Returns when the model is gone or has no endpoint.
async fn follow(
    journal: &dyn Journal,
    outages: Option<watch::Receiver<Option<Outage>>>,
) -> Result<(), StoreError> {
    let Some(mut outages) = outages else { return Ok(()) };
    let mut told = None::<Outage>;
    loop {
        let now = outages.borrow_and_update().clone();
        match (&told, &now) {
            (Some(before), None) => tell_end(journal, before).await?,
            // The end was missed, because the next outage began so soon.
            (Some(before), Some(next)) if before.since_ms != next.since_ms => {
                tell_end(journal, before).await?;
                tell_outage(journal, next).await?;
            }
            (_, Some(outage)) => tell_outage(journal, outage).await?,
            (None, None) => {}
        }
        told = now;
        if outages.changed().await.is_err() {
            return Ok(());
        }
    }
}

async fn tell_outage(journal: &dyn Journal, outage: &Outage) -> Result<(), StoreError> {
    let key = format!("{}/{}", key_of(outage), outage.next_try_ms);
    journal.append(&key, EventKind::EndpointDown(outage.clone())).await
}

async fn tell_end(journal: &dyn Journal, outage: &Outage) -> Result<(), StoreError> {
    let Outage { endpoint, model, since_ms, .. } = outage.clone();
    let key = format!("{}/over", key_of(outage));
    journal.append(&key, EventKind::EndpointUp { endpoint, model, since_ms }).await
}

fn key_of(outage: &Outage) -> String {
    format!("outage/{}/{}/{}", outage.since_ms, outage.endpoint, outage.model)
}
