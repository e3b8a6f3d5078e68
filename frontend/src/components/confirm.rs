//! Asks once before something that is not undone by a click. Names the thing; the safe button takes the focus.

use crate::components::handler::handler;
use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;

/// The words of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// `Stop sample-7?`
    pub(crate) title: String,
    /// What will happen and what is kept.
    pub(crate) text: String,
    /// The safe button.
    pub(crate) keep: &'static str,
    /// The other one: a verb and its object.
    pub(crate) go: &'static str,
}

/// Open while there is a question. Escape and the safe button close it.
#[component]
pub(crate) fn Confirm(
    question: RwSignal<Option<Question>>,
    #[prop(into)] on_go: Callback<()>,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        if question.with(Option::is_some) {
            if !dialog.open() {
                // Fails only when the element has left the page.
                let _ = dialog.show_modal();
            }
        } else {
            dialog.close();
        }
    });
    let close = move || question.set(None);
    let go = move |_| {
        close();
        on_go.run(());
    };
    view! {
        <dialog class="dialog" aria-labelledby="confirm-title" node_ref=dialog on:close=handler(move |_| close())>
            {move || question.get().map(|words| view! {
                <div class="dialog__body">
                    <h2 id="confirm-title">{words.title}</h2>
                    <p class="second">{words.text}</p>
                </div>
                <div class="dialog__foot">
                    <button class="button" type="button" autofocus=true on:click=handler(move |_| close())>
                        {words.keep}
                    </button>
                    <button class="button" data-variant="danger" type="button" on:click=handler(go)>{words.go}</button>
                </div>
            }
            .into_any())}
        </dialog>
    }
}
