//! Proofs that need no key: personas, harmful edits, benchmark folders, transfer.
