//! Three disjoint splits. They can only be built by a constructor that refuses shared ids and shared content.

use crate::ports::Task;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use std::collections::HashMap;

/// Train, selection (validation) and test tasks.
///
/// Invariant: no id and no content occurs twice, neither within a split nor across splits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splits {
    train: Vec<Task>,
    selection: Vec<Task>,
    test: Vec<Task>,
}

/// Which split a task is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitName {
    /// For rollouts that are reflected on.
    Train,
    /// For the gate.
    Selection,
    /// For the final measurement only.
    Test,
}

impl SplitName {
    /// The name of the folder in a split directory.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Selection => "val",
            Self::Test => "test",
        }
    }
}

impl std::fmt::Display for SplitName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.folder())
    }
}

/// The splits would lie.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// Nothing to train on.
    #[error("the train split is empty")]
    NoTrain,
    /// An id occurs twice.
    #[error(
        "the id `{id}` is in {first} and again in {second}; ids must be unique over all splits"
    )]
    SharedId {
        /// The id.
        id: TaskId,
        /// Where it was seen first.
        first: SplitName,
        /// Where it was seen again.
        second: SplitName,
    },
    /// Two ids stand for one task.
    #[error(
        "`{id}` in {second} has the same content as `{first_id}` in {first}; a task may be in one split only"
    )]
    SharedContent {
        /// The later task.
        id: TaskId,
        /// The earlier task.
        first_id: TaskId,
        /// Split of the earlier task.
        first: SplitName,
        /// Split of the later task.
        second: SplitName,
    },
}

impl Splits {
    /// Checks and keeps three splits. The selection split may be empty (nothing can be verified then), the
    /// test split too (nothing is measured at the end).
    ///
    /// # Errors
    /// [`SplitError`] names the first task that breaks the rules.
    pub fn try_new(
        train: Vec<Task>,
        selection: Vec<Task>,
        test: Vec<Task>,
    ) -> Result<Self, SplitError> {
        if train.is_empty() {
            return Err(SplitError::NoTrain);
        }
        let named = [
            (SplitName::Train, &train),
            (SplitName::Selection, &selection),
            (SplitName::Test, &test),
        ];
        let mut ids: HashMap<&TaskId, SplitName> = HashMap::new();
        let mut contents: HashMap<&Sha256Hex, (&TaskId, SplitName)> = HashMap::new();
        for (name, task) in
            named.into_iter().flat_map(|(name, tasks)| tasks.iter().map(move |t| (name, t)))
        {
            if let Some(first) = ids.insert(&task.id, name) {
                return Err(SplitError::SharedId { id: task.id.clone(), first, second: name });
            }
            if let Some((first_id, first)) = contents.insert(&task.content, (&task.id, name)) {
                return Err(SplitError::SharedContent {
                    id: task.id.clone(),
                    first_id: first_id.clone(),
                    first,
                    second: name,
                });
            }
        }
        Ok(Self { train, selection, test })
    }

    /// Tasks to train on; never empty.
    #[must_use]
    pub fn train(&self) -> &[Task] {
        &self.train
    }

    /// Tasks of the gate.
    #[must_use]
    pub fn selection(&self) -> &[Task] {
        &self.selection
    }

    /// Tasks of the final measurement.
    #[must_use]
    pub fn test(&self) -> &[Task] {
        &self.test
    }

    /// The tasks of a split.
    #[must_use]
    pub fn of(&self, name: SplitName) -> &[Task] {
        match name {
            SplitName::Train => &self.train,
            SplitName::Selection => &self.selection,
            SplitName::Test => &self.test,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, content: &str) -> Task {
        Task {
            id: id.into(),
            title: id.to_owned(),
            task_type: "qa".to_owned(),
            content: Sha256Hex::of(content),
        }
    }

    #[test]
    fn c53_a_shared_id_is_refused_and_named() {
        let err = Splits::try_new(vec![task("a", "1")], vec![task("a", "2")], vec![])
            .expect_err("refused");
        assert!(err.to_string().contains("`a` is in train and again in val"), "{err}");
    }

    #[test]
    fn c53_the_same_content_under_two_ids_is_refused() {
        let err = Splits::try_new(vec![task("a", "1")], vec![task("b", "1")], vec![])
            .expect_err("refused");
        assert!(matches!(err, SplitError::SharedContent { .. }), "{err}");
    }

    #[test]
    fn c53_an_empty_train_split_is_refused_an_empty_selection_split_is_not() {
        assert_eq!(Splits::try_new(vec![], vec![], vec![]), Err(SplitError::NoTrain));
        assert!(Splits::try_new(vec![task("a", "1")], vec![], vec![]).is_ok());
    }
}
