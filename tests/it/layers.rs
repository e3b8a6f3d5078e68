//! The arrows of the architecture, read from `cargo metadata`.

use anyhow::Context;
use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use std::collections::BTreeSet;

/// What each crate may use of ours.
const ARROWS: [(&str, &[&str]); 8] = [
    ("skillopt-domain", &[]),
    ("skillopt-engine", &["skillopt-domain"]),
    ("skillopt-models", &["skillopt-domain", "skillopt-engine"]),
    ("skillopt-benchmarks", &["skillopt-domain", "skillopt-engine"]),
    ("skillopt-sleep", &["skillopt-domain", "skillopt-engine"]),
    ("skillopt-store", &["skillopt-domain", "skillopt-engine"]),
    (
        "skillopt-server",
        &[
            "skillopt-domain",
            "skillopt-engine",
            "skillopt-models",
            "skillopt-benchmarks",
            "skillopt-sleep",
            "skillopt-store",
        ],
    ),
    ("skillopt-frontend", &["skillopt-domain"]),
];

/// Technologies that one crate alone may name.
const OWNERS: [(&str, &str); 8] = [
    ("sqlx", "skillopt-store"),
    // Reads the databases of other programs; ours is sqlx's.
    ("rusqlite", "skillopt-sleep"),
    ("reqwest", "skillopt-models"),
    ("axum", "skillopt-server"),
    ("clap", "skillopt-server"),
    ("keyring", "skillopt-server"),
    ("rmcp", "skillopt-server"),
    ("leptos", "skillopt-frontend"),
];

/// All that `domain` may stand on; `utoipa` is optional and for the server only.
const DOMAIN_MAY_USE: [&str; 7] =
    ["serde", "serde_json", "sha2", "similar", "strsim", "thiserror", "utoipa"];

/// What would tie the engine to a technology.
const ENGINE_NEVER: [&str; 6] = ["reqwest", "sqlx", "axum", "hyper", "rand", "uuid"];

fn packages() -> anyhow::Result<Vec<Package>> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let metadata = MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .exec()
        .context("reading cargo metadata")?;
    Ok(metadata.packages)
}

fn normal_dependencies(package: &Package) -> BTreeSet<&str> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == DependencyKind::Normal)
        .map(|dependency| dependency.name.as_str())
        .collect()
}

fn find<'a>(packages: &'a [Package], name: &str) -> anyhow::Result<&'a Package> {
    packages
        .iter()
        .find(|package| package.name.as_str() == name)
        .with_context(|| format!("no package {name}"))
}

#[test]
fn dependencies_point_inwards() -> anyhow::Result<()> {
    let packages = packages()?;
    for (name, may_use) in ARROWS {
        let package = find(&packages, name)?;
        let ours: Vec<&str> = normal_dependencies(package)
            .into_iter()
            .filter(|dependency| dependency.starts_with("skillopt-"))
            .collect();
        for dependency in ours {
            assert!(may_use.contains(&dependency), "{name} must not use {dependency}");
        }
    }
    Ok(())
}

#[test]
fn each_technology_has_one_owner() -> anyhow::Result<()> {
    for package in packages()? {
        for (technology, owner) in OWNERS {
            let uses = normal_dependencies(&package).contains(technology);
            assert!(
                !uses || package.name.as_str() == owner,
                "{} must not use {technology}",
                package.name
            );
        }
    }
    Ok(())
}

#[test]
fn domain_and_engine_stay_pure() -> anyhow::Result<()> {
    let packages = packages()?;
    for dependency in normal_dependencies(find(&packages, "skillopt-domain")?) {
        assert!(DOMAIN_MAY_USE.contains(&dependency), "domain must not use {dependency}");
    }
    for dependency in normal_dependencies(find(&packages, "skillopt-engine")?) {
        assert!(!ENGINE_NEVER.contains(&dependency), "the engine must not use {dependency}");
    }
    Ok(())
}
