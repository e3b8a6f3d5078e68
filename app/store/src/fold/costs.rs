//! Costs by part in folds that an older program wrote: they are made again from the journal, once.

use crate::error::StoreFailure;
use crate::open::begin_write;
use crate::reading::event_of;
use crate::sql::{Column as _, Doing, from_json, int, to_json};
use skillopt_domain::view::RunView;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqlitePool;

/// `PRAGMA user_version` of a store whose folds all have their costs.
const WITH_FATES: i64 = 2;
const ACTION: &str = "add costs to the folds of runs";
/// Events that are in memory at once.
const CHUNK: u32 = 256;

/// Adds costs to all folds without them, unless that was done before.
pub(crate) async fn complete(pool: &SqlitePool) -> Result<(), StoreFailure> {
    let version: i64 =
        sqlx::query_scalar("PRAGMA user_version").fetch_one(pool).await.doing(ACTION)?;
    if version >= WITH_FATES {
        return Ok(());
    }
    let mut tx = begin_write(pool).await.doing(ACTION)?;
    let runs: Vec<i64> = sqlx::query_scalar(
        "SELECT run_no FROM run_documents WHERE json_type(view_json, '$.costs') IS NULL \
         OR json_type(view_json, '$.fates') IS NULL",
    )
    .fetch_all(&mut *tx)
    .await
    .doing(ACTION)?;
    for run_no in runs {
        complete_run(&mut tx, run_no).await?;
    }
    sqlx::query("PRAGMA user_version = 2").execute(&mut *tx).await.doing(ACTION)?;
    tx.commit().await.doing(ACTION)
}

async fn complete_run(conn: &mut SqliteConnection, run_no: i64) -> Result<(), StoreFailure> {
    // Only its costs are used.
    let mut told = RunView::default();
    loop {
        let rows = sqlx::query(
            "SELECT seq, at_ms, key, kind_json FROM events WHERE run_no = ? AND seq > ? AND type IN \
             ('baseline', 'step_finished', 'slow_updated', 'meta_skill_written', \
             'final_selected', 'tested') ORDER BY seq LIMIT ?",
        )
        .bind(run_no)
        .bind(int(told.seq))
        .bind(CHUNK)
        .fetch_all(&mut *conn)
        .await
        .doing(ACTION)?;
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            told.apply(&event_of(row)?);
        }
        let (costs, fates, seq) = (told.costs, told.fates, told.seq);
        told = RunView { costs, fates, seq, ..RunView::default() };
    }
    let row = sqlx::query("SELECT view_json FROM run_documents WHERE run_no = ?")
        .bind(run_no)
        .fetch_one(&mut *conn)
        .await
        .doing(ACTION)?;
    let mut view: RunView = from_json("a run's fold", &row.text("view_json")?)?;
    (view.costs, view.fates) = (told.costs, told.fates);
    sqlx::query("UPDATE run_documents SET view_json = ? WHERE run_no = ?")
        .bind(to_json(&view)?)
        .bind(run_no)
        .execute(conn)
        .await
        .doing(ACTION)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use crate::fold::{NewEvent, append_all};
    use crate::open::Store;
    use crate::runs::{self, NewRun};
    use skillopt_domain::config::Resolved;
    use skillopt_domain::cost::CostPart;
    use skillopt_domain::epoch::{EpochAction, MetaSkill};
    use skillopt_domain::event::EventKind;
    use skillopt_domain::ids::RunId;
    use skillopt_domain::spend::{Spend, SpendByRole};

    #[tokio::test]
    async fn a_store_of_an_older_program_gets_its_costs_once_and_the_same() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::open(dir.path()).await.expect("a store");
        let id = RunId::parse("01890000-0000-7000-8000-000000000007").expect("an id");
        let run = NewRun {
            id: id.clone(),
            name: "one".into(),
            config: Resolved::default(),
            out_root: "out/7".into(),
            actor: "tester".into(),
            fresh: None,
            created_at_ms: 1000,
            lease: None,
        };
        let target = Spend { calls: 3, ..Spend::default() };
        let spend = SpendByRole { target, ..SpendByRole::default() };
        let kinds: Vec<EventKind> = (1..=300)
            .map(|epoch| {
                EventKind::MetaSkillWritten(MetaSkill {
                    epoch,
                    action: EpochAction::WriteMetaSkill,
                    content: String::new(),
                    reasoning: String::new(),
                    wall_ms: 2,
                    spend,
                    reason: String::new(),
                })
            })
            .collect();
        let keys: Vec<String> = (1..=300).map(|epoch| format!("epoch/{epoch}")).collect();
        let events: Vec<NewEvent<'_>> = keys
            .iter()
            .zip(&kinds)
            .map(|(key, kind)| NewEvent { key, kind, at_ms: 1500 })
            .collect();
        let mut tx = store.write("test").await.expect("a turn");
        runs::insert(&mut tx, &run).await.expect("a run");
        append_all(&mut tx, &id, &events).await.expect("told");
        sqlx::query("UPDATE run_documents SET view_json = json_remove(view_json, '$.costs')")
            .execute(&mut *tx)
            .await
            .expect("aged");
        sqlx::query("PRAGMA user_version = 0").execute(&mut *tx).await.expect("aged");
        tx.commit().await.expect("kept");
        assert_eq!(store.view(&id).await.expect("a view").costs, []);
        store.close().await;

        for _ in 0..2 {
            let store = Store::open(dir.path()).await.expect("a store");
            let view = store.view(&id).await.expect("a view");
            let rows: Vec<_> = view
                .costs
                .iter()
                .map(|row| (row.part, row.wall_ms, row.spend.target.calls))
                .collect();
            assert_eq!(rows, [(CostPart::MetaSkill, Some(600), 900)]);
            assert_eq!(view.meta_skills.len(), 300, "the rest of the fold stays");
            store.close().await;
        }
    }
}
