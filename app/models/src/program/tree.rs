//! A started program with everything that it started: who is left of it, and how it is ended. No output is read here.

use std::time::Duration;

/// How long a program that is called as a model may take to end by itself after it was told to.
pub(super) const GRACE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The processes of one call. Whoever drops it early kills them.
#[derive(Debug)]
pub(super) struct Tree {
    leader: u32,
    /// What stands in the environment of all of them and of nobody else, as `NAME=value`.
    mark: String,
    grace: Duration,
    has_ended: bool,
}

impl Tree {
    /// `leader` leads a process group of its own.
    pub(super) fn new(leader: u32, mark: String, grace: Duration) -> Self {
        Self { leader, mark, grace, has_ended: false }
    }

    /// Tells all that are left to end, and kills who does not within the grace. Safe to drop: all are killed then.
    pub(super) async fn end(&mut self) {
        if self.signal(Urgency::Please) {
            let tries = self.grace.as_millis() / LOOK_AGAIN.as_millis();
            for _ in 0..tries {
                if self.is_gone() {
                    break;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            self.kill();
        }
        self.has_ended = true;
    }

    /// Whoever starts another process between a look and a kill is found by the next look.
    fn kill(&self) {
        const ROUNDS: usize = 10;
        for _ in 0..ROUNDS {
            if !self.signal(Urgency::Now) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Urgency {
    Please,
    Now,
}

#[cfg(unix)]
impl Tree {
    /// True when anybody was there to hear it.
    fn signal(&self, urgency: Urgency) -> bool {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let signal = match urgency {
            Urgency::Please => Signal::TERM,
            Urgency::Now => Signal::KILL,
        };
        let pid = |number: u32| i32::try_from(number).ok().and_then(Pid::from_raw);
        let survivors = self.survivors();
        // The group is told as a whole, so that nobody escapes by starting another process meanwhile. The number of an
        // empty group may be another's by now.
        if survivors.iter().any(|survivor| survivor.is_of_group)
            && let Some(group) = pid(self.leader)
        {
            let _ = kill_process_group(group, signal);
        }
        for survivor in survivors.iter().filter(|survivor| !survivor.is_of_group) {
            if let Some(pid) = pid(survivor.pid) {
                // It may have ended by itself in between.
                let _ = kill_process(pid, signal);
            }
        }
        !survivors.is_empty()
    }

    fn is_gone(&self) -> bool {
        self.survivors().is_empty()
    }
}

/// A process of the tree that has not ended.
#[cfg(unix)]
#[derive(Clone, Copy, Debug)]
struct Survivor {
    pid: u32,
    is_of_group: bool,
}

#[cfg(target_os = "linux")]
impl Tree {
    /// By its group, or by the mark in its environment when it left the group.
    fn survivors(&self) -> Vec<Survivor> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name in brackets may hold anything.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?;
            let group: u32 = fields.nth(1)?.parse().ok()?;
            if matches!(state, "Z" | "X") {
                return None;
            }
            let is_of_group = group == self.leader;
            (is_of_group || self.is_marked(pid)).then_some(Survivor { pid, is_of_group })
        })
        .collect()
    }

    fn is_marked(&self, pid: u32) -> bool {
        let Ok(environ) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
        environ.split(|byte| *byte == 0).any(|pair| pair == self.mark.as_bytes())
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
impl Tree {
    /// Only the group is known here.
    fn survivors(&self) -> Vec<Survivor> {
        use rustix::process::{Pid, test_kill_process_group};
        let group = i32::try_from(self.leader).ok().and_then(Pid::from_raw);
        let is_there = group.is_some_and(|group| test_kill_process_group(group).is_ok());
        let leader = Survivor { pid: self.leader, is_of_group: true };
        is_there.then_some(leader).into_iter().collect()
    }
}

#[cfg(not(unix))]
impl Tree {
    fn signal(&self, _: Urgency) -> bool {
        // `taskkill` ends a process with all that it started.
        let pid = self.leader.to_string();
        let mut taskkill = std::process::Command::new("taskkill");
        taskkill.args(["/T", "/F", "/PID", &pid]);
        taskkill.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let _ = taskkill.status();
        let _ = &self.mark;
        false
    }

    fn is_gone(&self) -> bool {
        true
    }
}
