//! The backend's optimizer as the miner asks it.

use super::{AnswerEnd, Backend, BackendError, Draw, Phase, TextQuestion};
use crate::digest::SessionDigest;
use crate::mine::AskMiner;
use async_trait::async_trait;

/// Asks a backend about sessions. What was cut off or declined is no answer.
#[derive(Clone, Copy, Debug)]
pub struct BackendMiner<'a> {
    /// Who answers.
    pub backend: &'a dyn Backend,
}

#[async_trait]
impl AskMiner for BackendMiner<'_> {
    type Error = BackendError;

    async fn ask(&self, _: &SessionDigest, prompt: String) -> Result<String, BackendError> {
        let draw = Draw::first(Phase::Mine);
        let question = TextQuestion { system: "", user: &prompt, max_tokens: None, draw };
        let said = self.backend.mine(&question).await?;
        match said.end {
            AnswerEnd::Done => Ok(said.text),
            AnswerEnd::Cut => Err(BackendError::Unusable("the reply was cut off".to_owned())),
            AnswerEnd::Declined => Err(BackendError::Unusable("the model declined".to_owned())),
        }
    }
}
