//! The folders of attempts that the Python system reads, made of the one file that our runs have.

use super::{HandoverError, failed, put, unfit};
use crate::host::run_folder::predictions::Prediction;
use skillopt_domain::file_name::safe_file_name;
use skillopt_engine::ports::Speaker;
use std::fs;
use std::path::Path;

/// Writes `<id>/` with the conversation and its two prompts into `target` for each line of `file`.
pub(super) fn write(file: &Path, target: &Path) -> Result<(), HandoverError> {
    let text = fs::read_to_string(file).map_err(|error| failed(file, error))?;
    for (number, line) in (1..).zip(text.lines()) {
        let broken = |error| unfit(file, &format!("line {number} is no attempt: {error}"));
        let prediction: Prediction<'_> = serde_json::from_str(line).map_err(broken)?;
        let folder = target.join(safe_file_name(&prediction.id));
        let conversation =
            serde_json::to_string_pretty(&prediction.conversation).map_err(broken)?;
        put(&folder.join("conversation.json"), &(conversation + "\n"))?;
        put(&folder.join("target_system_prompt.txt"), prediction.prompt(Speaker::System))?;
        put(&folder.join("target_user_prompt.txt"), prediction.prompt(Speaker::User))?;
    }
    Ok(())
}
