//! Two to many runs beside each other. All reads; what the numbers mean is said by [`skillopt_domain::compare`].

use super::extract::{Json, Query};
use super::problem::{ApiError, ApiResult};
use super::state::AppState;
use axum::extract::State;
use skillopt_domain::api::Problem;
use skillopt_domain::compare::{
    CompareQuery, Compared, ComparedKey, ComparedPair, ComparedRun, MAX_RUNS, Paired, PairedSplit,
    RunFacts, SkillPair, SkillPairQuery, TaskMark, cautions, paired, statement,
};
use skillopt_domain::config::{
    Availability, ChangeEffect, ConfigDifference, Contents, KEYS, Resolved, Sameness, Value,
    differences,
};
use skillopt_domain::diff::diff;
use skillopt_domain::ids::RunId;
use skillopt_domain::noise::{holm, wilson};
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_store::{ComparedParts, Store, StoreFailure};

/// Curves, results, config and cautions of some runs, each other one against the base.
#[utoipa::path(get, path = "/compare", tag = "runs", params(CompareQuery),
    responses((status = 200, body = Compared), (status = 400, body = Problem)))]
pub(crate) async fn compare(
    State(state): State<AppState>,
    Query(query): Query<CompareQuery>,
) -> ApiResult<Json<Compared>> {
    let (ids, mut missing) = wanted(&query.runs)?;
    let mut parts = Vec::with_capacity(ids.len());
    for id in ids {
        match state.store.compared_parts(&id).await {
            Ok(one) => parts.push(one),
            Err(StoreFailure::NotFound { .. }) => missing.push(id.to_string()),
            Err(err) => return Err(err.into()),
        }
    }
    let asked = query.base.as_deref();
    let base = parts.iter().position(|one| Some(one.summary.id.as_str()) == asked).unwrap_or(0);
    let pairs = pairs(&state.store, &parts, base).await?;
    let facts: Vec<RunFacts> = parts.iter().map(facts).collect();
    Ok(Json(Compared {
        missing,
        base: parts.get(base).map(|one| one.summary.id.clone()),
        cautions: cautions(&facts),
        keys: keys(&parts, base),
        pairs,
        runs: parts.into_iter().map(run).collect(),
    }))
}

/// The best skills of two runs as one diff.
#[utoipa::path(get, path = "/compare/skills", tag = "runs", params(SkillPairQuery),
    responses((status = 200, body = SkillPair), (status = 404, body = Problem)))]
pub(crate) async fn skills(
    State(state): State<AppState>,
    Query(query): Query<SkillPairQuery>,
) -> ApiResult<Json<SkillPair>> {
    let left = best_text(&state.store, &query.left).await?;
    let right = best_text(&state.store, &query.right).await?;
    Ok(Json(SkillPair { is_same: left == right, diff: diff(&left, &right) }))
}

async fn best_text(store: &Store, run: &RunId) -> ApiResult<String> {
    let missing = |what: &str| ApiError::NotFound(format!("run {} has {what}", run.short()));
    let best = store.view(run).await?.best.ok_or_else(|| missing("no skill yet"))?;
    store
        .skill_text(&best.skill)
        .await?
        .ok_or_else(|| missing("a best skill whose text is not in the store"))
}

/// Ids in the order asked for, each once, and what is no id.
fn wanted(text: &str) -> ApiResult<(Vec<RunId>, Vec<String>)> {
    let (mut ids, mut missing) = (Vec::new(), Vec::new());
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match RunId::parse(word) {
            Ok(id) if ids.contains(&id) => {}
            Ok(id) => ids.push(id),
            Err(_) => missing.push(word.chars().take(64).collect()),
        }
    }
    if ids.len() + missing.len() > MAX_RUNS {
        return Err(ApiError::BadRequest(format!("at most {MAX_RUNS} runs are compared at once")));
    }
    Ok((ids, missing))
}

fn facts(parts: &ComparedParts) -> RunFacts {
    // What an import notes as plan stands for unknown tasks and sizes.
    let plan = parts.plan.as_ref();
    let sizes = plan.map(|plan| [plan.n_selection, plan.n_test]);
    RunFacts {
        name: parts.summary.name.clone(),
        status: parts.summary.status,
        benchmark: parts.summary.benchmark.clone(),
        data: plan.filter(|_| !parts.is_imported).map(|plan| plan.data.clone()),
        sizes: sizes.filter(|sizes| !parts.is_imported || !sizes.contains(&0)),
        metric: metric(&parts.config),
        target: parts.summary.target_model.clone(),
        is_simulated: parts.summary.target_simulated,
    }
}

/// The gate's number, with its weight where it has one.
fn metric(config: &Resolved) -> String {
    match config.value_or_default("evaluation.gate_metric").to_string() {
        mixed if mixed == "mixed" => {
            format!("mixed {}", config.value_or_default("evaluation.gate_mixed_weight"))
        }
        metric => metric,
    }
}

fn run(parts: ComparedParts) -> ComparedRun {
    let test = parts.summary.test_best;
    ComparedRun {
        metric: metric(&parts.config),
        is_imported: parts.is_imported,
        best_skill: parts.best.as_ref().map(|best| best.skill.clone()),
        best_version: parts.best.as_ref().map(|best| best.version),
        best_tokens: parts.best_tokens,
        test_interval: test
            .and_then(|mean| wilson(mean.hard, mean.n))
            .map(|(low, high)| [low, high]),
        active_ms: parts.active_ms,
        curve: parts.curve,
        summary: parts.summary,
    }
}

fn keys(parts: &[ComparedParts], base: usize) -> Vec<ComparedKey> {
    let text = |value: Value| (value != Value::Null).then(|| value.to_string());
    let from_base = parts.get(base).map_or_else(Vec::new, |base| from_base(base, parts));
    let built = KEYS.iter().filter(|spec| spec.availability == Availability::Built);
    let rows = built.map(|spec| {
        let values: Vec<Option<String>> =
            parts.iter().map(|one| text(one.config.value_or_default(spec.path))).collect();
        let differs = values.windows(2).any(|pair| pair[0] != pair[1]);
        let (effect, why) = match differs {
            true => effect(&from_base, spec.path),
            false => (ChangeEffect::Safe, String::new()),
        };
        ComparedKey { path: spec.path.to_owned(), values, differs, effect, why }
    });
    rows.collect()
}

/// In what each run differs from the base, as seen from the base.
fn from_base(base: &ComparedParts, parts: &[ComparedParts]) -> Vec<ConfigDifference> {
    let of = |other: &ComparedParts| {
        let contents = Contents {
            data: sameness(
                base.plan.as_ref().map(|plan| &plan.data),
                other.plan.as_ref().map(|plan| &plan.data),
                base.is_imported || other.is_imported,
            ),
            skill: sameness(
                base.plan.as_ref().map(|plan| &plan.initial_skill),
                other.plan.as_ref().map(|plan| &plan.initial_skill),
                false,
            ),
        };
        differences(&base.config, &other.config, contents)
    };
    parts.iter().filter(|other| other.summary.id != base.summary.id).flat_map(of).collect()
}

/// What a difference means: the gravest that it means for any run. The folders of runs always differ and mean nothing.
fn effect(from_base: &[ConfigDifference], path: &str) -> (ChangeEffect, String) {
    let of_key = || from_base.iter().filter(|one| one.path == path);
    let gravest =
        of_key().find(|one| one.effect == ChangeEffect::Results).or_else(|| of_key().next());
    gravest.map_or((ChangeEffect::Safe, "each run has its own folder".to_owned()), |one| {
        (one.effect, one.why.clone())
    })
}

fn sameness<T: PartialEq>(left: Option<&T>, right: Option<&T>, is_unknown: bool) -> Sameness {
    match (left, right) {
        (Some(left), Some(right)) if !is_unknown => {
            if left == right {
                Sameness::Same
            } else {
                Sameness::Other
            }
        }
        _ => Sameness::Unknown,
    }
}

/// Each run but the base against the base, on both splits, corrected for the number of comparisons.
async fn pairs(
    store: &Store,
    parts: &[ComparedParts],
    base: usize,
) -> Result<Vec<ComparedPair>, StoreFailure> {
    let Some(base_parts) = parts.get(base) else { return Ok(Vec::new()) };
    let splits = [RolloutPurpose::Test, RolloutPurpose::Selection];
    let mut of_split = Vec::new();
    for purpose in splits {
        let known = marks(store, base_parts, purpose).await?;
        let mut rows = Vec::new();
        for other in parts.iter().enumerate().filter(|(at, _)| *at != base).map(|(_, one)| one) {
            rows.push(paired(&known, &marks(store, other, purpose).await?));
        }
        of_split.push(corrected(rows));
    }
    let mut selection = of_split.pop().unwrap_or_default();
    let mut test = of_split.pop().unwrap_or_default();
    let n_stated = correct_stated(&mut test, &mut selection);
    let others = parts.iter().enumerate().filter(|(at, _)| *at != base).map(|(_, one)| one);
    let rows = others.zip(test.into_iter().zip(selection));
    Ok(rows
        .map(|(one, (test, selection))| ComparedPair {
            run: one.summary.id.clone(),
            statement: words(test.as_ref(), selection.as_ref(), n_stated),
            test,
            selection,
        })
        .collect())
}

/// Corrects the comparisons that are put into words, test or else selection, for their number, which it gives.
fn correct_stated(test: &mut [Option<Paired>], selection: &mut [Option<Paired>]) -> usize {
    let stated = test
        .iter_mut()
        .zip(selection)
        .filter_map(|(test, selection)| test.as_mut().or(selection.as_mut()));
    let stated: Vec<&mut Paired> = stated.collect();
    let values: Vec<f64> = stated.iter().map(|pair| pair.p).collect();
    let n_stated = stated.len();
    for (pair, p) in stated.into_iter().zip(holm(&values)) {
        pair.p_adjusted = p;
    }
    n_stated
}

async fn marks(
    store: &Store,
    parts: &ComparedParts,
    purpose: RolloutPurpose,
) -> Result<Vec<TaskMark>, StoreFailure> {
    match &parts.best {
        Some(best) => store.task_marks(&parts.summary.id, purpose, &best.skill).await,
        None => Ok(Vec::new()),
    }
}

fn corrected(mut rows: Vec<Option<Paired>>) -> Vec<Option<Paired>> {
    let values: Vec<f64> = rows.iter().flatten().map(|pair| pair.p).collect();
    for (pair, p) in rows.iter_mut().flatten().zip(holm(&values)) {
        pair.p_adjusted = p;
    }
    rows
}

/// The test split says more: nobody chose by it.
fn words(test: Option<&Paired>, selection: Option<&Paired>, n_compared: usize) -> String {
    match (test, selection) {
        (Some(test), _) => statement(PairedSplit::Test, test, n_compared),
        (None, Some(selection)) => statement(PairedSplit::Selection, selection, n_compared),
        (None, None) => "No task was scored with both best skills: nothing can be said.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(p: f64) -> Option<Paired> {
        Some(Paired { n: 40, n_fixed: 9, n_broke: 1, hard_difference: 0.2, p, p_adjusted: p })
    }

    #[test]
    fn only_comparisons_that_are_put_into_words_count_for_the_correction() {
        let mut test = [pair(0.02), None, None];
        let mut selection = [pair(0.5), pair(0.03), None];
        assert_eq!(correct_stated(&mut test, &mut selection), 2);
        let adjusted = |pair: &Option<Paired>| pair.map(|pair| pair.p_adjusted);
        assert_eq!(adjusted(&test[0]), Some(0.04));
        assert_eq!(adjusted(&selection[1]), Some(0.04), "Holm keeps the order");
        assert_eq!(adjusted(&selection[0]), Some(0.5), "it is not stated");
    }
}
