//! Keys in the system's keyring. It is asked only for names that `skillopt keys set` put there, which stand with the
//! addresses that they are for in a file of the data directory; values never leave the keyring.

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
    bound_to: Option<String>,
    value: OnceLock<Result<Option<String>, String>>,
}

/// Shows no value.
impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Named").field("bound_to", &self.bound_to).finish_non_exhaustive()
    }
}

/// A name in the list.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Bound {
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
            .map(|(name, Bound { bound_to })| (name, Named { bound_to, value: OnceLock::new() }))
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
        match named.value.get_or_init(|| self.store.get(name)) {
            Ok(value) => value.as_deref().map(str::trim).filter(|value| !value.is_empty()),
            Err(_) => None,
        }
    }

    /// Why a name that it holds has no value; `None` where it has one, and for other names.
    pub(crate) fn refused(&self, name: &str) -> Option<String> {
        let named = self.names.get(name)?;
        match named.value.get_or_init(|| self.store.get(name)) {
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
        self.store.set(name, secret)?;
        self.names.insert(name.to_owned(), Named { bound_to, value: OnceLock::new() });
        self.write_index()
    }

    /// Takes a key away; false where there was none.
    ///
    /// # Errors
    /// What the keyring or the file system says.
    pub(crate) fn remove(&mut self, name: &str) -> Result<bool, String> {
        self.check()?;
        if !self.names.contains_key(name) {
            return Ok(false);
        }
        self.store.remove(name)?;
        self.names.remove(name);
        self.write_index()?;
        Ok(true)
    }

    /// A list that cannot be read is never written over.
    fn check(&self) -> Result<(), String> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    fn write_index(&self) -> Result<(), String> {
        let entries: BTreeMap<&str, Bound> = self
            .names
            .iter()
            .map(|(name, named)| (name.as_str(), Bound { bound_to: named.bound_to.clone() }))
            .collect();
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

fn read_index(path: &Path) -> Result<BTreeMap<String, Bound>, String> {
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
        assert_eq!(store.get("A_KEY"), Ok(None));
    }

    #[test]
    fn a_locked_keyring_and_a_lost_key_are_told() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(INDEX), r#"{"A_KEY": {}}"#).expect("written");
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
