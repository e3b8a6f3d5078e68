//! The list of keys. Every key has a button or a link, too.

use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::state::effect::effect;
use crate::state::overlay::use_overlay;
use leptos::html;
use leptos::prelude::*;

/// What a key does and which keys do it, in the order pressed.
type Row = (&'static str, &'static [&'static str]);

const GROUPS: [(&str, &[Row]); 5] = [
    (
        "Everywhere",
        &[
            ("Search or run a command", &["Ctrl", "K"]),
            ("Keys", &["?"]),
            ("Close", &["Esc"]),
            ("Theme", &["Shift", "T"]),
        ],
    ),
    (
        "Go to",
        &[
            ("Overview", &["g", "o"]),
            ("Runs", &["g", "r"]),
            ("Compare", &["g", "c"]),
            ("Review", &["g", "v"]),
            ("Launch", &["g", "l"]),
            ("Sleep", &["g", "n"]),
            ("Settings", &["g", "s"]),
        ],
    ),
    (
        "Tables",
        &[
            ("Down", &["j"]),
            ("Up", &["k"]),
            ("Left, right in the tasks", &["h", "l"]),
            ("Open", &["Enter"]),
            ("Select a run", &["x"]),
            ("Compare the selected runs", &["c"]),
            ("Find in this page", &["/"]),
        ],
    ),
    (
        "Review of a night",
        &[
            ("Next, previous edit", &["j", "k"]),
            ("Take the marked edit, leave it out", &["a", "r"]),
            ("Mark no edit", &["Esc"]),
            ("To Adopt, to Reject, with no edit marked", &["a", "r"]),
        ],
    ),
    ("Charts", &[("Read out, step by step", &["←", "→"]), ("Zoom in, reset", &["+", "0"])]),
];

#[component]
pub(super) fn KeysHelp() -> impl IntoView {
    let overlay = use_overlay();
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        if let Some(dialog) = dialog.get() {
            // Fails only when the element has left the page.
            let _ = dialog.show_modal();
        }
    });
    let group = |(title, rows): (&'static str, &'static [Row])| {
        view! {
            <div class="keys__group">
                <h3>{title}</h3>
                <dl>
                    {rows
                        .iter()
                        .map(|(what, keys)| view! {
                            <dt>{*what}</dt>
                            <dd>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> " " }).collect_any()}</dd>
                        })
                        .collect_any()}
                </dl>
            </div>
        }
    };
    view! {
        <dialog class="dialog keys" aria-labelledby="keys-title" node_ref=dialog on:close=handler(move |_| overlay.close())>
            <div class="dialog__head">
                <h2 id="keys-title">"Keys"</h2>
                <button
                    class="icon-button"
                    type="button"
                    aria-label="Close"
                    title="Close (Esc)"
                    on:click=handler(move |_| overlay.close())
                >
                    <Icon name="x"/>
                </button>
            </div>
            <div class="keys__grid">{GROUPS.map(group).into_iter().collect_any()}</div>
            <div class="panel__foot"><span>"Single keys are off while you type."</span></div>
        </dialog>
    }
}
