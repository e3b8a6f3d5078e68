//! Variants of tasks, recall of older ones and several rollouts a task.
