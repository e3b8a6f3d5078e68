//! Schedules: the built-in clock with a fake one, and installers against fake programs.

mod clock;
mod installers;
