//! No row: nothing fits, or there is no run yet, with the way on.

use super::query::ListQuery;
use crate::components::copy_button::Command;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::Empty;
use leptos::prelude::*;

#[component]
pub(super) fn NoRuns<'a>(
    query: &'a ListQuery,
    on_query: Callback<ListQuery>,
) -> impl IntoView + use<> {
    if query.is_filtered() {
        let all = query.with_status(None).with_text(String::new());
        return view! {
            <Empty title="No run fits" text="Nothing has this state, name, model or benchmark.">
                <button class="button" type="button" on:click=handler(move |_| on_query.run(all.clone()))>
                    <Icon name="x"/>
                    "Clear the filters"
                </button>
            </Empty>
        }
        .into_any();
    }
    view! {
        <Empty title="No runs yet" text="Runs that you start here or with the command line appear in this table at once.">
            <a class="button" data-variant="primary" href="/"><Icon name="play"/>"Try the sample run"</a>
            <Command text="skillopt train --config configs/searchqa/sample.yaml"/>
        </Empty>
    }
    .into_any()
}
