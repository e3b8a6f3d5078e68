//! The learned block of a document: the only part of a live file that a night may write.
