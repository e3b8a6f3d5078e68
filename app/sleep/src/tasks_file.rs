//! Tasks in a file that a person reviews.
