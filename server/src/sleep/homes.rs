//! Where agents keep their things on each system, as functions of the system and its environment. Touches no file.

use std::path::{Path, PathBuf};

/// A system with places of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    Macos,
    Windows,
}

impl System {
    /// The one that this program was built for; others are taken for Linux.
    pub(super) const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Macos
    } else {
        Self::Linux
    };

    /// What stands between the paths of a list.
    pub(super) fn separator(self) -> char {
        match self {
            Self::Windows => ';',
            Self::Linux | Self::Macos => ':',
        }
    }
}

/// The variable that has to say where the home folder is, for messages.
pub(super) fn home_variable(system: System) -> &'static str {
    match system {
        System::Windows => "USERPROFILE",
        System::Linux | System::Macos => "HOME",
    }
}

/// A system, its environment, and the home folder.
pub(super) struct Machine<'a> {
    pub(super) system: System,
    pub(super) home: &'a Path,
    pub(super) get: &'a dyn Fn(&str) -> Option<String>,
}

/// The home folder; `None` when no variable tells.
pub(super) fn home(system: System, get: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let get = |name: &str| get(name).filter(|value| !value.is_empty());
    let told = match system {
        System::Linux | System::Macos => get("HOME"),
        // As programs there look for it; `HOME` is set by shells that came from elsewhere.
        System::Windows => get("USERPROFILE")
            .or_else(|| Some(get("HOMEDRIVE")? + &get("HOMEPATH")?))
            .or_else(|| get("HOME")),
    };
    told.map(PathBuf::from)
}

impl Machine<'_> {
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        (self.get)(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Where VS Code and its preview keep the storage of workspaces, the portable one first.
    pub(super) fn vscode_storage(&self) -> Vec<PathBuf> {
        let portable = self.folder("VSCODE_PORTABLE").map(|folder| folder.join("user-data"));
        let base = self.application_data();
        let usual = ["Code", "Code - Insiders"].map(|name| base.join(name));
        portable
            .into_iter()
            .chain(usual)
            .map(|folder| folder.join("User/workspaceStorage"))
            .collect()
    }

    /// OpenCode's database. `named` is what the person calls it: a path, a name in the usual folder, or `:memory:` for
    /// none.
    pub(super) fn opencode_db(&self, named: Option<&str>) -> Option<PathBuf> {
        let folder = self.data_home().join("opencode");
        match named {
            Some(":memory:") => None,
            Some(name) => Some(folder.join(name)),
            None => Some(folder.join("opencode.db")),
        }
    }

    /// Devin's transcripts.
    pub(super) fn devin_transcripts(&self) -> PathBuf {
        let base = match self.system {
            System::Macos => self.home.join("Library/Application Support"),
            System::Linux | System::Windows => self.data_home(),
        };
        base.join("devin/cli/transcripts")
    }

    /// Where programs with a window keep what is theirs.
    fn application_data(&self) -> PathBuf {
        match self.system {
            System::Linux => {
                self.folder("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
            }
            System::Macos => self.home.join("Library/Application Support"),
            System::Windows => {
                self.folder("APPDATA").unwrap_or_else(|| self.home.join("AppData/Roaming"))
            }
        }
    }

    /// Where programs of the command line keep data.
    fn data_home(&self) -> PathBuf {
        let of_windows = || match self.system {
            System::Windows => self.folder("LOCALAPPDATA").or_else(|| self.folder("APPDATA")),
            System::Linux | System::Macos => None,
        };
        self.folder("XDG_DATA_HOME")
            .or_else(of_windows)
            .unwrap_or_else(|| self.home.join(".local/share"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    type Pairs = &'static [(&'static str, &'static str)];

    fn lookup(pairs: Pairs) -> impl Fn(&str) -> Option<String> {
        move |name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned())
    }

    fn on<'a>(system: System, get: &'a dyn Fn(&str) -> Option<String>) -> Machine<'a> {
        Machine { system, home: Path::new("h"), get }
    }

    #[rstest]
    #[case(System::Linux, &[("HOME", "/home/me"), ("USERPROFILE", "u")], Some("/home/me"))]
    #[case(System::Macos, &[("HOME", "/Users/me")], Some("/Users/me"))]
    #[case(System::Linux, &[("HOME", "")], None)]
    #[case(System::Windows, &[("USERPROFILE", "C:\\Users\\me"), ("HOME", "/c/me")], Some("C:\\Users\\me"))]
    #[case(System::Windows, &[("HOMEDRIVE", "C:"), ("HOMEPATH", "\\me")], Some("C:\\me"))]
    #[case(System::Windows, &[("HOME", "/c/me")], Some("/c/me"))]
    #[case(System::Windows, &[("HOMEDRIVE", "C:")], None)]
    fn the_home_folder_is_where_each_system_says(
        #[case] system: System,
        #[case] pairs: Pairs,
        #[case] expect: Option<&str>,
    ) {
        assert_eq!(home(system, &lookup(pairs)), expect.map(PathBuf::from));
    }

    #[rstest]
    #[case(System::Linux, &[], &["h/.config/Code", "h/.config/Code - Insiders"])]
    #[case(System::Linux, &[("XDG_CONFIG_HOME", "c"), ("APPDATA", "a")], &["c/Code", "c/Code - Insiders"])]
    #[case(System::Macos, &[("XDG_CONFIG_HOME", "c")],
        &["h/Library/Application Support/Code", "h/Library/Application Support/Code - Insiders"])]
    #[case(System::Windows, &[("APPDATA", "a")], &["a/Code", "a/Code - Insiders"])]
    #[case(System::Windows, &[], &["h/AppData/Roaming/Code", "h/AppData/Roaming/Code - Insiders"])]
    #[case(System::Linux, &[("VSCODE_PORTABLE", "p")],
        &["p/user-data", "h/.config/Code", "h/.config/Code - Insiders"])]
    fn vs_code_is_where_each_system_keeps_it_and_a_portable_one_comes_first(
        #[case] system: System,
        #[case] pairs: Pairs,
        #[case] expect: &[&str],
    ) {
        let expect: Vec<PathBuf> =
            expect.iter().map(|folder| Path::new(folder).join("User/workspaceStorage")).collect();
        assert_eq!(on(system, &lookup(pairs)).vscode_storage(), expect);
    }

    #[rstest]
    #[case(System::Linux, &[], "h/.local/share")]
    #[case(System::Macos, &[], "h/.local/share")]
    #[case(System::Linux, &[("XDG_DATA_HOME", "d")], "d")]
    #[case(System::Windows, &[("LOCALAPPDATA", "l"), ("APPDATA", "a")], "l")]
    #[case(System::Windows, &[("APPDATA", "a")], "a")]
    #[case(System::Windows, &[("XDG_DATA_HOME", "d"), ("LOCALAPPDATA", "l")], "d")]
    #[case(System::Windows, &[], "h/.local/share")]
    fn opencode_is_where_each_system_keeps_it(
        #[case] system: System,
        #[case] pairs: Pairs,
        #[case] base: &str,
    ) {
        let folder = Path::new(base).join("opencode");
        let get = lookup(pairs);
        let db = |named: Option<&str>| on(system, &get).opencode_db(named);
        assert_eq!(db(None), Some(folder.join("opencode.db")));
        assert_eq!(db(Some("dev.db")), Some(folder.join("dev.db")));
        assert_eq!(db(Some(":memory:")), None);
        let absolute = std::env::temp_dir().join("x.db");
        assert_eq!(db(absolute.to_str()), Some(absolute.clone()));
    }

    #[rstest]
    #[case(System::Linux, &[], "h/.local/share/devin/cli/transcripts")]
    #[case(System::Linux, &[("XDG_DATA_HOME", "d")], "d/devin/cli/transcripts")]
    #[case(System::Macos, &[], "h/Library/Application Support/devin/cli/transcripts")]
    #[case(System::Windows, &[("LOCALAPPDATA", "l"), ("APPDATA", "a")], "l/devin/cli/transcripts")]
    #[case(System::Windows, &[("APPDATA", "a")], "a/devin/cli/transcripts")]
    fn devin_is_where_each_system_keeps_it(
        #[case] system: System,
        #[case] pairs: Pairs,
        #[case] expect: &str,
    ) {
        assert_eq!(on(system, &lookup(pairs)).devin_transcripts(), Path::new(expect));
    }
}
