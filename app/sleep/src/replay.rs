//! Performs tasks with the documents of a night and scores them.
