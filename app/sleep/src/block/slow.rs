//! The second region: guidance that a comparison of two versions of a skill leaves.

use super::layout::{BlockDamage, find_learned, holds_marker};
use skillopt_domain::skill::{Region, RegionRefusal, SkillDoc};

/// Why the guidance was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlowUpdateRefusal {
    /// Markers of the document do not pair up.
    #[error(transparent)]
    Damage(#[from] BlockDamage),
    /// The guidance cannot stand in the region.
    #[error(transparent)]
    Region(#[from] RegionRefusal),
}

/// What stands in the region; `None` when there is none.
///
/// # Errors
/// [`BlockDamage`] when markers do not pair up.
pub fn slow_update(text: &str) -> Result<Option<String>, BlockDamage> {
    find_learned(text)?;
    Ok(SkillDoc::parse(text).region(Region::SlowUpdate).map(str::to_owned))
}

/// The document with other guidance, in its place or at the end. Everything else stays byte for byte.
///
/// # Errors
/// [`SlowUpdateRefusal`] when the guidance is empty or holds a marker, or markers do not pair up.
pub fn with_slow_update(text: &str, guidance: &str) -> Result<String, SlowUpdateRefusal> {
    find_learned(text)?;
    if holds_marker(guidance) {
        return Err(RegionRefusal::HoldsMarker.into());
    }
    Ok(SkillDoc::parse(text).with_region(Region::SlowUpdate, guidance)?.text().to_owned())
}
