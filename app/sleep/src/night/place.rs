//! Where a night keeps what it finds while it runs: a folder that is no proposal yet, or a log.

use super::{NightFailure, NightPlan};
use crate::evidence::{Evidence, EvidenceOptions};
use crate::redact::redact;
use crate::stage::{Reserved, reserve};
use skillopt_engine::ports::Clock;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a night keeps what it finds while it runs.
pub(super) enum Place {
    Staging(Reserved),
    /// A dry run has a log of its own and nothing else.
    Log(PathBuf),
}

impl Place {
    pub(super) fn make(plan: &NightPlan, at_ms: u64) -> Result<Self, NightFailure> {
        let project = &plan.config.invoked_project;
        let failed = |action: String| move |reason| NightFailure::Io { action, reason };
        if !plan.is_dry {
            let action = format!("make a folder for the night in {}", project.display());
            return reserve(project, at_ms).map(Self::Staging).map_err(failed(action));
        }
        let folder = plan.config.state_dir.join("evidence");
        let log = folder.join(format!("dryrun-{}.jsonl", crate::instant::stamp(at_ms)));
        if plan.config.evidence_log {
            let action = format!("make {}", folder.display());
            std::fs::create_dir_all(&folder).map_err(failed(action))?;
        }
        Ok(Self::Log(log))
    }

    /// The place with its log, or nothing of it.
    pub(super) fn with_evidence(
        self,
        plan: &NightPlan,
        clock: &Arc<dyn Clock>,
    ) -> Result<(Self, Arc<Evidence>), NightFailure> {
        match self.evidence(plan, clock) {
            Ok(evidence) => Ok((self, evidence)),
            Err(failure) => {
                self.give_up();
                Err(failure)
            }
        }
    }

    fn evidence(
        &self,
        plan: &NightPlan,
        clock: &Arc<dyn Clock>,
    ) -> Result<Arc<Evidence>, NightFailure> {
        if !plan.config.evidence_log {
            return Ok(Arc::new(Evidence::off()));
        }
        let path = match self {
            Self::Staging(reserved) => reserved.dir().join("evidence.jsonl"),
            Self::Log(log) => log.clone(),
        };
        let sink = private_file(&path).map_err(|reason| NightFailure::Io {
            action: format!("write {}", path.display()),
            reason,
        })?;
        let options = EvidenceOptions {
            redact: Arc::new(|text| redact(text).text),
            max_chars: usize::try_from(plan.config.evidence_max_chars).unwrap_or(usize::MAX),
            clock: Arc::clone(clock),
        };
        Ok(Arc::new(Evidence::new(Box::new(sink), options)))
    }

    /// The night came to nothing. Best effort: a folder without manifest is no proposal.
    pub(super) fn give_up(self) {
        if let Self::Staging(reserved) = self {
            let _ = reserved.give_up();
        }
    }
}

/// A new file that only its owner may read: it quotes sessions.
fn private_file(path: &Path) -> std::io::Result<impl Write + Send + 'static> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
