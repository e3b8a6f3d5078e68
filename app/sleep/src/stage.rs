//! A night's proposal as a folder: manifest, report, proposed documents and their differences. Writes below
//! `<project>/.skillopt-sleep/` and never a live document.

mod diff_file;
mod manifest;
mod names;
mod nights;
mod publish;
mod purge;
mod reserve;
mod target;
#[cfg(test)]
mod tests;

pub use crate::skills::{BadSkillName, SkillName, folded};
pub use manifest::{Manifest, ManifestError, Row};
pub use names::{folded_path, real_path, safe_live_path};
pub use nights::{Night, latest, night, nights};
pub use publish::{Proposal, ProposedDoc, PublishError, Published, publish};
pub use purge::{LeftIn, Purged, Retention, purge, purge_leftovers};
pub use reserve::{Reserved, lock_project, reserve, staging_root};
pub use target::{MemoryFile, Pinned, Role, TargetError, TargetFault, TargetSpec, check_targets};
pub(crate) use target::{check_file, check_name, is_inside};
