//! Which runs are marked, in the order of marking, and what can be done with them.

use crate::components::dynamic::{dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

/// Ids of the marked runs.
#[derive(Clone, Copy)]
pub(super) struct Selection(RwSignal<Vec<String>>);

impl Selection {
    /// `pick` holds ids between commas.
    pub(super) fn new(pick: Option<String>) -> Self {
        Self(RwSignal::new(picked(&pick.unwrap_or_default())))
    }

    pub(super) fn has(self, id: &str) -> bool {
        self.0.with(|ids| ids.iter().any(|one| one == id))
    }

    pub(super) fn toggle(self, id: &str) {
        self.0.update(|ids| toggle(ids, id));
    }
}

fn picked(text: &str) -> Vec<String> {
    text.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

fn toggle(ids: &mut Vec<String>, id: &str) {
    let before = ids.len();
    ids.retain(|one| one != id);
    if ids.len() == before {
        ids.push(id.to_owned());
    }
}

/// Shown while something is marked.
#[component]
pub(super) fn SelectionBar(selection: Selection) -> impl IntoView {
    let n = Memo::new(move || u64::try_from(selection.0.with(Vec::len)).unwrap_or_default());
    let href = move || selection.0.with(|ids| format!("/compare?runs={}", ids.join(",")));
    let navigate = use_navigate();
    on_single_key(move |key| {
        let ids = selection.0.get_untracked();
        match key {
            "c" if ids.len() > 1 => {
                let href = format!("/compare?runs={}", ids.join(","));
                navigate(&href, NavigateOptions::default());
            }
            "Escape" if !ids.is_empty() => selection.0.set(Vec::new()),
            _ => return KeyUse::Ignored,
        }
        KeyUse::Used
    });
    dynamic(move || match n.get() {
        0 => nothing(),
        n => {
            let hint = (n == 1).then(|| {
                view! { <span class="small muted">"Mark another one to compare"</span> }.into_any()
            });
            let compare = (n > 1).then(|| {
                view! {
                    <a class="button" data-size="sm" data-variant="primary" href=href()>
                        <Icon name="compare"/>"Compare"
                    </a>
                }
                .into_any()
            });
            view! {
                <div class="row" role="region" aria-label="Selection">
                    <span class="medium">{fmt::plural(n, "run selected", "runs selected")}</span>
                    {compare}
                    {hint}
                    <button class="link" type="button" on:click=handler(move |_| selection.0.set(Vec::new()))>"Clear"</button>
                </div>
            }
            .into_any()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_keep_their_order_and_go_by_a_second_click() {
        let mut ids = picked("b,,a");
        toggle(&mut ids, "c");
        toggle(&mut ids, "a");
        assert_eq!(ids, ["b", "c"]);
    }
}
