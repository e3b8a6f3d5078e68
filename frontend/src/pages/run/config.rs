//! The Config tab: every value with the place it came from, what goes on the wire, and the YAML to train again.

use super::prompts::Prompts;
use super::query::{QueryValue, query_value};
use super::state::RunState;
use crate::api;
use crate::charts::export::save_text;
use crate::components::copy_button::CopyButton;
use crate::components::dynamic::{CollectAny, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::numbers::OrMissing;
use crate::components::states::Empty;
use crate::fmt;
use crate::order::{as_key, sorted};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::text::lower;
use leptos::prelude::*;
use skillopt_domain::api::{ConfigRow, ConfigView, WireRow};
use skillopt_domain::config::{Origin, Place};
use skillopt_domain::json::Json;
use skillopt_domain::view::Adapted;

#[component]
pub(super) fn ConfigTab(run: RunState) -> impl IntoView {
    let config = Load::new(move || {
        let id = run.id();
        async move { api::run_config(&id).await }
    });
    loaded(config, Frame::new("The config could not be loaded."), move |config: &ConfigView| {
        view! { <Config run config=config.clone()/> }.into_any()
    })
}

#[component]
fn Config(run: RunState, config: ConfigView) -> impl IntoView {
    let only_set = query_value::<bool>("set");
    let text = query_value::<String>("q");
    let total = config.rows.len();
    let rows = StoredValue::new(config.rows);
    let shown = Memo::new(move || {
        rows.with_value(|rows| {
            filtered(rows, only_set.get().unwrap_or(false), text.get().as_deref())
        })
    });
    view! {
        <Filters run only_set text yaml=config.yaml/>
        <div class="split" data-width="aside">
            <div>
                {when(
                    move || shown.with(|rows| !rows.is_empty()),
                    move || view! { <Values shown total/> }.into_any(),
                    move || no_match(only_set, text).into_any(),
                )}
            </div>
            <aside class="split__side stack" data-gap="lg"><Wire run wire=config.wire/><Prompts run/></aside>
        </div>
    }
}

/// Rows that match, section by section, each in the order of the schema.
fn filtered(rows: &[ConfigRow], only_set: bool, text: Option<&str>) -> Vec<ConfigRow> {
    let text = lower(text.unwrap_or_default());
    let has_text = |row: &ConfigRow| {
        let value = row.value.as_deref().unwrap_or_default();
        lower(&row.path).contains(&text) || lower(value).contains(&text)
    };
    let is_changed = |row: &ConfigRow| row.value.as_deref().unwrap_or_default() != row.default;
    let first_of =
        |row: &ConfigRow| rows.iter().position(|one| section(&one.path) == section(&row.path));
    let matching =
        rows.iter().filter(|row| !only_set || is_changed(row)).filter(|row| has_text(row));
    let matching: Vec<ConfigRow> = matching.cloned().collect();
    sorted(matching, |row| first_of(row).map_or(u64::MAX, as_key))
}

fn no_match(only_set: QueryValue<bool>, text: QueryValue<String>) -> impl IntoView {
    let clear = move |_| {
        only_set.set(None);
        text.set(None);
    };
    view! {
        <Empty title="No key matches" text="Take a filter away to see more.">
            <button class="button" type="button" on:click=handler(clear)>"Clear filters"</button>
        </Empty>
    }
}

#[component]
fn Filters(
    run: RunState,
    only_set: QueryValue<bool>,
    text: QueryValue<String>,
    yaml: String,
) -> impl IntoView {
    let copied = yaml.clone();
    let file = run.summary.with_value(|summary| format!("{}.yaml", summary.name));
    let download = move |_| _ = save_text(&file, "application/yaml;charset=utf-8", &yaml);
    let typed =
        move |event| text.set(Some(event_target_value(&event)).filter(|text| !text.is_empty()));
    let is_on = move || only_set.get().unwrap_or(false);
    view! {
        <div class="filters" data-flush>
            <label class="input" data-size="search">
                <Icon name="search"/>
                <input type="search" placeholder="Key or value" aria-label="Filter keys"
                    prop:value=move || text.get().unwrap_or_default() on:input=handler(typed)/>
            </label>
            <div class="segmented" role="group" aria-label="Which keys">
                <button type="button" aria-pressed=move || (!is_on()).to_string() on:click=handler(move |_| only_set.set(None))>"All"</button>
                <button type="button" aria-pressed=move || is_on().to_string() on:click=handler(move |_| only_set.set(Some(true)))>"Changed only"</button>
            </div>
            <div class="section__end">
                <CopyButton text=copied what="YAML"/>
                <button class="button" data-size="sm" type="button" on:click=handler(download)><Icon name="download"/>"YAML"</button>
            </div>
        </div>
    }
}

#[component]
fn Values(shown: Memo<Vec<ConfigRow>>, total: usize) -> impl IntoView {
    let body = move || {
        shown.with(|rows| {
            rows.iter().enumerate().map(|(at, row)| {
                let opens = at == 0 || section(&rows[at - 1].path) != section(&row.path);
                let head = opens.then(|| view! {
                    <tr class="table__group"><td colspan="4"><b class="medium">{fmt::capital(section(&row.path))}</b></td></tr>
                }.into_any());
                view! { {head}{value_row(row)} }
            })
            .collect_any()
        })
    };
    view! {
        <div class="panel">
            <div class="scroll-x" tabindex="0" role="region" aria-label="Config">
                <table class="table config">
                    <thead><tr>
                        <th scope="col">"Key"</th><th scope="col">"Value"</th>
                        <th scope="col" class="hide-narrow">"Default"</th><th scope="col">"From"</th>
                    </tr></thead>
                    <tbody>{move || body()}</tbody>
                </table>
            </div>
            <div class="panel__foot"><span>{move || format!("{} of {total} keys", shown.with(Vec::len))}</span></div>
        </div>
    }
}

fn section(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

fn value_row(row: &ConfigRow) -> impl IntoView + use<> {
    let value = row.value.clone().unwrap_or_default();
    let differs = value != row.default;
    let default = Some(row.default.clone()).filter(|default| !default.is_empty());
    let default = if differs {
        view! { <span class="mono second"><OrMissing text=default/></span> }.into_any()
    } else {
        view! { <span class="table__dim">"same"</span> }.into_any()
    };
    let shown = Some(value.clone()).filter(|value| !value.is_empty());
    view! {
        <tr>
            <td class="mono second keycol" title=row.path.clone()>{breakable(&row.path)}</td>
            <td class="valcol" title=value><span class=if differs { "mono medium" } else { "mono" }><OrMissing text=shown/></span></td>
            <td class="other hide-narrow">{default}</td>
            <td>{origin(&row.place)}</td>
        </tr>
    }
}

/// The key may wrap behind its dot and its underscores.
fn breakable(path: &str) -> Vec<AnyView> {
    path.split_inclusive(['.', '_'])
        .map(|part| view! { {part.to_owned()}<wbr/> }.into_any())
        .collect()
}

fn origin(place: &Place) -> impl IntoView + use<> {
    let (icon, word) = match place.origin {
        Origin::Default => ("minus", "default"),
        Origin::Base => ("copy", "base file"),
        Origin::File => ("file", "file"),
        Origin::Prices => ("columns", "price table"),
        Origin::Environment => ("terminal", "environment"),
        Origin::Flag => ("tag", "flag"),
    };
    let where_from = (place.origin != Origin::Default).then(|| place.to_string());
    let title = where_from.clone();
    view! {
        <span class="row" data-gap="tight" data-nowrap title=title>
            <span class="status"><Icon name=icon/>{word}</span>
            <span class="mono small muted truncate hide-narrow">{where_from}</span>
        </span>
    }
}

#[component]
fn Wire(run: RunState, wire: Vec<WireRow>) -> impl IntoView {
    let adapted = Memo::new(move || run.view.with(|view| view.adapted.clone()));
    let role = |row: WireRow| {
        let rows = identity_rows(&row.identity).into_iter().map(|(key, value)| {
            view! { <div class="checks__item"><Icon name="right"/><span class="mono">{key}</span><span class="mono path">{value}</span></div> }.into_any()
        });
        view! {
            <div>
                <b class="medium">{fmt::capital(&row.role)}</b>
                <div class="checks">{rows.collect_any()}</div>
            </div>
        }
    };
    view! {
        <section aria-labelledby="wire-title">
            <div class="section__head"><h3 id="wire-title">"What goes on the wire"</h3><span>"no secrets"</span></div>
            <div class="stack" data-gap="md">
                {wire.into_iter().map(role).collect_any()}
                {move || {
                    let adapted = adapted.get();
                    (!adapted.is_empty()).then(|| changes(&adapted))
                }}
            </div>
        </section>
    }
}

/// What was changed about requests because a provider refused them as they were.
fn changes(adapted: &[Adapted]) -> AnyView {
    let row = |one: &Adapted| {
        let role = fmt::capital(one.role.as_str());
        view! { <div class="checks__item"><Icon name="check"/><span>{role}</span><span>{one.change.clone()}</span></div> }.into_any()
    };
    view! {
        <div>
            <b class="medium">"Changed, because the provider refused it otherwise"</b>
            <div class="checks">{adapted.iter().map(row).collect_any()}</div>
        </div>
    }
    .into_any()
}

/// The top level of a JSON object, each value in short.
fn identity_rows(identity: &str) -> Vec<(String, String)> {
    match Json::parse(identity) {
        Ok(Json::Object(fields)) => fields
            .into_iter()
            .map(|(key, value)| match value {
                Json::Text(text) => (key, text),
                Json::Null => (key, "not set".to_owned()),
                other => (key, other.to_string()),
            })
            .collect(),
        _ => vec![("identity".to_owned(), identity.to_owned())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, value: Option<&str>, default: &str) -> ConfigRow {
        ConfigRow {
            path: path.into(),
            value: value.map(str::to_owned),
            place: Place::default_value(),
            default: default.into(),
        }
    }

    #[test]
    fn changed_only_compares_values_and_text_finds_keys_and_values() {
        let rows = [
            row("train.seed", Some("42"), "42"),
            row("limits.usd", Some("12"), ""),
            row("env.name", None, ""),
        ];
        let paths = |rows: Vec<ConfigRow>| rows.into_iter().map(|row| row.path).collect::<Vec<_>>();
        assert_eq!(paths(filtered(&rows, true, None)), ["limits.usd"]);
        assert_eq!(paths(filtered(&rows, false, Some("42"))), ["train.seed"]);
        assert_eq!(paths(filtered(&rows, false, Some("ENV"))), ["env.name"]);
        let torn = [row("env.a", None, ""), row("train.b", None, ""), row("env.c", None, "")];
        assert_eq!(paths(filtered(&torn, false, None)), ["env.a", "env.c", "train.b"]);
    }

    #[test]
    fn an_identity_is_a_list_of_fields_or_itself() {
        assert_eq!(
            identity_rows(r#"{"model":"m","t":0.7,"x":null}"#)[2],
            ("x".into(), "not set".into())
        );
        assert_eq!(identity_rows("plain"), [("identity".into(), "plain".into())]);
    }
}
