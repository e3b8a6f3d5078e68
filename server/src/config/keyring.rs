//! Keys in the system's keyring. It is asked only for entries that `skillopt keys set` put there: a file of the data
//! directory has their names, the addresses that they are for, and their random ids. The keyring is one for all data
//! directories, so that without its id no other directory can take a key and send it elsewhere. Values never leave the
//! keyring.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A locked keyring asks the user for its password; so long is waited.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const INDEX: &str = "keyring.json";
const SERVICE: &str = "skillopt";

/// Where a machine keeps its secrets. Calls block, and may wait for the user.
pub(crate) trait SecretStore: Send + Sync + fmt::Debug {
    /// The secret of that name; `None` where there is none.
    fn get(&self, name: &str) -> Result<Option<String>, String>;
    /// Puts a secret there, in the place of an earlier one.
    fn set(&self, name: &str, secret: &str) -> Result<(), String>;
    /// Takes a secret away; no error where there is none.
    fn remove(&self, name: &str) -> Result<(), String>;
}

/// The keyring of the system: Keychain, Credential Manager, or the Secret Service of a desktop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemKeyring;

impl SecretStore for SystemKeyring {
    fn get(&self, name: &str) -> Result<Option<String>, String> {
        let name = name.to_owned();
        within_time(move || match entry(&name)?.get_password() {
            Ok(secret) => Ok(Some(secret)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(err) => Err(words(&err)),
        })
    }

    fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        let (name, secret) = (name.to_owned(), secret.to_owned());
        within_time(move || entry(&name)?.set_password(&secret).map_err(|err| words(&err)))
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        let name = name.to_owned();
        within_time(move || match entry(&name)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(err) => Err(words(&err)),
        })
    }
}

fn entry(name: &str) -> Result<keyring::Entry, String> {
    if let Err(err) = keyring::Entry::store_status() {
        return Err(format!("this machine has none that can be reached ({})", words(err)));
    }
    keyring::Entry::new(SERVICE, name).map_err(|err| words(&err))
}

/// An error of the keyring without the bytes that some of its kinds carry.
fn words(err: &keyring::Error) -> String {
    match err {
        keyring::Error::BadEncoding(_) => "what it holds is no text".to_owned(),
        other => crate::causes::causes(other),
    }
}

/// Asks on a thread of its own, which is left behind when nobody answers.
fn within_time<T: Send + 'static>(
    ask: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more after the longest wait.
        let _ = tell.send(ask());
    });
    told.recv_timeout(LONGEST_WAIT).unwrap_or_else(|_| {
        Err(format!("it gave no answer within {} s; is it locked?", LONGEST_WAIT.as_secs()))
    })
}

/// The names that the keyring holds for a data directory. Values are read when they are asked for first.
#[derive(Clone, Debug)]
pub struct Keyring {
    store: Arc<dyn SecretStore>,
    index: PathBuf,
    names: BTreeMap<String, Named>,
    /// Why the list of names could not be read.
    fault: Option<String>,
}

#[derive(Clone)]
struct Named {
    /// `None` in a list that was not written here: no entry belongs to it.
    entry: Option<EntryId>,
    bound_to: Option<String>,
    value: OnceLock<Result<Option<String>, String>>,
}

/// Shows no value.
impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Named").field("bound_to", &self.bound_to).finish_non_exhaustive()
    }
}

/// The random part of an entry's name in the keyring, which only the data directory that made it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct EntryId(String);

impl EntryId {
    fn random() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }

    /// What the keyring calls the key of this name.
    fn entry_of(&self, name: &str) -> String {
        format!("{name} {}", self.0)
    }
}

impl Named {
    /// The key, read the first time that it is asked for.
    fn value(&self, name: &str, store: &dyn SecretStore) -> &Result<Option<String>, String> {
        self.value.get_or_init(|| match &self.entry {
            Some(id) => store.get(&id.entry_of(name)),
            None => Err("the list of names has no entry for it; set it again".to_owned()),
        })
    }
}

/// A name in the list.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Listed {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<EntryId>,
    /// The address that the key is for.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    bound_to: Option<String>,
}

impl Keyring {
    /// The keyring of the system with the names of a data directory. It is not asked for anything yet.
    #[must_use]
    pub fn open(data_dir: &Path) -> Self {
        Self::with_store(data_dir, Arc::new(SystemKeyring))
    }

    pub(crate) fn with_store(data_dir: &Path, store: Arc<dyn SecretStore>) -> Self {
        let index = data_dir.join(INDEX);
        let (entries, fault) = match read_index(&index) {
            Ok(entries) => (entries, None),
            Err(reason) => (BTreeMap::new(), Some(format!("{}: {reason}", index.display()))),
        };
        let names = entries
            .into_iter()
            .map(|(name, Listed { entry, bound_to })| {
                (name, Named { entry, bound_to, value: OnceLock::new() })
            })
            .collect();
        Self { store, index, names, fault }
    }

    /// Why the list of names could not be read.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The names that it holds.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The address that a key is for, where one was given.
    pub(crate) fn bound_to(&self, name: &str) -> Option<&str> {
        self.names.get(name)?.bound_to.as_deref()
    }

    /// The key of that name. The first time blocks, and may wait for the user.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let named = self.names.get(name)?;
        match named.value(name, &*self.store) {
            Ok(value) => value.as_deref().map(str::trim).filter(|value| !value.is_empty()),
            Err(_) => None,
        }
    }

    /// Why a name that it holds has no value; `None` where it has one, and for other names.
    pub(crate) fn refused(&self, name: &str) -> Option<String> {
        let named = self.names.get(name)?;
        match named.value(name, &*self.store) {
            Ok(Some(_)) => None,
            Ok(None) => Some("the system keyring holds it no more".to_owned()),
            Err(reason) => Some(format!("the system keyring: {reason}")),
        }
    }

    /// Puts a key there, for one address or for whatever a config names.
    ///
    /// # Errors
    /// What the keyring or the file system says.
    pub(crate) fn set(
        &mut self,
        name: &str,
        secret: &str,
        bound_to: Option<String>,
    ) -> Result<(), String> {
        self.check()?;
        let known = self.names.get(name).and_then(|named| named.entry.clone());
        let is_new = known.is_none();
        let id = known.unwrap_or_else(EntryId::random);
        let entry = id.entry_of(name);
        self.store.set(&entry, secret)?;
        let named = Named { entry: Some(id), bound_to, value: OnceLock::new() };
        self.names.insert(name.to_owned(), named);
        let written = self.write_index();
        if written.is_err() && is_new {
            // Without its id nobody would find it again. What is told is why the list could not be written.
            let _ = self.store.remove(&entry);
        }
        written
    }

    /// Takes a key away; false where there was none.
    ///
    /// # Errors
    /// What the keyring or the file system says.
    pub(crate) fn remove(&mut self, name: &str) -> Result<bool, String> {
        self.check()?;
        let Some(named) = self.names.get(name) else { return Ok(false) };
        if let Some(id) = &named.entry {
            self.store.remove(&id.entry_of(name))?;
        }
        self.names.remove(name);
        self.write_index()?;
        Ok(true)
    }

    /// A list that cannot be read is never written over.
    fn check(&self) -> Result<(), String> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    fn write_index(&self) -> Result<(), String> {
        let listed =
            |named: &Named| Listed { entry: named.entry.clone(), bound_to: named.bound_to.clone() };
        let entries: BTreeMap<&str, Listed> =
            self.names.iter().map(|(name, named)| (name.as_str(), listed(named))).collect();
        let text = serde_json::to_string_pretty(&entries).map_err(|err| err.to_string())?;
        let dir = self.index.parent().unwrap_or(Path::new("."));
        let write = || {
            std::fs::create_dir_all(dir)?;
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            writeln!(file, "{text}")?;
            file.as_file().sync_all()?;
            file.persist(&self.index).map(|_| ()).map_err(std::io::Error::from)
        };
        write().map_err(|err| format!("{}: {err}", self.index.display()))
    }
}

fn read_index(path: &Path) -> Result<BTreeMap<String, Listed>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|err| err.to_string()),
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(err) => Err(err.to_string()),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use std::sync::Mutex;

    /// A keyring in memory.
    #[derive(Default)]
    pub(crate) struct MemoryKeyring {
        pub(crate) secrets: Mutex<BTreeMap<String, String>>,
        /// How often it was asked for a value.
        pub(crate) asked: Mutex<u32>,
        pub(crate) is_locked: bool,
    }

    impl fmt::Debug for MemoryKeyring {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("MemoryKeyring")
        }
    }

    impl SecretStore for MemoryKeyring {
        fn get(&self, name: &str) -> Result<Option<String>, String> {
            *self.asked.lock().expect("a lock") += 1;
            if self.is_locked {
                return Err("it is locked".to_owned());
            }
            Ok(self.secrets.lock().expect("a lock").get(name).cloned())
        }

        fn set(&self, name: &str, secret: &str) -> Result<(), String> {
            self.secrets.lock().expect("a lock").insert(name.to_owned(), secret.to_owned());
            Ok(())
        }

        fn remove(&self, name: &str) -> Result<(), String> {
            self.secrets.lock().expect("a lock").remove(name);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::MemoryKeyring;
    use super::*;

    #[test]
    fn a_key_is_kept_by_name_and_read_once_when_it_is_asked_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Arc::new(MemoryKeyring::default());
        let open = || Keyring::with_store(dir.path(), Arc::clone(&store) as Arc<dyn SecretStore>);
        let home = Some("https://api.example/v1".to_owned());
        open().set("A_KEY", "sk-secret", home.clone()).expect("set");
        let mut keyring = open();
        assert_eq!(keyring.names().collect::<Vec<_>>(), ["A_KEY"]);
        assert_eq!(keyring.bound_to("A_KEY"), home.as_deref());
        assert_eq!(*store.asked.lock().expect("a lock"), 0, "nothing was asked for yet");
        assert_eq!((keyring.get("B_KEY"), keyring.refused("B_KEY")), (None, None));
        assert_eq!(
            (keyring.get("A_KEY"), keyring.get("A_KEY")),
            (Some("sk-secret"), Some("sk-secret"))
        );
        assert_eq!(*store.asked.lock().expect("a lock"), 1);
        let index = std::fs::read_to_string(dir.path().join(INDEX)).expect("an index");
        assert!(!index.contains("sk-secret") && !format!("{keyring:?}").contains("sk-secret"));
        assert_eq!((keyring.remove("A_KEY"), keyring.remove("A_KEY")), (Ok(true), Ok(false)));
        assert_eq!(open().names().count(), 0);
        assert!(store.secrets.lock().expect("a lock").is_empty());
    }

    #[test]
    fn another_data_directory_cannot_take_a_key_to_another_host() {
        let (mine, other) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let store = Arc::new(MemoryKeyring::default());
        let open =
            |dir: &Path| Keyring::with_store(dir, Arc::clone(&store) as Arc<dyn SecretStore>);
        let home = |url: &str| Some(url.to_owned());
        open(mine.path()).set("A_KEY", "sk-mine", home("https://api.example/v1")).expect("set");
        // Somebody's list that names the key, for a host of theirs or for any.
        let theirs = r#"{"A_KEY": {"for": "https://evil.example"}, "B_KEY": {"entry": "1"}}"#;
        std::fs::write(other.path().join(INDEX), theirs).expect("written");
        let keyring = open(other.path());
        assert_eq!((keyring.get("A_KEY"), keyring.get("B_KEY")), (None, None));
        assert!(keyring.refused("A_KEY").is_some_and(|why| why.contains("set it again")));

        // Each directory has a key of its own under the same name, and removes none but that.
        open(other.path()).set("A_KEY", "sk-theirs", home("https://evil.example")).expect("set");
        assert_eq!(open(mine.path()).get("A_KEY"), Some("sk-mine"));
        assert_eq!(open(other.path()).get("A_KEY"), Some("sk-theirs"));
        assert_eq!(open(other.path()).remove("A_KEY"), Ok(true));
        assert_eq!(open(mine.path()).get("A_KEY"), Some("sk-mine"));
    }

    #[test]
    fn a_key_that_is_set_anew_keeps_its_entry() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Arc::new(MemoryKeyring::default());
        let open = || Keyring::with_store(dir.path(), Arc::clone(&store) as Arc<dyn SecretStore>);
        open().set("A_KEY", "sk-old", None).expect("set");
        open().set("A_KEY", "sk-new", None).expect("set");
        assert_eq!(open().get("A_KEY"), Some("sk-new"));
        assert_eq!(store.secrets.lock().expect("a lock").len(), 1, "the old one is gone");
    }

    #[test]
    fn a_locked_keyring_and_a_lost_key_are_told() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(INDEX), r#"{"A_KEY": {"entry": "1"}}"#).expect("written");
        let locked = MemoryKeyring { is_locked: true, ..MemoryKeyring::default() };
        let keyring = Keyring::with_store(dir.path(), Arc::new(locked));
        assert_eq!(keyring.get("A_KEY"), None);
        assert_eq!(keyring.refused("A_KEY").as_deref(), Some("the system keyring: it is locked"));
        let empty = Keyring::with_store(dir.path(), Arc::new(MemoryKeyring::default()));
        assert_eq!(empty.refused("A_KEY").as_deref(), Some("the system keyring holds it no more"));
    }

    #[test]
    fn a_list_that_cannot_be_read_is_told_and_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(INDEX), "[]").expect("written");
        let mut keyring = Keyring::with_store(dir.path(), Arc::new(MemoryKeyring::default()));
        assert!(keyring.fault().expect("a fault").contains(INDEX));
        assert!(keyring.set("A_KEY", "sk", None).is_err());
        assert_eq!(std::fs::read_to_string(dir.path().join(INDEX)).expect("read"), "[]");
    }
}
