//! Where one is: the breadcrumb of the top bar and the title of the tab, set by the page that is shown.

use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::prelude::*;

/// One part of the breadcrumb. The last one is the page itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crumb {
    pub(crate) text: String,
    /// Where it leads; `None` for the page itself.
    pub(crate) href: Option<String>,
}

impl Crumb {
    pub(crate) fn link(text: impl Into<String>, href: impl Into<String>) -> Self {
        Self { text: text.into(), href: Some(href.into()) }
    }

    pub(crate) fn here(text: impl Into<String>) -> Self {
        Self { text: text.into(), href: None }
    }
}

#[derive(Clone, Copy)]
struct Crumbs(RwSignal<Vec<Crumb>>);

pub(crate) fn provide() {
    let crumbs = RwSignal::new(Vec::<Crumb>::new());
    effect(move || crumbs.with(|crumbs| document().set_title(&title(crumbs))));
    provide_context(Crumbs(crumbs));
}

/// The breadcrumb, for the top bar.
pub(crate) fn crumbs() -> RwSignal<Vec<Crumb>> {
    expect_context::<Crumbs>().0
}

/// Called once by each page. The closure may read signals: breadcrumb and title follow them.
pub(crate) fn set(crumbs: impl Fn() -> Vec<Crumb> + 'static) {
    let shown = expect_context::<Crumbs>().0;
    effect(move || shown.set(crumbs()));
}

fn title(crumbs: &[Crumb]) -> String {
    let parts = crumbs.iter().rev().map(|crumb| crumb.text.as_str());
    parts.chain(["SkillOpt"]).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_starts_with_the_page() {
        let crumbs = [Crumb::link("Runs", "/runs"), Crumb::here("sample")];
        assert_eq!(title(&crumbs), "sample · Runs · SkillOpt");
    }
}
