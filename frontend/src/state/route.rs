//! Which page an address names. Pure.

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Overview,
    Runs,
    Run,
    Launch,
    Compare,
    Models,
    Prices,
    Sleep,
    Night,
    Handoff,
    Tasks,
    Review,
    Unknown,
}

impl Route {
    /// The page of a path such as `/runs`; a slash at its end changes nothing.
    pub(crate) fn of(path: &str) -> Self {
        let mut parts = parts(path);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (None, ..) => Self::Overview,
            (Some("runs"), None, ..) => Self::Runs,
            (Some("runs"), Some(_), _, None) => Self::Run,
            (Some("launch"), None, ..) => Self::Launch,
            (Some("compare"), None, ..) => Self::Compare,
            (Some("settings"), None | Some("models"), None, _) => Self::Models,
            (Some("settings"), Some("prices"), None, _) => Self::Prices,
            (Some("review"), None, ..) => Self::Review,
            (Some("sleep"), None, ..) => Self::Sleep,
            (Some("sleep"), Some("nights"), Some(_), None) => Self::Night,
            (Some("sleep"), Some("handoff"), None, _) => Self::Handoff,
            (Some("sleep"), Some("tasks"), None, _) => Self::Tasks,
            _ => Self::Unknown,
        }
    }

    /// Tells pages apart.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Runs => "runs",
            Self::Run => "run",
            Self::Launch => "launch",
            Self::Compare => "compare",
            Self::Models => "models",
            Self::Prices => "prices",
            Self::Sleep => "sleep",
            Self::Night => "night",
            Self::Handoff => "handoff",
            Self::Tasks => "tasks",
            Self::Review => "review",
            Self::Unknown => "unknown",
        }
    }
}

/// What the path of a run names: the run and the tab, each as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunPath {
    pub(crate) id: String,
    /// Empty for the first tab.
    pub(crate) tab: String,
}

impl RunPath {
    pub(crate) fn of(path: &str) -> Option<Self> {
        if Route::of(path) != Route::Run {
            return None;
        }
        let mut parts = parts(path).skip(1).map(str::to_owned);
        Some(Self { id: parts.next()?, tab: parts.next().unwrap_or_default() })
    }
}

/// The id in the path of a night, as it is written.
pub(crate) fn night_of(path: &str) -> Option<String> {
    if Route::of(path) != Route::Night {
        return None;
    }
    parts(path).nth(2).map(str::to_owned)
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("/", Route::Overview)]
    #[case("/runs", Route::Runs)]
    #[case("/runs/", Route::Runs)]
    #[case("/runs/abc", Route::Run)]
    #[case("/runs/abc/steps", Route::Run)]
    #[case("/runs/abc/steps/7", Route::Unknown)]
    #[case("/launch", Route::Launch)]
    #[case("/launch/now", Route::Unknown)]
    #[case("/compare", Route::Compare)]
    #[case("/settings", Route::Models)]
    #[case("/settings/models", Route::Models)]
    #[case("/settings/models/x", Route::Unknown)]
    #[case("/settings/other", Route::Unknown)]
    #[case("/settings/prices", Route::Prices)]
    #[case("/settings/prices/x", Route::Unknown)]
    #[case("/review", Route::Review)]
    #[case("/review/x", Route::Unknown)]
    #[case("/sleep", Route::Sleep)]
    #[case("/sleep/nights/abc/", Route::Night)]
    #[case("/sleep/nights", Route::Unknown)]
    #[case("/sleep/nights/abc/x", Route::Unknown)]
    #[case("/sleep/handoff", Route::Handoff)]
    #[case("/sleep/handoff/x", Route::Unknown)]
    #[case("/sleep/tasks/", Route::Tasks)]
    #[case("/run", Route::Unknown)]
    fn a_path_names_a_page(#[case] path: &str, #[case] route: Route) {
        assert_eq!(Route::of(path), route);
    }

    #[test]
    fn the_first_tab_of_a_run_needs_no_word() {
        let of = |path| RunPath::of(path).map(|path| (path.id, path.tab));
        assert_eq!(of("/runs/abc"), Some(("abc".to_owned(), String::new())));
        assert_eq!(of("/runs/abc/skill"), Some(("abc".to_owned(), "skill".to_owned())));
        assert_eq!(of("/runs"), None);
    }

    #[test]
    fn the_path_of_a_night_ends_with_its_id() {
        assert_eq!(night_of("/sleep/nights/abc"), Some("abc".to_owned()));
        assert_eq!(night_of("/sleep"), None);
    }
}
