//! Finds skills by name, and only inside of their roots.
