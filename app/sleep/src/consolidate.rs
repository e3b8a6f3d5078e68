//! One epoch over the tasks of a night: baseline, edits, gate trials, decision.
