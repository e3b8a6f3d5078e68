//! Test calls of real models, and which models are listed.

use super::*;
use crate::host::TestScope;
use skillopt_domain::config::RunConfig;
use skillopt_domain::spend::Role;

const NOBODY: &str = "http://127.0.0.1:1/v1";

fn real(scene: &Scene) -> RunConfig {
    let resolved = scene.config(&[
        "model.backend=openai_compatible",
        &format!("model.openai_compatible_base_url={NOBODY}"),
        "model.target=small",
        "model.optimizer=large",
        "model.max_retries=0",
    ]);
    scene.hosting.models_config(&resolved).expect("a config")
}

#[tokio::test]
async fn a_test_call_that_may_cost_money_is_audited_and_its_failure_is_an_answer() {
    let scene = Scene::new().await;
    let cancel = CancellationToken::new();
    let config = real(&scene);
    let test =
        scene.hosting.test_role(&config, Role::Target, TestScope::Accepts, "tester", &cancel).await;
    let test = test.expect("an answer");
    assert!(!test.ok && test.error.contains("cannot connect") && test.latency_ms.is_none());
    assert!(test.probes.is_empty(), "who does not answer is not asked further: {test:?}");
    let audit = scene.hosting.store().audit_log(10).await.expect("a log");
    let row = audit.first().expect("a row");
    assert_eq!((row.actor.as_str(), row.action.as_str()), ("tester", "test_model"));
    assert_eq!(row.subject, "target small");
    assert!(row.detail.contains(NOBODY), "{row:?}");
    assert_eq!(audit.len(), 1);
}

#[tokio::test]
async fn the_models_of_runs_are_listed_once_each_with_the_run_to_look_at() {
    let scene = Scene::new().await;
    let resolved = scene.config(&[
        "model.target_backend=openai_compatible",
        &format!("model.openai_compatible_base_url={NOBODY}"),
        "model.target=small",
        "model.target_temperature=0.5",
    ]);
    let first = scene.create(resolved.clone(), None).await;
    let last = scene.create(resolved, None).await;
    let models = scene.hosting.models().await.expect("a list");
    let of_runs: Vec<_> = models.uses.iter().filter(|one| one.model == "small").collect();
    assert_eq!(of_runs.len(), 1, "{models:?}");
    assert_eq!((of_runs[0].run.as_ref(), of_runs[0].n_runs), (Some(&last), 2), "not {first}");
    assert_eq!(of_runs[0].base_url, NOBODY);
    assert_eq!(of_runs[0].key_place, "no key is sent", "the key is for no address");
    let temperature = of_runs[0].wire.iter().find(|field| field.name == "temperature");
    assert_eq!(temperature.map(|field| field.value.as_str()), Some("0.5"));
    let simulated = models.uses.iter().filter(|one| one.model == "sim-optimizer");
    assert_eq!(simulated.count(), 1, "the run's and the sample's are one");
}

#[rstest::rstest]
#[case::a_key_in_the_clear(&[
    "model.openai_compatible_base_url=http://models.example/v1",
    "model.target_api_key_env=OPENAI_COMPATIBLE_API_KEY",
], "model.target_openai_compatible_base_url")]
#[case::a_field_of_ours(&[
    "model.openai_compatible_base_url=http://127.0.0.1:1/v1",
    r#"model.target_extra_body={"messages": []}"#,
], "model.target_extra_body")]
#[tokio::test]
async fn what_is_wrong_with_an_endpoint_names_the_key_to_change(
    #[case] options: &[&str],
    #[case] expect: &str,
) {
    let scene = Scene::new().await;
    let mut all = vec!["model.target_backend=openai_compatible", "model.target=small"];
    all.extend(options);
    let check = scene.hosting.check(&scene.config(&all)).await;
    let paths: Vec<&str> = check.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert!(paths.contains(&expect), "{:?}", check.problems);
}
