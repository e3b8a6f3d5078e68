//! All backends: what each can do, which roles it can play, and whether this machine has what it needs.

use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::status::Status;
use leptos::prelude::*;
use skillopt_domain::api::{BackendReady, CheckState};
use skillopt_domain::config::{BACKENDS, BackendSpec, Capability};

#[component]
pub(super) fn Backends(ready: Vec<BackendReady>) -> impl IntoView {
    let heads = Capability::ALL
        .map(|capability| view! { <th scope="col" class="models__can">{capability.label()}</th> });
    let rows = BACKENDS.iter().map(move |spec| row(spec, &ready)).collect_any();
    view! {
        <section class="section" aria-labelledby="backends-title">
            <div class="section__head">
                <h2 id="backends-title">"Backends"</h2>
                <span>"what each can do, and what this machine has for it"</span>
            </div>
            <div class="panel">
                <div class="scroll-x" tabindex="0" role="region" aria-label="Backends">
                    <table class="table models__backends">
                        <thead>
                            <tr>
                                <th scope="col">"Backend"</th>
                                <th scope="col">"On this machine"</th>
                                <th scope="col">"Roles"</th>
                                {heads.into_iter().collect_any()}
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </div>
        </section>
    }
}

fn row(spec: &BackendSpec, ready: &[BackendReady]) -> AnyView {
    let found = ready.iter().find(|one| one.name == spec.name);
    let state = found.map(|one| {
        let look = match one.state {
            CheckState::Ok => Look { status: "done", icon: "check", word: "" },
            CheckState::Warning => Look { status: "idle", icon: "noimp", word: "" },
            CheckState::Failed => Look { status: "failed", icon: "error", word: "" },
        };
        view! { <Status look text=one.words.clone()/> }.into_any()
    });
    let roles = if spec.optimizes { "target, optimizer" } else { "target" };
    let cells = Capability::ALL.map(|capability| match spec.can(capability) {
        true => view! { <td class="models__can"><Icon name="check"/><span class="visually-hidden">"yes"</span></td> }.into_any(),
        false => view! { <td class="models__can table__dim">"–"<span class="visually-hidden">"no"</span></td> }.into_any(),
    });
    view! {
        <tr>
            <td><span class="table__main">{spec.label}</span><br/><span class="mono muted">{spec.name}</span></td>
            <td class="models__ready">{state}</td>
            <td class="second models__roles">{roles}</td>
            {cells.into_iter().collect_any()}
        </tr>
    }
    .into_any()
}
