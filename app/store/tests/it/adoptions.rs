//! Adoptions: one write, one receipt, whatever is clicked.

use crate::support::{Kind, run_id, sha};
use rstest::rstest;
use skillopt_domain::ids::AdoptionId;
use skillopt_store::{AdoptionError, AdoptionState, Begun, NewAdoption, Store};

fn adoption_id(n: u32) -> AdoptionId {
    AdoptionId::parse(&format!("0190a0c2-7b1e-7c33-9f00-{n:012x}")).unwrap()
}

fn new(n: u32, key: &str) -> NewAdoption {
    NewAdoption {
        id: adoption_id(n),
        run: run_id(1),
        skill: sha("better"),
        path: "~/SKILL.md".into(),
        real_path: "/home/ada/SKILL.md".into(),
        before: Some(sha("live")),
        backup: Some("/home/ada/SKILL.md.bak".into()),
        actor: "ada".into(),
        at_ms: 5000,
        idempotency_key: key.into(),
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn an_adoption_goes_from_intent_to_receipt_to_reverted(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    assert_eq!(store.begin_adoption(&new(1, "a")).await.unwrap(), Begun::New);
    assert_eq!(store.open_adoptions().await.unwrap().len(), 1);
    let receipt = store.finish_adoption(&adoption_id(1)).await.unwrap();
    assert_eq!((receipt.before, receipt.after), (Some(sha("live")), sha("better")));
    assert!(store.open_adoptions().await.unwrap().is_empty());
    let receipt = store.mark_reverted(&adoption_id(1), "bob", 6000).await.unwrap();
    assert_eq!(receipt.reverted_at_ms, Some(6000));
    let again = store.mark_reverted(&adoption_id(1), "bob", 6001).await;
    assert!(matches!(again, Err(AdoptionError::WrongState { state: AdoptionState::Reverted, .. })));
    let known = store.adoption(&adoption_id(1)).await.unwrap().unwrap();
    assert_eq!((known.state, known.receipt), (AdoptionState::Reverted, receipt));
    let actions: Vec<String> =
        store.audit_log(9).await.unwrap().into_iter().map(|row| row.action).collect();
    assert_eq!(actions, ["revert_adoption", "adopt"]);
}

#[tokio::test]
async fn c64_a_retry_with_the_same_key_gets_the_same_receipt() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    store.begin_adoption(&new(1, "a")).await.unwrap();
    let receipt = store.finish_adoption(&adoption_id(1)).await.unwrap();
    let Begun::Repeated(known) = store.begin_adoption(&new(2, "a")).await.unwrap() else {
        panic!("a second write")
    };
    assert_eq!((known.receipt, known.state), (receipt, AdoptionState::Done));
    let other = NewAdoption { skill: sha("else"), ..new(3, "a") };
    let reused = store.begin_adoption(&other).await;
    assert!(matches!(reused, Err(AdoptionError::KeyReused { .. })));
    assert_eq!(store.list_adoptions(Some(&run_id(1))).await.unwrap().len(), 1);
    assert_eq!(store.list_adoptions(Some(&run_id(2))).await.unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn c64_of_twenty_clicks_in_two_processes_one_writes() {
    let opened = Kind::File.open().await;
    let other = Store::open(opened.path()).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..20 {
        let store = if n % 2 == 0 { opened.store.clone() } else { other.clone() };
        tasks.spawn(async move { store.begin_adoption(&new(n, &format!("key {n}"))).await });
    }
    let mut won = 0;
    while let Some(result) = tasks.join_next().await {
        match result.unwrap() {
            Ok(Begun::New) => won += 1,
            Err(AdoptionError::InProgress { real_path, .. }) => {
                assert_eq!(real_path, "/home/ada/SKILL.md");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn a_failed_adoption_frees_the_file() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    store.begin_adoption(&new(1, "a")).await.unwrap();
    store.fail_adoption(&adoption_id(1), "disk full").await.unwrap();
    let known = store.adoption(&adoption_id(1)).await.unwrap().unwrap();
    assert_eq!((known.state, known.error.as_deref()), (AdoptionState::Failed, Some("disk full")));
    assert_eq!(store.begin_adoption(&new(2, "b")).await.unwrap(), Begun::New);
}
