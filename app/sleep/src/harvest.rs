//! Reads the transcripts of coding agents, strictly read-only, into digests.
