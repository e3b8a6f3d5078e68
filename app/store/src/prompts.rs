//! Which prompts a run was made with, and their texts.

use crate::blobs;
use crate::error::StoreFailure;
use crate::open::Store;
use crate::reading::run_no;
use crate::sql::{Doing, from_json};
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::prompt::PromptUse;

impl Store {
    /// The prompts of a run; none for one that was made before they were on record.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn prompts(&self, run: &RunId) -> Result<Vec<PromptUse>, StoreFailure> {
        let action = "read a run's prompts";
        let mut conn = self.read(action).await?;
        let run_no = run_no(&mut conn, run).await?;
        let text: Option<String> = sqlx::query_scalar(
            "SELECT kind_json FROM events WHERE run_no = ? AND type = 'prompts_chosen' ORDER BY seq LIMIT 1",
        )
        .bind(run_no)
        .fetch_optional(&mut *conn)
        .await
        .doing(action)?;
        let event = text.map(|text| from_json("an event", &text)).transpose()?;
        Ok(match event {
            Some(EventKind::PromptsChosen { prompts }) => prompts,
            _ => Vec::new(),
        })
    }

    /// The text of a prompt of this run; `None` when the run has no prompt with this hash. Texts of calls share the
    /// same shelf and are not served.
    ///
    /// # Errors
    /// As [`Store::prompts`].
    pub async fn prompt_text(
        &self,
        run: &RunId,
        hash: &Sha256Hex,
    ) -> Result<Option<String>, StoreFailure> {
        if self.prompts(run).await?.iter().all(|prompt| prompt.hash != *hash) {
            return Ok(None);
        }
        let mut conn = self.read("read a prompt").await?;
        blobs::read(&mut conn, hash.as_str()).await
    }
}
