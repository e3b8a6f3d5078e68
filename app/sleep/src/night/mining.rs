//! From sessions to tasks: by a model where the config says so, else by rules.

use super::NightFailure;
use super::work::Work;
use crate::backend::BackendMiner;
use crate::consolidate::NightError;
use crate::digest::SessionDigest;
use crate::mine::{MinedReply, ModelMined, mine_heuristically, mine_with_model};
use crate::prompts;
use crate::task::TaskRecord;
use serde_json::json;
use skillopt_domain::night::NightStage;
use std::num::NonZeroUsize;

/// What a night found in its sessions.
#[derive(Default)]
pub(super) struct Mined<'a> {
    /// As often as they were asked.
    pub(super) tasks: Vec<TaskRecord>,
    /// Sessions on which no answer could be used.
    pub(super) unread: Vec<&'a SessionDigest>,
    /// For people.
    pub(super) notes: Vec<String>,
}

impl Work<'_> {
    pub(super) async fn mine<'a>(
        &self,
        digests: &'a [SessionDigest],
    ) -> Result<Mined<'a>, NightFailure> {
        self.watch.stage(NightStage::Mine, "looking for tasks");
        if self.backend.is_simulated() || !self.plan.config.llm_mine {
            return Ok(Mined { tasks: mine_heuristically(digests), ..Mined::default() });
        }
        let mut mined = self.ask_about(digests).await?;
        if !mined.unread.is_empty() {
            let n = mined.unread.len();
            mined.notes.push(format!(
                "the miner's answers on {n} sessions could not be used; those sessions come again"
            ));
        }
        if mined.tasks.is_empty() && !digests.is_empty() {
            let is_read = |digest: &&SessionDigest| !mined.unread.contains(digest);
            let read: Vec<SessionDigest> = digests.iter().filter(is_read).cloned().collect();
            mined.tasks = mine_heuristically(&read);
            mined.notes.push(
                "the miner found no task that can be scored; tasks were found by rules".to_owned(),
            );
        }
        Ok(mined)
    }

    async fn ask_about<'a>(&self, digests: &'a [SessionDigest]) -> Result<Mined<'a>, NightFailure> {
        let at_once = NonZeroUsize::new(usize::from(self.plan.config.env.workers));
        let at_once = at_once.unwrap_or(NonZeroUsize::MIN);
        let template = self.plan.prompts.text(&prompts::MINER);
        let miner = BackendMiner { backend: self.backend.as_ref() };
        let answers = mine_with_model(&miner, template, digests, at_once).await;
        let n_asked = answers.len();
        let mut mined = Mined::default();
        let mut last = String::new();
        for (digest, answer) in answers {
            last = match answer {
                ModelMined::Read(read) => {
                    self.tell_read(digest, &read);
                    mined.tasks.extend(read.tasks);
                    continue;
                }
                ModelMined::Failed(error) if error.ends_night() => {
                    return Err(NightError::Backend(error).into());
                }
                ModelMined::Unreadable { reply, error } => {
                    self.tell_unread(digest, Some(&reply), &error.to_string())
                }
                ModelMined::Failed(error) => self.tell_unread(digest, None, &error.to_string()),
            };
            mined.unread.push(digest);
        }
        if n_asked > 0 && mined.unread.len() == n_asked {
            return Err(NightFailure::Mining { n_sessions: crate::replay::count(n_asked), last });
        }
        Ok(mined)
    }

    fn tell_read(&self, digest: &SessionDigest, read: &MinedReply) {
        let dropped = read.dropped.iter().map(|dropped| format!("{:?}", dropped.reason));
        let fields = json!({
            "session": digest.session_id, "n_tasks": read.tasks.len(),
            "dropped": dropped.collect::<Vec<_>>(),
        });
        self.evidence.record("mine", "task_mined", fields);
    }

    /// Gives the error back.
    fn tell_unread(&self, digest: &SessionDigest, reply: Option<&str>, error: &str) -> String {
        let fields = json!({"session": digest.session_id, "reply": reply, "error": error});
        self.evidence.record("mine", "miner_exchange", fields);
        error.to_owned()
    }
}
