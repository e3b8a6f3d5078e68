//! Which task trains, which validates, which tests: stable over nights, sessions kept whole.
