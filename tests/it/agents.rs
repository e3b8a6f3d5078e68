//! Programs that serve as models, against a stand-in that speaks each one's documented protocol.

mod conformance;
mod faults;
mod looking;
mod processes;
mod scene;
mod secrets;
mod training;
