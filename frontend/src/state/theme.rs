//! The theme: by the system, light or dark. Kept in the browser; `boot.js` sets it before the first paint.

use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::prelude::*;

const STORAGE_KEY: &str = "skillopt.theme";

/// What the person chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::System => "Follow the system",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    pub(crate) fn icon(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "sun",
            Self::Dark => "moon",
        }
    }

    pub(crate) fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    /// What the button of this theme does: pressed again it goes back to the system, so that on a phone, where only
    /// one button is shown, all of it can be reached.
    pub(crate) fn pressed(self, now: Self) -> Self {
        if self == now && self == Self::Dark { Self::System } else { self }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == word)
    }
}

/// The theme of this browser.
#[derive(Clone, Copy)]
pub(crate) struct ThemeState(RwSignal<Theme>);

impl ThemeState {
    pub(crate) fn get(self) -> Theme {
        self.0.get()
    }

    pub(crate) fn set(self, theme: Theme) {
        self.0.set(theme);
    }

    pub(crate) fn turn(self) {
        self.0.update(|theme| *theme = theme.next());
    }
}

pub(crate) fn provide() {
    let stored = storage().and_then(|store| store.get_item(STORAGE_KEY).ok().flatten());
    let theme = RwSignal::new(stored.and_then(|word| Theme::parse(&word)).unwrap_or_default());
    effect(move || show(theme.get()));
    provide_context(ThemeState(theme));
}

pub(crate) fn use_theme() -> ThemeState {
    expect_context()
}

fn show(theme: Theme) {
    let Some(root) = document().document_element() else { return };
    // Storage can be switched off or full: the choice then lasts until the page is closed.
    let _ = match theme {
        Theme::System => {
            let _ = root.remove_attribute("data-theme");
            storage().map(|store| store.remove_item(STORAGE_KEY))
        }
        Theme::Light | Theme::Dark => {
            let _ = root.set_attribute("data-theme", theme.as_str());
            storage().map(|store| store.set_item(STORAGE_KEY, theme.as_str()))
        }
    };
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::Theme;

    #[test]
    fn dark_pressed_twice_follows_the_system_again() {
        assert_eq!(Theme::Dark.pressed(Theme::Light), Theme::Dark);
        assert_eq!(Theme::Dark.pressed(Theme::Dark), Theme::System);
        assert_eq!(Theme::Light.pressed(Theme::Light), Theme::Light);
    }

    #[test]
    fn turning_comes_round() {
        assert_eq!(Theme::System.next().next().next(), Theme::System);
    }
}
