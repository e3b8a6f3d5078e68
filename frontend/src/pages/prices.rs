//! Settings, Prices: what models charge, as the user knows it. Rows are changed in their place and sent together; who
//! changes what another one changed meanwhile is told so.

mod draft;
mod table;

use crate::api::{self, ApiError};
use crate::components::dynamic::{dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::ErrorCallout;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use crate::{fmt, time};
use draft::{DraftRow, read};
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{PriceUpdate, ProblemCode};
use skillopt_domain::price::PriceTable;
use table::Rows;

/// What is on the page, beside what was loaded.
#[derive(Clone, Copy)]
struct Editing {
    rows: RwSignal<Vec<DraftRow>>,
    /// The table that the rows were made from.
    kept: RwSignal<PriceTable>,
    state: RwSignal<Sending>,
    next_id: RwSignal<u32>,
}

#[derive(Clone, PartialEq)]
enum Sending {
    No,
    Going,
    Failed(ApiError),
}

impl Editing {
    fn of(table: &PriceTable) -> Self {
        let editing = Self {
            rows: RwSignal::new(Vec::new()),
            kept: RwSignal::new(table.clone()),
            state: RwSignal::new(Sending::No),
            next_id: RwSignal::new(0),
        };
        editing.start_from(table.clone());
        editing
    }

    fn start_from(self, table: PriceTable) {
        let rows = table.rows.iter().map(|row| DraftRow::of(self.new_id(), row)).collect();
        self.rows.set(rows);
        self.kept.set(table);
        self.state.set(Sending::No);
    }

    fn new_id(self) -> u32 {
        self.next_id.update(|id| *id += 1);
        self.next_id.get_untracked()
    }

    fn add(self) {
        let row =
            DraftRow::empty(self.new_id(), time::iso(time::now_ms()).chars().take(10).collect());
        self.rows.update(|rows| rows.push(row));
    }

    /// Something differs from what is kept.
    fn is_changed(self) -> bool {
        let (rows, problems) = self.rows.with(|rows| read(rows));
        !problems.is_empty() || self.kept.with(|kept| kept.rows != rows)
    }

    fn send(self) {
        let (rows, problems) = self.rows.with_untracked(|rows| read(rows));
        if !problems.is_empty() {
            return;
        }
        let update = PriceUpdate { version: self.kept.with_untracked(|kept| kept.version), rows };
        self.state.set(Sending::Going);
        spawn_local(async move {
            match api::set_prices(&update).await {
                Ok(table) => self.start_from(table),
                Err(error) => self.state.set(Sending::Failed(error)),
            }
        });
    }
}

#[component]
pub(crate) fn PricesPage() -> impl IntoView {
    page::set(|| vec![Crumb::link("Settings", "/settings/models"), Crumb::here("Prices")]);
    let prices = Load::new(|| async { api::prices().await });
    let frame = Frame::new("The prices could not be loaded.").head(|| view! { <Head/> }.into_any());
    loaded(prices, frame, move |table: &PriceTable| {
        let editing = Editing::of(table);
        let again = Callback::new(move |()| prices.again());
        view! { <Full editing again/> }.into_any()
    })
}

#[component]
fn Head() -> impl IntoView {
    view! {
        <div class="page-head" data-tight><div class="page-head__main"><h1>"Prices"</h1></div></div>
        <p class="lede section__lede">
            "US dollars for a million tokens. A run takes its prices from here when it is made, and keeps them. "
            "A price in its config wins. A model without a row has an unknown cost, not none."
        </p>
    }
}

#[component]
fn Full(editing: Editing, again: Callback<()>) -> impl IntoView {
    let add = move |_| editing.add();
    let is_empty = Memo::new(move || editing.rows.with(Vec::is_empty));
    view! {
        <Head/>
        <section class="section" data-space="tight" aria-label="Prices">
            {dynamic(move || if is_empty.get() {
                view! {
                    <p class="muted">
                        "No price is known yet. None are shipped: list prices change, and yours may be others. Take them from your provider's page or contract."
                    </p>
                }.into_any()
            } else {
                view! { <Rows editing/> }.into_any()
            })}
            <div class="row prices__add">
                <button class="button" type="button" on:click=handler(add)><Icon name="plus"/>"Add a price"</button>
            </div>
            <Failure editing again/>
            <Bar editing/>
        </section>
    }
}

/// Why the rows could not be sent.
#[component]
fn Failure(editing: Editing, again: Callback<()>) -> impl IntoView {
    dynamic(move || {
        let Sending::Failed(error) = editing.state.get() else { return nothing() };
        if error.problem.code != ProblemCode::Conflict {
            let retry = Callback::new(move |()| editing.send());
            return view! { <ErrorCallout what="The prices could not be saved." error on_retry=retry/> }.into_any();
        }
        let load = move |_| again.run(());
        view! {
            <div class="callout" data-status="warning" role="alert">
                <Icon name="warning"/>
                <div>
                    <span class="callout__title">"Somebody else changed the prices meanwhile."</span>" "
                    <span class="callout__text">"Nothing of yours was saved. Load theirs, and make your changes there."</span>
                </div>
                <button class="button" data-size="sm" type="button" on:click=handler(load)>"Load theirs"</button>
            </div>
        }
        .into_any()
    })
}

/// What is not saved yet, and the buttons.
#[component]
fn Bar(editing: Editing) -> impl IntoView {
    let problems = Memo::new(move || editing.rows.with(|rows| read(rows).1.len()));
    let is_changed = Memo::new(move || editing.is_changed());
    let is_going = move || editing.state.with(|state| *state == Sending::Going);
    let cannot = move || !is_changed.get() || problems.get() > 0 || is_going();
    let words = move || {
        let n = u64::try_from(problems.get()).unwrap_or_default();
        match (is_changed.get(), n) {
            (true, 0) => "Not saved yet.".to_owned(),
            (true, n) => format!(
                "Not saved yet: {}.",
                fmt::plural(n, "field needs a look", "fields need a look")
            ),
            (false, _) => editing.kept.with(kept_words),
        }
    };
    let save = move |_| editing.send();
    let undo = move |_| editing.start_from(editing.kept.get_untracked());
    view! {
        <div class="row prices__bar">
            <span class="muted" role="status">{move || words()}</span>
            <span class="row prices__buttons" data-gap="tight">
                <button class="button" type="button" disabled=move || !is_changed.get() on:click=handler(undo)>"Undo changes"</button>
                <button
                    class="button" data-variant="primary" type="button"
                    disabled=move || cannot() aria-busy=move || is_going().then_some("true")
                    on:click=handler(save)
                >
                    "Save"
                </button>
            </span>
        </div>
    }
}

fn kept_words(table: &PriceTable) -> String {
    match table.changed_at_ms {
        Some(at) => format!(
            "Saved {} by {}, version {}.",
            time::moment(at),
            table.changed_by,
            table.version
        ),
        None => String::new(),
    }
}
