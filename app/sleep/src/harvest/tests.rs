//! Harvests of generated stores: exact digests and counts.

mod claude;
mod incremental;
mod sources;

use super::testing::{NOW, Stores};
use super::{Harvest, HarvestOptions, HarvestState, Source, SourceReport, harvest};
use crate::digest::SessionDigest;
use tempfile::TempDir;

/// All stores, in a folder that is gone at the end.
struct Fixture {
    folder: TempDir,
    stores: Stores,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stores = Stores::write(folder.path()).unwrap();
        Self { folder, stores }
    }

    fn options(&self, source: Source) -> HarvestOptions {
        HarvestOptions { sources: vec![source], ..self.stores.options() }
    }

    fn harvest(&self, source: Source) -> Harvest {
        harvest(&self.options(source), &HarvestState::default())
    }
}

fn report(found: &Harvest) -> &SourceReport {
    assert_eq!(found.sources.len(), 1);
    &found.sources[0]
}

fn session<'h>(found: &'h Harvest, id: &str) -> &'h SessionDigest {
    found
        .digests
        .iter()
        .find(|digest| digest.session_id == id)
        .unwrap_or_else(|| panic!("{id} in {:?}", ids(found)))
}

fn ids(found: &Harvest) -> Vec<&str> {
    found.digests.iter().map(|digest| digest.session_id.as_str()).collect()
}

/// Counts by reason, as names.
fn counts<K: serde::Serialize + Ord>(
    counts: &std::collections::BTreeMap<K, u64>,
) -> serde_json::Value {
    serde_json::to_value(counts).unwrap()
}

#[test]
fn auto_reads_every_source_and_the_newest_come_first() {
    let fixture = Fixture::new();
    let found = harvest(&fixture.stores.options(), &HarvestState::default());
    let per_source: Vec<(&str, u64)> =
        found.sources.iter().map(|report| (report.source.name(), report.kept)).collect();
    let expected = [
        ("claude", 6),
        ("codex", 2),
        ("copilot", 1),
        ("copilot_cli", 1),
        ("cursor", 1),
        ("pi", 2),
        ("opencode", 1),
        ("devin", 2),
    ];
    assert_eq!(per_source, expected);
    assert_eq!(found.digests.len(), 16);
    let ended: Vec<_> =
        found.digests.iter().map(|digest| super::Instant::parse(&digest.ended_at)).collect();
    assert!(ended.is_sorted_by(|a, b| a >= b));
    assert!(found.nothing_because().is_none());
}

#[test]
fn c10_a_machine_without_agents_says_why_there_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = HarvestOptions {
        homes: super::Homes { claude: Some(folder.path().join("none")), ..super::Homes::default() },
        sources: vec![Source::Claude, Source::Pi],
        ..HarvestOptions::new(NOW)
    };
    let found = harvest(&options, &HarvestState::default());
    let why = found.nothing_because().unwrap();
    assert!(why.starts_with("nothing to harvest because claude was never used here"), "{why}");
    assert!(why.contains("nobody said where pi keeps"), "{why}");
}

#[test]
fn nothing_planted_leaves_in_clear() {
    let fixture = Fixture::new();
    let found = harvest(&fixture.stores.options(), &HarvestState::default());
    let text = serde_json::to_string(&(&found, super::preview(&found.digests))).unwrap();
    for secret in ["sk-ant-api03", "hunter2", "ghp_aaaa"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let masked: usize = super::preview(&found.digests).iter().map(|session| session.masked).sum();
    assert_eq!(masked, 3);
    assert!(fixture.folder.path().exists());
}
