//! C97: quoting, what is ours and what is not, and crontabs that must not be lost.

use crate::schedule::{
    At, Commands, CrontabError, InstallError, Job, JobError, Launchd, Listing, Output, Scheduler,
    SystemClocks, Systemd, Which, Windows, helper_script, install_crontab, installed_in, plist,
    project_digest, service, shell_quoted, task_names, timer, uninstall_crontab, with_job,
    without_all, without_project,
};
use proptest::prelude::*;
use rstest::rstest;
use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const ODD: &str = "/home/me/a b/it's 100% \"x\" & süß $HOME `id`";
const MINE: &str = "MAILTO=me\n0 4 * * * /usr/bin/backup --all # keep\n@reboot run 50\\%";

fn job(project: &str) -> Job {
    let args = [
        "sleep",
        "run",
        "--project",
        project,
        "--backend",
        "claude",
        "--preferences",
        "be 'brief' & 100%",
    ];
    let args = args.map(str::to_owned).to_vec();
    Job::new(Path::new(project), Path::new("/opt/my tools/skillopt"), args, At::USUAL).unwrap()
}

/// A machine whose programs are closures over a crontab.
struct Fake {
    crontab: RefCell<Option<String>>,
    list_fails: Option<&'static str>,
    hangs: bool,
    write_fails: bool,
    loses_writes: bool,
    calls: RefCell<Vec<String>>,
    stdout: &'static str,
    refuses: &'static str,
}

impl Fake {
    fn new(crontab: Option<&str>) -> Self {
        Self {
            crontab: RefCell::new(crontab.map(str::to_owned)),
            list_fails: None,
            hangs: false,
            write_fails: false,
            loses_writes: false,
            calls: RefCell::default(),
            stdout: "",
            refuses: "nothing",
        }
    }
}

fn failed(words: &str) -> Output {
    Output { is_success: false, stdout: Vec::new(), stderr: words.to_owned() }
}

impl Commands for Fake {
    fn run(&self, program: &str, args: &[&str], stdin: &[u8]) -> io::Result<Output> {
        self.calls.borrow_mut().push(format!("{program} {}", args.join(" ")));
        if self.hangs {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer within 5 seconds"));
        }
        let ok = |text: &str| Output {
            is_success: true,
            stdout: text.as_bytes().to_vec(),
            stderr: String::new(),
        };
        Ok(match (program, args) {
            ("crontab", ["-l"]) => match (self.list_fails, &*self.crontab.borrow()) {
                (Some(words), _) => failed(words),
                (None, None) => failed("no crontab for me"),
                (None, Some(text)) => ok(text),
            },
            ("crontab", ["-"]) if self.write_fails => failed("disk full"),
            ("crontab", ["-"]) => {
                if !self.loses_writes {
                    *self.crontab.borrow_mut() = Some(String::from_utf8(stdin.to_vec()).unwrap());
                }
                ok("")
            }
            _ if args.contains(&self.refuses) => failed("refused"),
            _ => ok(self.stdout),
        })
    }
}

#[test]
fn a_job_is_added_replaced_and_removed_and_no_other_line_changes() {
    let (one, two) = (job("/p/one"), job("/p/two"));
    let first = with_job(MINE, &one).unwrap();
    assert!(
        first.starts_with(&format!("{MINE}\n# >>> skillopt-sleep (managed) >>>\n17 3 * * * ")),
        "{first}"
    );
    let both = with_job(&first, &two).unwrap();
    assert_eq!(with_job(&both, &two).unwrap(), both, "a second time changes nothing");
    assert_eq!(installed_in(&both).unwrap().len(), 2);
    assert_eq!(without_project(&both, Path::new("/p/two")).unwrap(), first);
    assert_eq!(without_all(&both).unwrap(), format!("{MINE}\n"));
    assert_eq!(without_all(MINE).unwrap(), MINE, "nothing of ours, so not a byte changes");
    let line = &installed_in(&first).unwrap()[0];
    assert!(line.ends_with(&format!("# project-sha256={}", project_digest(Path::new("/p/one")))));
}

#[test]
fn a_line_of_an_older_release_of_the_reference_system_is_replaced_and_not_run_beside_ours() {
    let old = "# >>> skillopt-sleep (managed) >>>\n17 3 * * * cd /r && python # project=/p a\n# <<< skillopt-sleep (managed) <<<\n";
    let new = with_job(old, &job("/p a")).unwrap();
    assert!(!new.contains("python") && installed_in(&new).unwrap().len() == 1, "{new}");
    assert_eq!(with_job(old, &job("/p")).unwrap().matches("17 3").count(), 2, "another project");
    assert_eq!(without_all(old).unwrap(), "");
}

#[test]
fn c97_unscheduling_all_leaves_lines_in_the_block_that_are_not_ours() {
    let crontab = with_job("", &job("/p")).unwrap().replace("# <<<", "5 5 * * * mine\n# <<<");
    let left = without_all(&crontab).unwrap();
    assert_eq!(
        left,
        "# >>> skillopt-sleep (managed) >>>\n5 5 * * * mine\n# <<< skillopt-sleep (managed) <<<\n"
    );
}

#[rstest]
#[case("a\n# >>> skillopt-sleep (managed) >>>\nmine\n", 2)]
#[case("a\n# <<< skillopt-sleep (managed) <<<\nmine\n", 2)]
#[case(
    "# >>> skillopt-sleep (managed) >>>\n# >>> skillopt-sleep (managed) >>>\n# <<< skillopt-sleep (managed) <<<\n",
    2
)]
fn f03_marks_without_partner_are_refused(#[case] crontab: &str, #[case] line: usize) {
    let expect = CrontabError::Marks { line };
    assert_eq!(with_job(crontab, &job("/p")).unwrap_err(), expect);
    assert_eq!(without_all(crontab).unwrap_err(), expect);
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::new(Some(crontab)));
    assert!(uninstall_crontab(&Which::All, dir.path(), &fake).is_err());
    assert_eq!(fake.crontab.borrow().as_deref(), Some(crontab));
}

#[test]
fn f02_a_crontab_that_cannot_be_read_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    for words in
        ["you (me) are not allowed to use this program", "cannot open spool: Permission denied", ""]
    {
        let fake = Fake { list_fails: Some(words), ..Fake::new(Some(MINE)) };
        let err = install_crontab(&job("/p"), dir.path(), &fake).unwrap_err();
        assert!(matches!(err, InstallError::Crontab(CrontabError::Unreadable(_))), "{err}");
        assert_eq!(fake.crontab.borrow().as_deref(), Some(MINE));
    }
}

#[test]
fn f02_no_crontab_is_an_empty_one_and_one_that_was_there_is_kept_as_backup() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new(None);
    install_crontab(&job("/p"), dir.path(), &fake).unwrap();
    assert_eq!(installed_in(fake.crontab.borrow().as_deref().unwrap()).unwrap().len(), 1);

    let fake = Fake::new(Some(MINE));
    install_crontab(&job("/p"), dir.path(), &fake).unwrap();
    let kept: Vec<String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(kept.contains(&MINE.to_owned()), "{kept:?}");
    uninstall_crontab(&Which::Project("/p".into()), dir.path(), &fake).unwrap();
    assert_eq!(fake.crontab.borrow().as_deref(), Some(format!("{MINE}\n").as_str()));
}

#[test]
fn f02_a_write_that_fails_or_gets_lost_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let fails = Fake { write_fails: true, ..Fake::new(Some(MINE)) };
    let err = install_crontab(&job("/p"), dir.path(), &fails).unwrap_err();
    assert!(matches!(err, InstallError::Refused { .. }), "{err}");
    let loses = Fake { loses_writes: true, ..Fake::new(Some(MINE)) };
    let err = install_crontab(&job("/p"), dir.path(), &loses).unwrap_err();
    assert!(matches!(err, InstallError::Crontab(CrontabError::NotVerified { .. })), "{err}");
}

/// What cron makes of the part of a line that it hands to the shell.
fn as_cron_does(line: &str) -> String {
    let command = line.splitn(6, ' ').nth(5).unwrap();
    let unescaped = command.replace("\\%", "\u{0}");
    assert!(!unescaped.contains('%'), "cron would make a line end of it: {command}");
    unescaped.replace('\u{0}', "%")
}

#[cfg(unix)]
#[test]
fn f20_c97_a_real_shell_gets_exactly_the_arguments_of_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join(ODD.trim_start_matches('/'));
    fs::create_dir_all(&project).unwrap();
    let program = project.join("print args");
    fs::write(&program, "#!/bin/sh\npwd\nprintf '%s\\n' \"$@\"\n").unwrap();
    std::os::unix::fs::PermissionsExt::set_mode(
        &mut fs::metadata(&program).unwrap().permissions(),
        0o755,
    );
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let args =
        vec!["--x".to_owned(), "100% 'sure' & \"so\" $HOME `id` süß".to_owned(), String::new()];
    let job = Job::new(&project, &program, args.clone(), At::USUAL).unwrap();
    let crontab = with_job("", &job).unwrap();
    let command = as_cron_does(&installed_in(&crontab).unwrap()[0]);
    let status = std::process::Command::new("/bin/sh").args(["-c", &command]).status().unwrap();
    assert!(status.success(), "{command}");
    let log = fs::read_to_string(project.join(".skillopt-sleep/cron.log")).unwrap();
    let lines: Vec<&str> = log.split('\n').collect();
    assert_eq!(lines[0], project.display().to_string());
    assert_eq!(lines[1..4], args);
}

#[rstest]
#[case("/p\n* * * * * evil")]
#[case("/p\u{1b}[2J")]
fn c97_control_characters_are_refused(#[case] project: &str) {
    let err = Job::new(Path::new(project), Path::new("/bin/skillopt"), Vec::new(), At::USUAL)
        .unwrap_err();
    assert!(matches!(err, JobError::Control(_)));
    let arg = vec!["a\rb".to_owned()];
    assert!(Job::new(Path::new("/p"), Path::new("/bin/skillopt"), arg, At::USUAL).is_err());
    assert!(matches!(
        Job::new(Path::new("p"), Path::new("/bin/skillopt"), Vec::new(), At::USUAL),
        Err(JobError::Relative(_))
    ));
}

#[rstest]
#[case("/home/me/a_b-c.d", "/home/me/a_b-c.d")]
#[case("x;reboot", "'x;reboot'")]
#[case("a&b", "'a&b'")]
#[case("a\nb", "'a\nb'")]
#[case("it's", "'it'\\''s'")]
#[case("", "''")]
fn c97_a_word_for_a_shell_is_quoted_unless_it_is_plain(#[case] text: &str, #[case] expect: &str) {
    assert_eq!(shell_quoted(text), expect);
}

#[test]
fn c97_systemd_texts_quote_every_argument() {
    let text = service(&job(ODD));
    assert!(text.contains("ExecStart=\"/opt/my tools/skillopt\" \"sleep\" \"run\""), "{text}");
    assert!(text.contains("\"/home/me/a b/it's 100%% \\\"x\\\" & süß $$HOME `id`\""), "{text}");
    let text = timer(&job(ODD));
    assert!(text.contains("OnCalendar=*-*-* 03:17:00\nPersistent=true\n"), "{text}");
}

#[test]
fn systemd_units_are_written_started_and_removed_and_those_of_others_stay() {
    let dir = tempfile::tempdir().unwrap();
    let systemd = Systemd { unit_dir: dir.path().join("systemd/user") };
    let fake = Fake::new(None);
    systemd.install(&job("/p"), &fake).unwrap();
    let name = format!("skillopt-sleep-{}", &project_digest(Path::new("/p")).as_str()[..20]);
    assert_eq!(systemd.installed().unwrap(), std::slice::from_ref(&name));
    assert_eq!(
        *fake.calls.borrow(),
        [
            "systemctl --user daemon-reload".to_owned(),
            format!("systemctl --user enable --now {name}.timer")
        ]
    );
    let other = systemd.unit_dir.join("skillopt-sleep-of-theirs.timer");
    fs::write(&other, "[Timer]\n").unwrap();
    assert_eq!(systemd.uninstall(&Which::All, &fake).unwrap(), std::slice::from_ref(&name));
    assert!(other.exists() && !systemd.unit_dir.join(format!("{name}.service")).exists());

    fs::write(systemd.unit_dir.join(format!("{name}.timer")), "[Timer]\n").unwrap();
    let err = systemd.install(&job("/p"), &fake).unwrap_err();
    assert!(matches!(err, InstallError::NotOurs(_)), "{err}");
}

#[test]
fn systemd_units_that_cannot_be_started_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let systemd = Systemd { unit_dir: dir.path().to_owned() };
    let fake = Fake { refuses: "enable", ..Fake::new(None) };
    assert!(matches!(systemd.install(&job("/p"), &fake), Err(InstallError::Refused { .. })));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn c97_launchd_lists_escape_every_argument_and_only_ours_go() {
    let text = plist(&job(ODD));
    assert!(
        text.contains("<string>/home/me/a b/it's 100% &quot;x&quot; &amp; süß $HOME `id`</string>"),
        "{text}"
    );
    assert!(text.contains("<key>Hour</key>\n    <integer>3</integer>"), "{text}");
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("p");
    let launchd = Launchd { agent_dir: dir.path().join("LaunchAgents"), uid: 501 };
    let fake = Fake::new(None);
    launchd.install(&job(project.to_str().unwrap()), &fake).unwrap();
    let other = launchd.agent_dir.join("org.skillopt.sleep.theirs.plist");
    fs::write(&other, "<plist/>").unwrap();
    let labels = launchd.installed().unwrap();
    assert_eq!(launchd.uninstall(&Which::All, &fake).unwrap(), labels);
    assert_eq!((labels.len(), other.exists(), launchd.installed().unwrap().len()), (1, true, 0));
    assert!(
        fake.calls.borrow().iter().any(|call| call.starts_with("launchctl bootstrap gui/501 "))
    );
}

#[test]
fn f04_windows_tasks_are_found_with_a_leading_backslash() {
    let own = "SkillOpt-Sleep-0123456789abcdef0123";
    let csv = format!(
        "\"\\{own}\",\"12/1/2026 3:17:00 AM\",\"Ready\"\r\n\"\\{own}\",\"x\",\"Ready\"\r\n\"\\Other\\{own}\",\"x\",\"y\"\r\n\
         \"\\SkillOpt-Sleep-notes\",\"x\",\"y\"\r\n\"\\Microsoft\\Backup\",\"x\",\"y\"\r\n"
    );
    assert_eq!(task_names(&csv), [own]);
    let stdout: &'static str =
        "\"\\SkillOpt-Sleep-0123456789abcdef0123\",\"x\",\"Ready\"\r\n\"\\Mine\",\"x\",\"y\"\r\n";
    let fake = Fake { stdout, ..Fake::new(None) };
    assert_eq!(Windows.uninstall(&Which::All, &fake).unwrap(), [own]);
    assert_eq!(fake.calls.borrow().last().unwrap(), &format!("schtasks /Delete /TN {own} /F"));
    assert_eq!(
        Windows.uninstall(&Which::Project(PathBuf::from("/other")), &fake).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn c97_powershell_literals_end_where_they_should() {
    let args = vec!["it's".to_owned(), "“x” ‘y’ 100% & süß; rm".to_owned()];
    let job = Job::new(Path::new("C:\\my project"), Path::new("C:\\skillopt.exe"), args, At::USUAL)
        .unwrap();
    let script = helper_script(&job).unwrap();
    assert!(script.starts_with('\u{feff}'));
    assert!(
        script.contains(
            "& 'C:\\skillopt.exe' 'it''s' '“x” ‘‘y’’ 100% & süß; rm' *>> 'C:\\my project\\"
        ),
        "{script}"
    );
    let quote =
        Job::new(Path::new("/p"), Path::new("/s"), vec!["a\"b".to_owned()], At::USUAL).unwrap();
    assert!(matches!(helper_script(&quote), Err(JobError::Quote(_))));
}

proptest! {
    #[test]
    fn lines_of_a_person_survive_every_change(lines in proptest::collection::vec("[^\r\n]{0,30}", 0..8), at in 0usize..8) {
        let mine: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let added = with_job(&mine, &job("/p")).unwrap();
        prop_assert!(added.starts_with(&mine));
        prop_assert_eq!(without_project(&added, Path::new("/p")).unwrap(), mine.clone());
        // The block stands anywhere, with lines of the person after it.
        let at = at.min(lines.len());
        let block = &added[mine.len()..];
        let (before, after) = lines.split_at(at);
        let join = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let around = format!("{}{block}{}", join(before), join(after));
        prop_assert_eq!(without_all(&around).unwrap(), mine);
    }
}

#[test]
fn what_is_installed_is_listed_with_its_project_and_time() {
    let dir = tempfile::tempdir().unwrap();
    let clocks = SystemClocks {
        systemd: Systemd { unit_dir: dir.path().join("units") },
        launchd: Launchd { agent_dir: dir.path().join("agents"), uid: 1 },
    };
    let odd = "/home/me/a b/it's 100% & more";
    let all = [Scheduler::Cron, Scheduler::Systemd, Scheduler::Launchd];
    let machine = Fake::new(Some(MINE));
    assert_eq!(clocks.installed(&all, &machine), Listing::default());
    install_crontab(&job(odd), dir.path(), &machine).unwrap();
    clocks.systemd.install(&job(odd), &machine).unwrap();
    fs::create_dir_all(&clocks.launchd.agent_dir).unwrap();
    let label = format!("org.skillopt.sleep.{}", &project_digest(Path::new(odd)).as_str()[..20]);
    fs::write(clocks.launchd.agent_dir.join(format!("{label}.plist")), plist(&job(odd))).unwrap();
    let listing = clocks.installed(&all, &machine);
    assert_eq!(listing.unread, Vec::<String>::new());
    let told: Vec<_> =
        listing.jobs.iter().map(|job| (job.scheduler, job.project.as_deref(), job.at)).collect();
    assert_eq!(told, all.map(|scheduler| (scheduler, Some(odd), Some(At::USUAL))));
    for job in &listing.jobs {
        assert!(job.is_of(Path::new(odd)) && !job.is_of(Path::new("/home/me")), "{job:?}");
    }
}

#[test]
fn a_crontab_that_cannot_be_read_is_told_and_hides_no_other_job() {
    let dir = tempfile::tempdir().unwrap();
    let clocks = SystemClocks {
        systemd: Systemd { unit_dir: dir.path().to_owned() },
        launchd: Launchd { agent_dir: dir.path().to_owned(), uid: 1 },
    };
    let machine = Fake { list_fails: Some("not allowed"), ..Fake::new(None) };
    clocks.systemd.install(&job("/p"), &machine).unwrap();
    let listing = clocks.installed(&[Scheduler::Cron, Scheduler::Systemd], &machine);
    assert_eq!(listing.jobs.len(), 1);
    assert!(listing.unread[0].starts_with("cron: ") && listing.unread[0].contains("not allowed"));
}

#[test]
fn a_program_without_an_answer_leaves_unknown_what_is_scheduled_and_one_that_is_missing_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let clocks = SystemClocks {
        systemd: Systemd { unit_dir: dir.path().to_owned() },
        launchd: Launchd { agent_dir: dir.path().to_owned(), uid: 1 },
    };
    let machine = Fake { hangs: true, ..Fake::new(Some(MINE)) };
    let listing = clocks.installed(&[Scheduler::Cron, Scheduler::Windows], &machine);
    let expect = ["crontab -l", "schtasks /Query /FO CSV /NH"];
    assert_eq!((listing.jobs.len(), listing.unread.len()), (0, expect.len()));
    for (words, program) in listing.unread.iter().zip(expect) {
        assert!(words.contains("it is not known whether a night is scheduled there"), "{words}");
        assert!(words.contains(&format!("`{program}` gave no answer within 5 seconds")), "{words}");
    }
    let err = install_crontab(&job("/p"), dir.path(), &machine).unwrap_err();
    assert!(matches!(err, InstallError::NoAnswer { .. }), "{err}");
    assert_eq!(machine.crontab.borrow().as_deref(), Some(MINE), "what is not known is not written");
}
