//! The rows with their fields.

use super::Editing;
use super::draft::{FIELDS, read};
use crate::components::dynamic::{CollectAny, Item, each};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::state::memo::Memo;
use leptos::prelude::*;

#[component]
pub(super) fn Rows(editing: Editing) -> impl IntoView {
    let heads = FIELDS.iter().map(|field| {
        let unit =
            field.is_number.then(|| view! { " " <span class="muted">"$/M"</span> }.into_any());
        view! { <th scope="col" title=field.about>{field.label}{unit}</th> }
    });
    let rows = move || {
        let ids: Vec<u32> = editing.rows.with(|rows| rows.iter().map(|row| row.id).collect());
        ids.into_iter().map(|id| Item::new(id.to_string(), move || row(editing, id))).collect()
    };
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Prices of models">
            <table class="table prices" data-variant="plain">
                <thead><tr>
                    {heads.collect_any()}
                    <th scope="col"><span class="visually-hidden">"Remove"</span></th>
                </tr></thead>
                <tbody>{each(rows)}</tbody>
            </table>
        </div>
    }
}

fn row(editing: Editing, id: u32) -> AnyView {
    let cells = (0..FIELDS.len()).map(|at| cell(editing, id, at)).collect_any();
    let name = move || {
        let found = editing
            .rows
            .with(|rows| rows.iter().find(|row| row.id == id).map(|row| row.texts[0].clone()));
        format!(
            "Remove {}",
            found.filter(|name| !name.is_empty()).unwrap_or_else(|| "this row".to_owned())
        )
    };
    let remove = move |_| editing.rows.update(|rows| rows.retain(|row| row.id != id));
    view! {
        <tr>
            {cells}
            <td>
                <button class="button" data-variant="ghost" data-size="sm" type="button" title=move || name() aria-label=move || name() on:click=handler(remove)>
                    <Icon name="x"/>
                </button>
            </td>
        </tr>
    }
    .into_any()
}

fn cell(editing: Editing, id: u32, at: usize) -> AnyView {
    let field = FIELDS[at];
    let text = move || {
        editing
            .rows
            .with(|rows| rows.iter().find(|row| row.id == id).map(|row| row.texts[at].clone()))
    };
    let problem = Memo::new(move || {
        editing.rows.with(|rows| {
            let place = rows.iter().position(|row| row.id == id);
            let found = read(rows)
                .1
                .into_iter()
                .find(|one| Some(one.row) == place && one.field == field.name);
            found.map(|one| one.message)
        })
    });
    let set = move |value: String| {
        editing.rows.update(|rows| {
            if let Some(row) = rows.iter_mut().find(|row| row.id == id) {
                row.texts[at] = value;
            }
        });
    };
    let said = format!("price-{id}-{}", field.name);
    let about = said.clone();
    view! {
        <td data-field=field.name>
            <div class="field" data-state=move || problem.with(Option::is_some).then_some("error")>
                <div class="input">
                    <input
                        class:mono=!field.is_number
                        inputmode=if field.is_number { "decimal" } else { "text" }
                        autocomplete="off"
                        spellcheck="false"
                        aria-label=field.label
                        aria-invalid=move || problem.with(Option::is_some).then_some("true")
                        aria-describedby=about
                        prop:value=move || text().unwrap_or_default()
                        on:input:target=move |event| set(event.target().value())
                    />
                </div>
                <p class="field__help" id=said>{move || problem.get()}</p>
            </div>
        </td>
    }
    .into_any()
}
