//! Nights from the dashboard alone: start one, watch it, look at what it proposes, adopt, revert. The next night learns
//! nothing from the calls of the first.

use crate::fake_server::{FakeServer, Seen};
use crate::harness::{Browser, Server, Stage, eventually, soon};
use crate::night_script::{Asked, RULE, scripted_after, write_session, write_transcript};
use anyhow::ensure;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A night with a scripted model must be over within this time on a slow machine.
pub(super) const NIGHT: Duration = Duration::from_secs(60);
const N_SESSIONS: u32 = 6;

/// The managed skill that a first night makes, with the one rule that it learned.
const NEW_SKILL: &str = "\
---
name: skillopt-sleep-learned
description: What was learned from this user's own sessions; read it before any task.
---
# skillopt-sleep-learned

Preferences and procedures that sessions have shown.

<!-- SKILLOPT-SLEEP:LEARNED START -->
## Learned preferences & procedures

*Kept by SkillOpt-Sleep: learned from past sessions and checked on held-out tasks. Text outside of the markers is never changed.*

- End every answer with the line: checked and done.
<!-- SKILLOPT-SLEEP:LEARNED END -->
";

/// A skill that a person wrote, with line ends of its own and none at the end.
const OWN_SKILL: &str =
    "---\r\nname: notes\r\ndescription: Mine.\r\n---\r\n# Notes\r\n\r\nBe brief.";

/// It with what a night adds.
const OWN_SKILL_AFTER: &str = "---\r\nname: notes\r\ndescription: Mine.\r\n---\r\n# Notes\r\n\r\nBe brief.\r\n\r\n\
    <!-- SKILLOPT-SLEEP:LEARNED START -->\r\n## Learned preferences & procedures\r\n\r\n\
    *Kept by SkillOpt-Sleep: learned from past sessions and checked on held-out tasks. \
    Text outside of the markers is never changed.*\r\n\r\n\
    - End every answer with the line: checked and done.\r\n\
    <!-- SKILLOPT-SLEEP:LEARNED END -->";

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let gate = Arc::new(Gate::default());
    let at_gate = Arc::clone(&gate);
    let models = scripted_after(move |asked| {
        if asked == Asked::Reflect {
            at_gate.wait();
        }
    });
    let Stage { browser, own, .. } = stage;
    let server = own.insert(serve(&models, &[]).await?);
    let house = House::new(server)?;
    house.add_sessions(1..=N_SESSIONS)?;
    start_night(browser, server, &house.project, &[]).await?;
    told_while_it_works(browser).await?;
    gate.open();
    told_when_it_is_staged(browser).await?;
    adopt_and_revert(browser, &house.managed_skill(), None, NEW_SKILL).await?;

    learns_nothing_from_own_calls(browser, server, (&house, &models)).await?;

    // What a person asked since is found, and a skill of their own is improved and comes back as it was.
    let own_skill = house.own_skill(OWN_SKILL)?;
    house.add_sessions(N_SESSIONS + 1..=2 * N_SESSIONS)?;
    let path = own_skill.display().to_string();
    start_night(browser, server, &house.project, &[("#sleep-target_skill_path", &path)]).await?;
    told_when_it_is_staged(browser).await?;
    adopt_and_revert(browser, &own_skill, Some(OWN_SKILL), OWN_SKILL_AFTER).await
}

/// A server whose nights ask these models.
pub(super) async fn serve(
    models: &FakeServer,
    more: &[(&'static str, String)],
) -> anyhow::Result<Server> {
    let mut variables = vec![("OPENAI_COMPATIBLE_BASE_URL", models.url.clone())];
    variables.extend_from_slice(more);
    Server::start_with(variables).await
}

/// A person's home with a project.
pub(super) struct House {
    home: PathBuf,
    pub(super) project: PathBuf,
}

impl House {
    pub(super) fn new(server: &Server) -> anyhow::Result<Self> {
        let home = server.home().canonicalize()?;
        let project = home.join("project");
        fs::create_dir(&project)?;
        Ok(Self { home, project })
    }

    pub(super) fn add_sessions(
        &self,
        numbers: std::ops::RangeInclusive<u32>,
    ) -> anyhow::Result<()> {
        for number in numbers {
            write_session(&self.home, &self.project, number)?;
        }
        Ok(())
    }

    fn managed_skill(&self) -> PathBuf {
        self.home.join(".claude/skills/skillopt-sleep-learned/SKILL.md")
    }

    fn own_skill(&self, text: &str) -> anyhow::Result<PathBuf> {
        let folder = self.project.join(".claude/skills/notes");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("SKILL.md"), text)?;
        Ok(folder.join("SKILL.md"))
    }
}

/// Questions wait here until the journey has read what the page says meanwhile.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    /// Not for ever: a journey that failed opens no gate.
    fn wait(&self) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.opened.wait_timeout_while(is_open, Duration::from_secs(30), |open| !*open);
    }
}

/// From the overview to the page of a night that has begun.
pub(super) async fn start_night(
    browser: &Browser,
    server: &Server,
    project: &Path,
    more: &[(&str, &str)],
) -> anyhow::Result<()> {
    browser.open(&server.url("/")).await?;
    browser.click_in("nav.rail", "Sleep").await?;
    browser.see("main h1", "Sleep").await?;
    browser.fill("#sleep-project", &project.display().to_string()).await?;
    browser.press_first("#sleep-backend option[value=openai_compatible]").await?;
    browser.press_first("#sleep-source option[value=claude]").await?;
    browser.fill("#sleep-lookback_hours", "0").await?;
    browser.click_in("form.sleep-start", "More").await?;
    browser.fill("#sleep-model", "fake").await?;
    for (field, text) in more {
        browser.fill(field, text).await?;
    }
    browser.click_in("form.sleep-start", "Run a night").await?;
    soon("the page of the night is open", async || {
        Ok(browser.path().await?.starts_with("/sleep/nights/").then_some(()))
    })
    .await
}

/// The optimizer has been asked for edits and has not answered yet.
async fn told_while_it_works(browser: &Browser) -> anyhow::Result<()> {
    browser.see(".pipeline .stage[aria-current=step]", "Reflect").await?;
    browser
        .see(".pipeline .stage:nth-child(1)", &format!("{N_SESSIONS} sessions, 1 source"))
        .await?;
    browser.see(".pipeline .stage:nth-child(3)", &format!("{N_SESSIONS} tasks")).await?;
    browser.see(".pipeline .stage:nth-child(6)", "waiting").await?;
    browser.see(".page-head__actions", "Cancel").await
}

/// Tasks, change and scores of a night whose one rule mends every task.
async fn told_when_it_is_staged(browser: &Browser) -> anyhow::Result<()> {
    eventually("the night waits for review", NIGHT, async || {
        Ok(browser.text(".page-head__title").await?.contains("waits for review").then_some(()))
    })
    .await?;
    browser
        .see("[aria-labelledby=tasks-title] .section__head", &format!("{N_SESSIONS} tasks:"))
        .await?;
    let rows: Vec<Vec<String>> = browser.js(TASK_CELLS, []).await?;
    ensure!(rows.len() == N_SESSIONS as usize, "{} rows of tasks: {rows:?}", rows.len());
    let validated: Vec<&Vec<String>> = rows.iter().filter(|row| row[2] == "val").collect();
    let n = validated.len();
    ensure!(n > 0, "no task validates: {rows:?}");
    for row in validated {
        ensure!(row[1].starts_with("Write the release notes of module number"), "{row:?}");
        ensure!(row[6..8] == ["0.000", "1.000"], "{row:?}");
    }
    let tasks = if n == 1 { "1 task" } else { &format!("{n} tasks") };
    browser.see(".verdict", &format!("0.000 → 1.000 on {tasks}: {n} fixed, 0 broke")).await?;
    browser.see(".verdict", "accepted").await?;
    browser.see(".night-document__diff", RULE).await?;
    // The rule says word for word what the checks want, so that a person has to look.
    browser.see(".night-document", "Look at this.").await
}

const TASK_CELLS: &str = r"
return [...document.querySelectorAll('[aria-labelledby=tasks-title] tbody tr')]
  .map((row) => [...row.cells].map((cell) => cell.innerText.trim()));";

/// Adopts the one document of the night, whose file holds `before`, and takes it back.
async fn adopt_and_revert(
    browser: &Browser,
    file: &Path,
    before: Option<&str>,
    after: &str,
) -> anyhow::Result<()> {
    let holds = |wanted: Option<&str>, when: &str| -> anyhow::Result<()> {
        let found = fs::read(file).ok();
        ensure!(
            found.as_deref() == wanted.map(str::as_bytes),
            "{when} {} holds {:?}",
            file.display(),
            found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        );
        Ok(())
    };
    let path = file.display().to_string();
    browser.see(".writes", &path).await?;
    browser.click_in("[aria-labelledby=adopt-title]", "Adopt").await?;
    browser.see("dialog[open]", "Adopt with 1 flag?").await?;
    holds(before, "before the question is answered")?;
    browser.click_in("dialog[open]", "Adopt all the same").await?;
    browser.see(".receipt[data-state=adopted]", &path).await?;
    holds(Some(after), "after the adoption")?;
    browser.see(".page-head__title", "adopted").await?;

    browser.click_in(".night-receipts", "Revert").await?;
    browser.see("dialog[open]", &path).await?;
    holds(Some(after), "before the question is answered")?;
    browser.click_in("dialog[open]", "Revert").await?;
    browser.see(".receipt[data-state=reverted]", &path).await?;
    holds(before, "after the revert")?;
    browser.see(".page-head__title", "reverted").await
}

/// Every call of the night is put where an agent would have kept it, in the project itself.
async fn learns_nothing_from_own_calls(
    browser: &Browser,
    server: &Server,
    (house, models): (&House, &FakeServer),
) -> anyhow::Result<()> {
    let calls = models.seen();
    ensure!(calls.len() > N_SESSIONS as usize, "only {} calls", calls.len());
    for (at, call) in calls.iter().enumerate() {
        let turns = [("user", question_of(call)), ("assistant", "An answer.".to_owned())];
        write_transcript(&house.home, &house.project, &format!("own{at}"), &turns)?;
    }
    start_night(browser, server, &house.project, &[]).await?;
    eventually("the night is over", NIGHT, async || {
        Ok(browser.text(".page-head__title").await?.contains("no tasks").then_some(()))
    })
    .await?;
    browser.see(".run-detail", "There were no tasks to learn from.").await?;
    browser.see(".pipeline .stage:nth-child(1)", "0 sessions").await?;
    browser.see(".pipeline .stage:nth-child(3)", "0 tasks").await?;
    browser.see("[aria-label=Sources]", &format!("{} own call", calls.len())).await?;
    browser.see("[aria-label=Sources]", &format!("{N_SESSIONS} unchanged")).await?;
    let more = models.seen().len() - calls.len();
    ensure!(more == 0, "the second night made {more} calls");
    Ok(())
}

/// What a program would keep of a request as the words of the person: the last message of the one who asks.
fn question_of(seen: &Seen) -> String {
    let messages = seen.body["messages"].as_array().into_iter().flatten();
    let asked = messages.rev().find(|message| message["role"] == "user");
    asked.and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned()
}
