//! Projects with more than one clock: each of them begins a night of its own. Reads nothing.

use skillopt_sleep::schedule::{InstalledJob, Scheduler};
use skillopt_store::ScheduleRow;
use std::collections::BTreeSet;
use std::path::Path;

/// A warning for each project whose nights more than one clock begins: jobs of the system, and schedules of the server
/// that are switched on.
pub(crate) fn runs_twice<'a>(
    jobs: &[InstalledJob],
    rows: impl Iterator<Item = &'a ScheduleRow>,
) -> Vec<String> {
    let of_server: BTreeSet<&str> =
        rows.filter(|row| row.terms.is_enabled).map(|row| row.project.as_str()).collect();
    let of_jobs = jobs.iter().filter_map(|job| job.project.as_deref());
    let projects: BTreeSet<&str> = of_server.iter().copied().chain(of_jobs).collect();
    let warning = |project: &str| {
        let own = jobs.iter().filter(|job| job.is_of(Path::new(project)));
        let mut clocks: Vec<Scheduler> = own.map(|job| job.scheduler).collect();
        clocks.dedup();
        let first = *clocks.first()?;
        let mut shown: Vec<&str> = clocks.into_iter().map(Scheduler::word).collect();
        if of_server.contains(project) {
            shown.push("`skillopt serve`");
        }
        (shown.len() > 1).then(|| words(project, first, &shown))
    };
    projects.into_iter().filter_map(warning).collect()
}

fn words(project: &str, first: Scheduler, clocks: &[&str]) -> String {
    format!(
        "nights of {project} begin more than once a day, by {}; to take one away: skillopt sleep unschedule --with {} \
         --project {}",
        clocks.join(" and by "),
        first.word(),
        first.quoted(project)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use skillopt_domain::ids::ScheduleId;
    use skillopt_sleep::schedule::{Scheduler, project_digest};
    use skillopt_store::{ScheduleTerms, ScheduleTime};

    fn row(project: &str, is_enabled: bool) -> ScheduleRow {
        ScheduleRow {
            id: ScheduleId::parse("0190a0c2-7b1e-7c33-8f00-0123456789ab").unwrap(),
            project: project.to_owned(),
            terms: ScheduleTerms {
                options_json: String::new(),
                time: ScheduleTime { hour: 3, minute: 0, zone: "UTC".to_owned() },
                is_enabled,
            },
            served: String::new(),
            created_at_ms: 0,
            created_by: String::new(),
            changed_at_ms: 0,
            changed_by: String::new(),
            revision: 0,
        }
    }

    fn job(&(scheduler, project): &(Scheduler, Option<&str>)) -> InstalledJob {
        let digest = project_digest(Path::new("/p/my work"));
        InstalledJob {
            scheduler,
            project: project.map(str::to_owned),
            at: None,
            name: format!("SkillOpt-Sleep-{}", &digest.as_str()[..20]),
        }
    }

    #[rstest]
    #[case(&[(Scheduler::Cron, Some("/p/my work"))], true, &["by cron and by `skillopt serve`;"])]
    #[case(&[(Scheduler::Cron, Some("/p/my work"))], false, &[])]
    // Windows does not tell the project of a task.
    #[case(&[(Scheduler::Windows, None)], true, &["--with windows --project '/p/my work'"])]
    #[case(
        &[(Scheduler::Cron, Some("/p/my work")), (Scheduler::Systemd, Some("/p/my work"))],
        false,
        &["by cron and by systemd;"]
    )]
    #[case(&[], true, &[])]
    fn a_project_with_two_clocks_is_told_and_one_with_one_is_not(
        #[case] jobs: &[(Scheduler, Option<&str>)],
        #[case] is_enabled: bool,
        #[case] expect: &[&str],
    ) {
        let rows = [row("/p/my work", is_enabled), row("/p/other", true)];
        let jobs: Vec<InstalledJob> = jobs.iter().map(job).collect();
        let told = runs_twice(&jobs, rows.iter());
        assert_eq!(told.len(), expect.len(), "{told:?}");
        for (told, expect) in told.iter().zip(expect) {
            assert!(told.contains("nights of /p/my work begin") && told.contains(expect), "{told}");
        }
    }

    #[rstest]
    #[case(Scheduler::Windows, r"--project 'C:\it''s mine'")]
    #[case(Scheduler::Cron, r"--project 'C:\it'\''s mine'")]
    fn the_command_is_quoted_for_the_shell_of_the_system(
        #[case] scheduler: Scheduler,
        #[case] expect: &str,
    ) {
        let project = r"C:\it's mine";
        let job = InstalledJob {
            scheduler,
            project: Some(project.to_owned()),
            at: None,
            name: String::new(),
        };
        let told = runs_twice(&[job], [row(project, true)].iter());
        assert!(told.len() == 1 && told[0].ends_with(expect), "{told:?}");
    }
}
