//! Adoption against real files, with crashes at every point.

use super::write::{Watcher, WritePoint};
use super::{AdoptError, AdoptRoots, Adopter};
use crate::testing::{IMPROVED, INITIAL, TestClock, trained_run};
use rstest::rstest;
use skillopt_domain::api::{AdoptPreviewRequest, AdoptRequest, Receipt};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_sleep::adopt::live_file;
use skillopt_store::{AdoptionState, Store};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const LIVE: &str = "# Skill\r\n\r\nMine.\r\n";

struct World {
    dir: tempfile::TempDir,
    adopter: Adopter,
    store: Store,
    run: RunId,
}

impl World {
    async fn new() -> Self {
        Self::with_selection(20).await
    }

    async fn with_selection(n_selection: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_memory().await.unwrap();
        let run = trained_run(&store, n_selection).await.id;
        let roots = AdoptRoots::new(None, [dir.path().to_owned()]);
        let adopter = Adopter::new(store.clone(), roots, TestClock::shared());
        Self { dir, adopter, store, run }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn live(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, LIVE).unwrap();
        path
    }

    fn request(&self, path: &Path, expected: Option<&str>, key: &str) -> AdoptRequest {
        AdoptRequest {
            run: self.run.clone(),
            skill: Sha256Hex::of(IMPROVED),
            path: path.display().to_string(),
            expected_live: expected.map(Sha256Hex::of),
            idempotency_key: key.to_owned(),
        }
    }

    async fn adopt(
        &self,
        path: &Path,
        expected: Option<&str>,
        key: &str,
    ) -> Result<Receipt, AdoptError> {
        self.adopter.adopt(self.request(path, expected, key), "local").await
    }

    /// Names in the folder besides `keep`, sorted.
    fn others(&self, keep: &str) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != keep)
            .collect();
        names.sort();
        names
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn adopting_keeps_mode_and_symlink_and_leaves_a_backup() {
    let world = World::new().await;
    let target = world.live("real.md");
    let link = world.path("SKILL.md");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("real.md", &link).unwrap();
    }
    let preview = AdoptPreviewRequest {
        run: world.run.clone(),
        skill: Sha256Hex::of(IMPROVED),
        path: link.display().to_string(),
    };
    let preview = world.adopter.preview(&preview).await.unwrap();
    assert!(preview.is_symlink && !preview.is_same && preview.blockers.is_empty());
    assert_eq!(preview.mode.as_deref(), Some("640"));
    assert_eq!(read(&target), LIVE, "a preview writes nothing");

    let receipt = world.adopt(&link, Some(LIVE), "k").await.unwrap();
    assert_eq!(read(&target), IMPROVED);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(receipt.backup, preview.backup);
    assert_eq!(read(Path::new(receipt.backup.as_ref().unwrap())), LIVE);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o7777, 0o640);
    }

    let reverted = world.adopter.revert(receipt.id.clone(), "local").await.unwrap();
    assert!(reverted.reverted_at_ms.is_some());
    assert_eq!(read(&target), LIVE);
    assert_eq!(world.adopter.revert(receipt.id, "local").await.unwrap(), reverted);
}

#[tokio::test]
async fn a_new_file_is_removed_again_by_revert() {
    let world = World::new().await;
    let path = world.path("SKILL.md");
    let receipt = world.adopt(&path, None, "k").await.unwrap();
    assert_eq!((read(&path).as_str(), receipt.backup), (IMPROVED, None));
    world.adopter.revert(receipt.id, "local").await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn c63_a_file_that_changed_is_never_overwritten() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    fs::write(&path, "edited since").unwrap();
    let err = world.adopt(&path, Some(LIVE), "k").await.unwrap_err();
    let live = Sha256Hex::of("edited since");
    assert!(
        matches!(&err, AdoptError::FileChanged { live: Some(sha), .. } if *sha == live),
        "{err}"
    );
    assert!(err.to_string().contains(live.as_str()));
    assert_eq!(read(&path), "edited since");
    assert_eq!(world.others("SKILL.md"), Vec::<String>::new());
    assert!(matches!(world.adopt(&path, None, "k2").await, Err(AdoptError::FileChanged { .. })));
}

#[tokio::test]
async fn c63_a_file_that_changes_during_the_write_is_not_overwritten() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    let victim = path.clone();
    let watcher: Watcher = Arc::new(move |point| {
        if point == WritePoint::Staged { fs::write(&victim, "typed just now") } else { Ok(()) }
    });
    let request = world.request(&path, Some(LIVE), "k");
    let err = world.adopter.adopt_watched(&request, "local", watcher).await.unwrap_err();
    assert!(matches!(err, AdoptError::FileChanged { .. }), "{err}");
    assert_eq!(read(&path), "typed just now");
    assert!(world.others("SKILL.md").iter().all(|name| name.contains("backup")));
}

#[tokio::test]
async fn c63_revert_leaves_a_file_that_was_edited_since() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    let receipt = world.adopt(&path, Some(LIVE), "k").await.unwrap();
    fs::write(&path, "edited since").unwrap();
    let err = world.adopter.revert(receipt.id, "local").await.unwrap_err();
    assert!(matches!(err, AdoptError::FileChanged { .. }), "{err}");
    assert_eq!(read(&path), "edited since");
}

#[tokio::test]
async fn c64_twenty_requests_with_one_key_give_one_write_and_one_receipt() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    let asks = (0..20).map(|_| world.adopt(&path, Some(LIVE), "one key"));
    let receipts: Vec<Receipt> =
        futures::future::join_all(asks).await.into_iter().map(Result::unwrap).collect();
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]));
    assert_eq!(world.store.list_adoptions(None).await.unwrap().len(), 1);
    assert_eq!(world.others("SKILL.md").len(), 1, "one backup");
}

#[tokio::test]
async fn c64_twenty_adopters_give_one_write_and_nineteen_refusals() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    let keys: Vec<String> = (0..20).map(|n| format!("key {n}")).collect();
    let asks = keys.iter().map(|key| world.adopt(&path, Some(LIVE), key));
    let (done, refused): (Vec<_>, Vec<_>) =
        futures::future::join_all(asks).await.into_iter().partition(Result::is_ok);
    assert_eq!((done.len(), refused.len()), (1, 19));
    assert!(refused.into_iter().all(|err| matches!(err, Err(AdoptError::FileChanged { .. }))));
    assert_eq!(read(&path), IMPROVED);
}

#[tokio::test]
async fn c64_a_write_whose_asker_hung_up_is_finished_and_has_its_receipt() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    let hung_up = tokio::time::timeout(Duration::ZERO, world.adopt(&path, Some(LIVE), "k")).await;
    assert!(hung_up.is_err(), "nobody waits for the answer");
    world.adopter.close().await;
    assert_eq!(read(&path), IMPROVED);
    let again = world.adopt(&path, Some(LIVE), "k").await.unwrap();
    let known = world.store.list_adoptions(None).await.unwrap();
    assert_eq!((known.len(), &known[0].receipt), (1, &again));
}

#[tokio::test]
async fn c64_a_key_is_good_for_one_adoption_only() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    world.adopt(&path, Some(LIVE), "k").await.unwrap();
    let other = world.live("OTHER.md");
    assert!(matches!(world.adopt(&other, Some(LIVE), "k").await, Err(AdoptError::Refused(_))));
    assert_eq!(read(&other), LIVE);
}

#[rstest]
#[case(WritePoint::Intended, LIVE, AdoptionState::Failed)]
#[case(WritePoint::BackedUp, LIVE, AdoptionState::Failed)]
#[case(WritePoint::Staged, LIVE, AdoptionState::Failed)]
#[case(WritePoint::InPlace, IMPROVED, AdoptionState::Done)]
#[tokio::test]
async fn c65_after_a_crash_old_or_new_bytes_are_there_entirely(
    #[case] crash: WritePoint,
    #[case] bytes: &str,
    #[case] state: AdoptionState,
) {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    crash_at(&world, &path, crash).await;
    assert_eq!(read(&path), bytes);

    world.adopter.recover().await.unwrap();
    assert_eq!(read(&path), bytes, "recovery writes nothing");
    assert_eq!(world.store.list_adoptions(None).await.unwrap()[0].state, state);
    assert!(world.store.open_adoptions().await.unwrap().is_empty());
    assert!(world.others("SKILL.md").iter().all(|name| name.contains("backup")));
}

#[tokio::test]
async fn c65_recovery_leaves_an_edit_that_was_made_after_the_crash() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    crash_at(&world, &path, WritePoint::InPlace).await;
    fs::write(&path, "edited after the crash").unwrap();
    world.adopter.recover().await.unwrap();
    assert_eq!(read(&path), "edited after the crash");
    assert_eq!(world.store.list_adoptions(None).await.unwrap()[0].state, AdoptionState::Failed);
}

async fn crash_at(world: &World, path: &Path, crash: WritePoint) {
    let watcher: Watcher =
        Arc::new(move |point| if point == crash { Err(io::Error::other("crash")) } else { Ok(()) });
    let request = world.request(path, Some(LIVE), "k");
    let ended = world.adopter.adopt_watched(&request, "local", watcher).await;
    assert!(matches!(ended, Err(AdoptError::Interrupted)));
    assert_eq!(world.store.open_adoptions().await.unwrap().len(), 1);
}

#[tokio::test]
async fn c65_a_write_that_cannot_be_staged_fails_and_leaves_the_file() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    // A folder in the way of the staged bytes, as root can write everywhere.
    let in_the_way = path.clone();
    let store = world.store.clone();
    let handle = tokio::runtime::Handle::current();
    let watcher: Watcher = Arc::new(move |point| {
        if point != WritePoint::BackedUp {
            return Ok(());
        }
        let open = handle.block_on(store.open_adoptions()).unwrap();
        fs::create_dir(live_file::staged_path(&in_the_way, open[0].receipt.id.as_str()))
    });
    let request = world.request(&path, Some(LIVE), "k");
    let err = world.adopter.adopt_watched(&request, "local", watcher).await.unwrap_err();
    assert!(matches!(err, AdoptError::Io { .. }), "{err}");
    assert_eq!(read(&path), LIVE);
    assert_eq!(world.store.list_adoptions(None).await.unwrap()[0].state, AdoptionState::Failed);
}

#[tokio::test]
async fn an_unverified_version_is_shown_with_its_blocker_and_not_adopted() {
    let world = World::with_selection(0).await;
    let path = world.live("SKILL.md");
    let preview = AdoptPreviewRequest {
        run: world.run.clone(),
        skill: Sha256Hex::of(IMPROVED),
        path: path.display().to_string(),
    };
    let blockers = world.adopter.preview(&preview).await.unwrap().blockers;
    assert!(blockers[0].starts_with("unverified"), "{blockers:?}");
    assert!(matches!(world.adopt(&path, Some(LIVE), "k").await, Err(AdoptError::Refused(_))));
    assert_eq!(read(&path), LIVE);
}

#[tokio::test]
async fn a_skill_of_another_run_is_not_found() {
    let world = World::new().await;
    let path = world.live("SKILL.md");
    let mut request = world.request(&path, Some(LIVE), "k");
    request.skill = Sha256Hex::of("never seen");
    let err = world.adopter.adopt(request, "local").await.unwrap_err();
    assert!(matches!(err, AdoptError::NotFound(_)), "{err}");
}

#[rstest]
#[case("SKILL.md")]
#[case("")]
#[case("ROOT/SKILL.txt")]
#[case("ROOT/.md")]
#[case("ROOT/SKILL.md/")]
#[case("ROOT/../ROOT/SKILL.md")]
#[case("ROOT/missing/SKILL.md")]
#[case("ROOT/nul\0.md")]
#[case("ROOT/dangling.md")]
#[case("ROOT/outside.md")]
#[case("ROOT/folder.md")]
#[case("ROOT/disguised.md")]
#[case("/etc/SKILL.md")]
#[case("~/SKILL.md")]
#[tokio::test]
async fn c71_only_markdown_files_under_allowed_folders_are_written(#[case] typed: &str) {
    let world = World::new().await;
    let outside = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("nowhere.md", world.path("dangling.md")).unwrap();
        symlink(outside.path().join("SKILL.md"), world.path("outside.md")).unwrap();
        symlink("secret.txt", world.path("disguised.md")).unwrap();
    }
    fs::write(outside.path().join("SKILL.md"), LIVE).unwrap();
    fs::write(world.path("secret.txt"), LIVE).unwrap();
    fs::create_dir(world.path("folder.md")).unwrap();
    let typed = typed.replace("ROOT", &world.path("").display().to_string());
    let path = PathBuf::from(typed.replace("//", "/"));
    let err = world.adopt(&path, None, "k").await.unwrap_err();
    assert!(matches!(err, AdoptError::Path(_)), "{err}");
    assert_eq!(read(&outside.path().join("SKILL.md")), LIVE);
}

#[test]
fn home_is_a_root_and_may_be_written_as_tilde() {
    let home = tempfile::tempdir().unwrap();
    let roots = AdoptRoots::new(Some(home.path().to_owned()), []);
    let path = roots.resolve("~/SKILL.md").unwrap();
    assert_eq!(path.real, home.path().canonicalize().unwrap().join("SKILL.md"));
}

#[test]
fn a_backup_name_that_is_taken_gets_longer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("SKILL.md");
    let sha = Sha256Hex::of(INITIAL);
    let first = live_file::backup_path(&path, &sha).unwrap();
    assert!(
        first
            .display()
            .to_string()
            .ends_with(&format!("SKILL.md.skillopt-backup-{}", &sha.as_str()[..8]))
    );
    fs::write(&first, "other bytes").unwrap();
    assert_ne!(live_file::backup_path(&path, &sha).unwrap(), first);
    fs::write(&first, INITIAL).unwrap();
    assert_eq!(live_file::backup_path(&path, &sha).unwrap(), first);
}
