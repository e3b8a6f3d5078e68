//! Adoption: a skill version becomes a live `SKILL.md`, by compare-and-swap, with a backup and a receipt.
//! The only code that writes outside of the data directory and run folders; it never overwrites bytes that
//! nobody has seen.

mod adopter;
mod error;
mod path;
mod preview;
mod recover;
mod revert;
#[cfg(test)]
mod tests;
mod write;

pub use adopter::Adopter;
pub use error::AdoptError;
pub use path::{AdoptRoots, LivePath, PathError};
