//! Two training runs at once in one process, as a dashboard hosts them, against one server.

use anyhow::Context;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_domain::view::RunView;
use skillopt_engine::ctx::RunControl;
use skillopt_server::config::{Environment, Sources, cfg_options, load};
use skillopt_server::host::{Hosting, LeaseWish, NewRunRequest};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// A run of the sample data against the server at `url`, with another seed than other runs have, so that they share no
/// call.
pub(crate) async fn create_run(
    hosting: &Hosting,
    url: &str,
    seed: u32,
    more: &[&str],
) -> anyhow::Result<RunId> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/searchqa_sample");
    let mut options = vec![
        "model.target_backend=openai_compatible".to_owned(),
        "model.optimizer_backend=openai_compatible".to_owned(),
        format!("model.openai_compatible_base_url={url}"),
        "model.target=fake-model".to_owned(),
        "model.optimizer=fake-model".to_owned(),
        "model.send_skillopt_headers=true".to_owned(),
        format!("env.split_dir={}", data.display()),
        format!("env.skill_init={}", data.join("SKILL.md").display()),
        "env.workers=16".to_owned(),
        "gradient.analyst_workers=16".to_owned(),
        format!("train.seed={seed}"),
    ];
    options.extend(more.iter().map(|option| (*option).to_owned()));
    let flags = cfg_options(&options)?;
    let resolved = load(Sources { file: None, env: hosting.environment(), flags: &flags })?;
    let request = NewRunRequest {
        name: format!("seed {seed}"),
        resolved,
        fresh: false,
        out_root: Some(hosting.data_dir().join(format!("out-{seed}"))),
        actor: "tester".to_owned(),
        lease: LeaseWish::Now,
        lineage: None,
    };
    Ok(hosting.create(request).await?)
}

/// Drives a run to its end.
pub(crate) async fn drive(hosting: &Hosting, run: &RunId) -> anyhow::Result<RunStatus> {
    let (leash, interrupt) = (RunControl::new(), CancellationToken::new());
    Ok(hosting.drive(run, leash, interrupt).await?)
}

/// Two runs with 16 workers each, from their start to their end.
pub(crate) async fn train_two(
    data_dir: &Path,
    url: &str,
    more: &[&str],
) -> anyhow::Result<[RunView; 2]> {
    let hosting = Hosting::open(data_dir, Environment::default()).await?;
    let one = create_run(&hosting, url, 1, more).await?;
    let two = create_run(&hosting, url, 2, more).await?;
    let ended = futures::future::try_join(drive(&hosting, &one), drive(&hosting, &two)).await?;
    let view = async |run: &RunId| hosting.store().view(run).await.context("the view");
    let views = [view(&one).await?, view(&two).await?];
    anyhow::ensure!(ended == (RunStatus::Done, RunStatus::Done), "{ended:?}: {views:?}");
    Ok(views)
}

/// Attempts of a run that ended in errors, and all of them, as far as steps tell; baseline and tests as well.
pub(crate) fn errors(view: &RunView) -> (u32, u32) {
    let measured = [&view.baseline, &view.test_initial, &view.test_best, &view.test_last];
    let counts = measured.into_iter().flatten().map(|one| (one.counts.errors, one.counts.total()));
    let steps = view.steps.iter().map(|step| (step.n_errors, step.n_attempts));
    counts.chain(steps).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}
