//! Edits out of failed and contrasting attempts.
