//! What nights remember: when they last harvested, their history, tasks for recall.
