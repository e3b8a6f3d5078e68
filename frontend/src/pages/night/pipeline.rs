//! The stages of a night with their counts. The cells are worked out purely; the view only draws them.

use super::state::NightState;
use super::words::{final_n, val_and_train};
use crate::components::dynamic::{CollectAny, dynamic};
use crate::components::icon::Icon;
use crate::components::look::night_stage_name;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::NightDetail;
use skillopt_domain::night::report::SleepReport;
use skillopt_domain::night::{NightStage, NightStatus};

/// How far a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    Done,
    Running,
    Waiting,
    /// The night waits here for a person.
    Asking,
    /// The night ended here.
    Ended,
    /// The night ended before.
    Never,
}

impl Reached {
    fn of(stage: NightStage, detail: &NightDetail) -> Self {
        let now = detail.night.progress.stage;
        match detail.night.status {
            NightStatus::Staged | NightStatus::Rehearsed => Self::Done,
            _ if stage < now => Self::Done,
            NightStatus::Running if stage == now => Self::Running,
            NightStatus::Running => Self::Waiting,
            // It did its work and found nothing.
            NightStatus::Empty if stage == now => Self::Done,
            NightStatus::Pending if stage == now => Self::Asking,
            NightStatus::Pending => Self::Waiting,
            _ if stage == now => Self::Ended,
            _ => Self::Never,
        }
    }

    /// The night is here now.
    fn is_current(self) -> bool {
        matches!(self, Self::Running | Self::Asking)
    }

    /// Colour and shape.
    fn look(self) -> (&'static str, &'static str) {
        match self {
            Self::Done => ("done", "check"),
            Self::Running => ("running", "running"),
            Self::Asking => ("paused", "paused"),
            Self::Waiting | Self::Never => ("waiting", "queued"),
            Self::Ended => ("error", "error"),
        }
    }
}

/// One field of the pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    name: &'static str,
    reached: Reached,
    /// The number, said loudly; may be empty.
    bold: String,
    rest: String,
    /// How much of a running stage is done, as a CSS percentage.
    done: String,
}

#[component]
pub(super) fn Pipeline(night: NightState) -> impl IntoView {
    let cells = night.memo(cells);
    let view = move || cells.get().into_iter().map(cell_view).collect_any();
    dynamic(move || {
        view! { <ol class="pipeline" aria-label="Stages of the night">{view()}</ol> }.into_any()
    })
}

fn cell_view(cell: Cell) -> AnyView {
    let (status, icon) = cell.reached.look();
    let title = format!("{} {}", cell.bold, cell.rest);
    let current = cell.reached.is_current().then_some("step");
    view! {
        <li class="stage" data-status=status aria-current=current style:--done=cell.done>
            <span class="stage__name"><Icon name=icon/>{cell.name}</span>
            <div class="stage__count" title=title><b>{cell.bold}</b>" "{cell.rest}</div>
            <i class="stage__fill"></i>
        </li>
    }
    .into_any()
}

/// The stages; what is masked in the harvest has a field of its own.
fn cells(detail: &NightDetail) -> Vec<Cell> {
    let mut cells = Vec::new();
    for stage in NightStage::ALL {
        let reached = Reached::of(stage, detail);
        cells.push(cell(night_stage_name(stage), reached, detail, stage_result(stage, detail)));
        if stage == NightStage::Harvest {
            let masked = detail.night.progress.n_masked;
            let result = match masked {
                Some(n) => (fmt::count(n), "secrets masked".to_owned()),
                None => (String::new(), "not needed".to_owned()),
            };
            let masking = cell("Redact", reached, detail, result);
            cells.push(match reached {
                // It has no count of its own: each session is masked as it is read.
                Reached::Running => {
                    Cell { bold: String::new(), rest: "as it is read".to_owned(), ..masking }
                }
                _ => masking,
            });
        }
    }
    cells
}

fn cell(
    name: &'static str,
    reached: Reached,
    detail: &NightDetail,
    result: (String, String),
) -> Cell {
    let (bold, rest) = match reached {
        Reached::Done => result,
        Reached::Running => so_far(detail),
        Reached::Asking => (String::new(), "waits for answers".to_owned()),
        Reached::Waiting => (String::new(), "waiting".to_owned()),
        Reached::Ended => (String::new(), "ended here".to_owned()),
        Reached::Never => (String::new(), "not reached".to_owned()),
    };
    let progress = &detail.night.progress;
    let done = match progress.total.filter(|_| reached == Reached::Running) {
        Some(total) => fmt::share(progress.done, total),
        None => "0%".to_owned(),
    };
    Cell { name, reached, bold, rest, done }
}

fn so_far(detail: &NightDetail) -> (String, String) {
    let progress = &detail.night.progress;
    let count = match progress.total {
        Some(total) => format!("{} of {total}", progress.done),
        None if progress.done > 0 => fmt::count(progress.done.into()),
        None => String::new(),
    };
    let doing =
        if progress.doing.is_empty() { "working".to_owned() } else { progress.doing.clone() };
    (count, doing)
}

/// What a stage that is done has brought.
fn stage_result(stage: NightStage, detail: &NightDetail) -> (String, String) {
    let progress = &detail.night.progress;
    let report = detail.report.as_ref();
    let words = |bold: String, rest: &str| (bold, rest.to_owned());
    match stage {
        NightStage::Harvest => match progress.n_sessions {
            Some(n) => {
                let kept = detail.sources.iter().filter(|source| source.n_kept > 0).count();
                let sources = u64::try_from(kept).unwrap_or_default();
                let rest = format!("sessions, {}", fmt::plural(sources, "source", "sources"));
                (fmt::count(n.into()), rest)
            }
            None => words(String::new(), "not needed"),
        },
        NightStage::Mine => match progress.n_tasks {
            Some(n) => words(fmt::count(n.into()), if n == 1 { "task" } else { "tasks" }),
            None => words(String::new(), "done"),
        },
        NightStage::Replay => match val_and_train(&detail.tasks) {
            Some((val, train)) => words(format!("{val} + {train}"), "val + train"),
            None => match report {
                Some(report) => words(fmt::count(report.n_replayed.into()), "tasks tried"),
                None => words(String::new(), "done"),
            },
        },
        NightStage::Reflect => match report.map(n_proposed) {
            Some(all) => {
                words(all.to_string(), if all == 1 { "edit proposed" } else { "edits proposed" })
            }
            None => words(String::new(), "done"),
        },
        NightStage::Consolidate => match report {
            Some(report) => {
                let (kept, all) = (report.edits.len(), n_proposed(report));
                let edits = if kept == 1 { "edit" } else { "edits" };
                words(kept.to_string(), &format!("{edits} kept of {all}"))
            }
            None => words(String::new(), "done"),
        },
        NightStage::Stage => match report.filter(|report| report.candidate_score.is_some()) {
            Some(report) => {
                let scores = format!(
                    "{} → {}",
                    fmt::score(report.baseline_score),
                    fmt::score(report.candidate_score)
                );
                (scores, fmt::n(final_n(report)))
            }
            None if detail.night.is_dry => words(String::new(), "nothing is kept"),
            None => words(String::new(), "done"),
        },
    }
}

/// Edits that the optimizer proposed, whatever became of them.
fn n_proposed(report: &SleepReport) -> usize {
    report.edits.len() + report.rejected_edits.len() + report.unmatched_edits.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::night::words::tests::{detail, report};
    use skillopt_domain::api::SourceItem;

    fn told(cells: &[Cell], at: usize) -> (Reached, String) {
        (cells[at].reached, format!("{} {}", cells[at].bold, cells[at].rest))
    }

    #[test]
    fn a_night_that_is_done_tells_the_result_of_each_stage() {
        let mut night = detail(NightStatus::Staged);
        night.report = Some(report());
        let progress = &mut night.night.progress;
        (progress.n_sessions, progress.n_masked, progress.n_tasks) = (Some(41), Some(17), Some(29));
        night.sources = vec![SourceItem { n_kept: 41, ..SourceItem::default() }];
        let cells = cells(&night);
        assert_eq!(cells.len(), 7);
        assert!(cells.iter().all(|cell| cell.reached == Reached::Done));
        let words: Vec<String> = (0..7).map(|at| told(&cells, at).1).collect();
        assert_eq!(words[0], "41 sessions, 1 source");
        assert_eq!(words[1], "17 secrets masked");
        assert_eq!(words[2], "29 tasks");
        assert_eq!(words[4], "2 edits proposed");
        assert_eq!(words[5], "1 edit kept of 2");
        assert_eq!(words[6], "0.500 → 0.750 n = 4");
    }

    #[test]
    fn a_running_stage_tells_how_far_it_is_and_later_ones_wait() {
        let mut night = detail(NightStatus::Running);
        night.night.progress.stage = NightStage::Replay;
        (night.night.progress.done, night.night.progress.total) = (3, Some(12));
        night.night.progress.doing = "baseline".into();
        let cells = cells(&night);
        assert_eq!(told(&cells, 3), (Reached::Running, "3 of 12 baseline".to_owned()));
        assert_eq!(cells[3].done, "25.0%");
        assert_eq!(cells[2].reached, Reached::Done);
        assert_eq!(told(&cells, 4), (Reached::Waiting, " waiting".to_owned()));
    }

    #[test]
    fn a_night_that_asks_for_edits_reflects() {
        let mut night = detail(NightStatus::Running);
        night.night.progress.stage = NightStage::Reflect;
        night.night.progress.doing = "looking for edits of the skill".into();
        let cells = cells(&night);
        let current: Vec<_> =
            cells.iter().filter(|cell| cell.reached == Reached::Running).collect();
        assert_eq!((current.len(), current[0].name), (1, "Reflect"));
        assert_eq!(told(&cells, 4).1, " looking for edits of the skill");
        assert_eq!((cells[3].reached, cells[5].reached), (Reached::Done, Reached::Waiting));
    }

    #[test]
    fn a_night_that_waits_for_answers_has_not_failed() {
        let mut night = detail(NightStatus::Pending);
        night.night.progress.stage = NightStage::Mine;
        let cells = cells(&night);
        assert_eq!(told(&cells, 2), (Reached::Asking, " waits for answers".to_owned()));
        let current: Vec<_> = cells.iter().filter(|cell| cell.reached.is_current()).collect();
        assert_eq!((current.len(), current[0].name), (1, cells[2].name));
        assert_eq!((cells[1].reached, cells[3].reached), (Reached::Done, Reached::Waiting));
    }

    #[test]
    fn a_night_that_failed_shows_where_and_what_it_never_came_to() {
        let mut night = detail(NightStatus::Failed);
        night.night.progress.stage = NightStage::Mine;
        let cells = cells(&night);
        assert_eq!((cells[0].reached, cells[2].reached), (Reached::Done, Reached::Ended));
        assert_eq!(told(&cells, 6), (Reached::Never, " not reached".to_owned()));
    }
}
