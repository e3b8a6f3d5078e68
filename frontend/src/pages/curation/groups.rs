//! Tasks that belong together, and those that are picked. Pure.

use skillopt_domain::api::{CuratedTask, CuratedTasks};

/// The picked tasks that are still there, in the order of the table.
pub(super) fn picked<'a>(tasks: &'a CuratedTasks, ids: &[String]) -> Vec<&'a CuratedTask> {
    tasks.tasks.iter().filter(|task| ids.contains(&task.id)).collect()
}

/// These tasks with all that share a session with them or say the same: they stand in one split.
pub(super) fn with_their_group(tasks: &CuratedTasks, ids: &[String]) -> Vec<String> {
    let groups: Vec<u32> = picked(tasks, ids).iter().map(|task| task.group).collect();
    let belongs = |task: &&CuratedTask| groups.contains(&task.group);
    tasks.tasks.iter().filter(belongs).map(|task| task.id.clone()).collect()
}

/// The table after a click into the box of a row.
pub(super) fn toggled(ids: &[String], id: &str) -> Vec<String> {
    let mut ids = ids.to_vec();
    match ids.iter().position(|known| known == id) {
        Some(at) => drop(ids.remove(at)),
        None => ids.push(id.to_owned()),
    }
    ids
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Tasks `a`, `b` and so on, each with the number of its group.
    pub(in crate::pages::curation) fn tasks(groups: &[u32]) -> CuratedTasks {
        let task = |(at, group): (u8, &u32)| CuratedTask {
            id: char::from(b'a' + at).to_string(),
            group: *group,
            split: "train".into(),
            ..CuratedTask::default()
        };
        CuratedTasks { tasks: (0..).zip(groups).map(task).collect(), ..CuratedTasks::default() }
    }

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn what_belongs_together_moves_together() {
        let all = tasks(&[1, 2, 1, 3]);
        assert_eq!(with_their_group(&all, &ids(&["a"])), ["a", "c"]);
        assert_eq!(with_their_group(&all, &ids(&["d", "b"])), ["b", "d"]);
        assert!(with_their_group(&all, &ids(&["gone"])).is_empty());
    }

    #[test]
    fn a_click_picks_and_picks_no_more() {
        let one = toggled(&[], "a");
        assert_eq!((toggled(&one, "b"), toggled(&one, "a")), (ids(&["a", "b"]), ids(&[])));
        assert_eq!(picked(&tasks(&[1, 2]), &ids(&["b", "x", "a"])).len(), 2);
    }
}
