//! Runs that ended before they were done: why, and that nothing paid is lost.

use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::run_cells::run_href;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::RunSummary;

#[component]
pub(super) fn Attention(runs: Memo<Vec<RunSummary>>) -> impl IntoView {
    let rows = move || runs.get().into_iter().map(|run| view! { <Row run=run/> }).collect_any();
    view! {
        <section aria-labelledby="attention-title" data-second>
            <div class="section__head"><h2 id="attention-title">"Needs attention"</h2></div>
            {move || rows()}
        </section>
    }
}

#[component]
fn Row(run: RunSummary) -> impl IntoView {
    let look = Look::from(run.status);
    let words = run.detail.clone().unwrap_or_else(|| match run.total_steps {
        Some(total) => {
            format!("{} of {total} steps are done. Resume repeats no paid call.", run.n_steps)
        }
        None => "Resume repeats no paid call.".to_owned(),
    });
    view! {
        <a class="list__row" href=run_href(&run) data-status=look.status>
            <Icon name=look.icon/>
            <span>
                <span class="list__title">{run.name.clone()} " " {look.word}</span>
                <br/>
                <span class="list__sub">{words}</span>
            </span>
            <span class="list__end"><span class="link">"Open"</span></span>
        </a>
    }
}
