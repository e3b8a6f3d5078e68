//! The tabs of a run and their words in the URL.

/// A tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunTab {
    Curves,
    Steps,
    Skill,
    Epochs,
    Rejected,
    Tasks,
    Trajectories,
    Config,
    Events,
}

impl RunTab {
    pub(crate) const ALL: [Self; 9] = [
        Self::Curves,
        Self::Steps,
        Self::Skill,
        Self::Epochs,
        Self::Rejected,
        Self::Tasks,
        Self::Trajectories,
        Self::Config,
        Self::Events,
    ];

    /// The word in the URL; the first tab needs none.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Curves => "",
            Self::Steps => "steps",
            Self::Skill => "skill",
            Self::Epochs => "epochs",
            Self::Rejected => "rejected",
            Self::Tasks => "tasks",
            Self::Trajectories => "trajectories",
            Self::Config => "config",
            Self::Events => "events",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Curves => "Curves",
            Self::Steps => "Steps",
            Self::Skill => "Skill",
            Self::Epochs => "Epochs",
            Self::Rejected => "Rejected edits",
            Self::Tasks => "Tasks",
            Self::Trajectories => "Trajectories",
            Self::Config => "Config",
            Self::Events => "Events",
        }
    }

    /// The tab with this word; `curves` is understood too.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        if word == "curves" {
            return Some(Self::Curves);
        }
        Self::ALL.into_iter().find(|tab| tab.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tab_is_found_by_its_word() {
        for tab in RunTab::ALL {
            assert_eq!(RunTab::parse(tab.word()), Some(tab));
        }
        assert_eq!(RunTab::parse("files"), None);
    }
}
