//! Asks a model about each session. How it is asked is the caller's: this crate's core owns models.

use super::{MinedReply, miner_prompt, read_miner_reply};
use crate::digest::SessionDigest;
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use skillopt_engine::reply::ReplyError;
use std::num::NonZeroUsize;

/// Someone who answers the miner's prompts.
#[async_trait]
pub trait AskMiner: Send + Sync {
    /// Why there is no answer.
    type Error: Send;

    /// Answers a prompt about a session.
    async fn ask(&self, session: &SessionDigest, prompt: String) -> Result<String, Self::Error>;
}

/// What mining a session came to.
#[derive(Debug)]
pub enum ModelMined<E> {
    /// The reply was read; it may hold no task.
    Read(MinedReply),
    /// The reply could not be read.
    Unreadable {
        /// The reply.
        reply: String,
        /// Why.
        error: ReplyError,
    },
    /// There was no reply.
    Failed(E),
}

/// Asks about each session with something to ask about; `at_once` calls are in flight at a time. Results stand in the
/// order of the sessions, whichever answer comes first; a session that was not asked about is not among them. Dropping
/// the future drops the calls in flight.
pub async fn mine_with_model<'a, M: AskMiner>(
    miner: &M,
    template: &str,
    digests: &'a [SessionDigest],
    at_once: NonZeroUsize,
) -> Vec<(&'a SessionDigest, ModelMined<M::Error>)> {
    let asked = digests.iter().filter(|digest| super::requests(digest).next().is_some());
    let calls: Vec<_> = asked.map(|digest| mine_one(miner, template, digest)).collect();
    stream::iter(calls).buffered(at_once.get()).collect().await
}

async fn mine_one<'a, M: AskMiner>(
    miner: &M,
    template: &str,
    digest: &'a SessionDigest,
) -> (&'a SessionDigest, ModelMined<M::Error>) {
    let mined = match miner.ask(digest, miner_prompt(template, digest)).await {
        Err(error) => ModelMined::Failed(error),
        Ok(reply) => match read_miner_reply(digest, &reply) {
            Ok(mined) => ModelMined::Read(mined),
            Err(error) => ModelMined::Unreadable { reply, error },
        },
    };
    (digest, mined)
}
