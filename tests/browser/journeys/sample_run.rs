//! The main story: one click, a curve that moves, the best skill in a file on disk, and the file as it was.

use crate::harness::{Browser, SAMPLE_RUN, Server, Stage, eventually, run_id, soon};
use anyhow::{Context, ensure};
use skillopt_domain::api::RunDetail;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const OLD: &[u8] = b"---\r\nname: mine\r\n---\r\n# Mine\r\n\r\nOld words.\r\n";
const MODE: u32 = 0o640;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let (browser, server) = stage.server().await?;
    browser.open(&server.url("/")).await?;
    browser.click("Start sample run").await?;
    let id = run_id(browser).await?;
    browser.see("main", "simulated").await?;
    eventually("the page says that the run is done", SAMPLE_RUN, async || {
        Ok((browser.count(".page-head [data-status=done]").await? > 0).then_some(()))
    })
    .await?;
    stage.keep_finished(id);
    let (browser, server, id) = stage.finished_run().await?;
    let done = server.run(&id).await?;
    improved(&done)?;
    curve_shows_both_verdicts(browser).await?;
    adopt_and_revert(browser, server, &done).await
}

fn improved(run: &RunDetail) -> anyhow::Result<()> {
    let summary = &run.summary;
    ensure!(summary.n_accepted >= 2, "{} accepted steps", summary.n_accepted);
    ensure!(summary.n_rejected >= 2, "{} rejected steps", summary.n_rejected);
    let before = summary.test_initial.as_ref().context("the initial skill was not tested")?.hard;
    let after = summary.test_best.as_ref().context("the best skill was not tested")?.hard;
    ensure!(after > before, "the best skill does not beat the initial one: {before} → {after}");
    Ok(())
}

/// All marks of a verdict are one path; each begins with a move.
async fn curve_shows_both_verdicts(browser: &Browser) -> anyhow::Result<()> {
    soon("two accepted and two rejected marks stand on the curve", async || {
        let marks: Vec<usize> = browser
            .js(
                "return ['accept', 'reject'].map((mark) =>
                   (document.querySelector(`svg.chart .mark-${mark}`)?.getAttribute('d') ?? '').split('M').length - 1)",
                [],
            )
            .await?;
        ensure!(marks[0] >= 2 && marks[1] >= 2, "marks: {marks:?}");
        Ok(Some(()))
    })
    .await
}

async fn adopt_and_revert(
    browser: &Browser,
    server: &Server,
    run: &RunDetail,
) -> anyhow::Result<()> {
    let best = run.view.best.as_ref().context("no best skill")?;
    let path = format!("runs/{}/skills/{}/raw", run.summary.id, best.skill);
    let wanted = server.get_bytes(&path).await?;
    let live = LiveSkill::write(&server.adopt_root())?;

    browser.click_in("nav.tabs", "Skill").await?;
    browser.click_in("main", "Adopt").await?;
    browser.fill("#adopt-path", &live.link.display().to_string()).await?;
    browser.click_in("dialog[open]", "Preview").await?;
    browser.see("dialog[open]", "Overwritten:").await?;
    browser.see("dialog[open]", "symlink").await?;
    browser.see("dialog[open]", "Permissions 640").await?;
    browser.see("dialog[open] .adopt__preview", "Old words.").await?;
    ensure!(fs::read(&live.file)? == OLD, "the preview wrote to the file");

    browser.click_in("dialog[open] .dialog__foot", "Adopt").await?;
    browser.see(".receipt[data-state=adopted]", "Adopted v").await?;
    ensure!(fs::read(&live.file)? == wanted, "the file does not hold the best skill byte for byte");
    live.keeps_link_and_mode()?;
    ensure!(live.has_backup()?, "there is no backup with the bytes from before");

    browser.click_in(".receipt", "Revert").await?;
    browser.click_in("dialog[open]", "Revert file").await?;
    browser.see(".receipt[data-state=reverted]", "Reverted").await?;
    ensure!(fs::read(&live.file)? == OLD, "the file does not hold the bytes from before");
    live.keeps_link_and_mode()
}

/// A skill that a person keeps elsewhere and links to, readable by a group, with line ends of its own.
struct LiveSkill {
    file: PathBuf,
    link: PathBuf,
}

impl LiveSkill {
    fn write(root: &Path) -> anyhow::Result<Self> {
        let (real, linked) = (root.join("dotfiles"), root.join("skills"));
        let skill = Self { file: real.join("SKILL.md"), link: linked.join("SKILL.md") };
        fs::create_dir_all(real)?;
        fs::create_dir_all(linked)?;
        fs::write(&skill.file, OLD)?;
        fs::set_permissions(&skill.file, fs::Permissions::from_mode(MODE))?;
        symlink("../dotfiles/SKILL.md", &skill.link)?;
        Ok(skill)
    }

    fn keeps_link_and_mode(&self) -> anyhow::Result<()> {
        let target = fs::read_link(&self.link).context("the symlink was replaced")?;
        ensure!(
            target == Path::new("../dotfiles/SKILL.md"),
            "the symlink leads to {}",
            target.display()
        );
        let mode = fs::metadata(&self.file)?.permissions().mode() & 0o7777;
        ensure!(mode == MODE, "the mode is {mode:o}");
        Ok(())
    }

    fn has_backup(&self) -> anyhow::Result<bool> {
        let folder = self.file.parent().context("a file has a folder")?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path != self.file && fs::read(&path)? == OLD {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
