//! Nights without an API: prompts in files, answered by whoever can.
