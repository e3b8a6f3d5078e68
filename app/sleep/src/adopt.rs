//! Adoption, rejection and revert of a staged night: locks, journal, backups, receipts.
