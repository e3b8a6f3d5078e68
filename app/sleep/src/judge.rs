//! Scores of replies: rule checks, exact answers, rubrics.
