//! The evidence log of a night: one JSON line for everything that led to its decision.
