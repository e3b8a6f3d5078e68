//! `skillopt prices`: what models charge, as the user knows it.

use super::Exit;
use super::args::{ListPricesArgs, PriceName, PricesCommand, SetPriceArgs};
use super::output::Output;
use super::train::ACTOR;
use crate::config::Environment;
use crate::host::Hosting;
use skillopt_domain::price::{PriceRow, PriceTable};
use std::path::Path;

pub(super) async fn run(
    command: PricesCommand,
    data_dir: &Path,
    output: &Output,
) -> anyhow::Result<Exit> {
    let hosting = Hosting::open(data_dir, Environment::of_process(data_dir)).await?;
    let done = match command {
        PricesCommand::List(args) => list(&hosting, &args, output).await,
        PricesCommand::Set(args) => set(&hosting, args, output).await,
        PricesCommand::Remove(name) => remove(&hosting, &name, output).await,
    };
    hosting.store().close().await;
    done
}

async fn list(hosting: &Hosting, args: &ListPricesArgs, output: &Output) -> anyhow::Result<Exit> {
    let table = hosting.store().prices().await?;
    if args.json {
        output.line(&serde_json::to_string(&table)?);
        return Ok(Exit::Done);
    }
    if table.rows.is_empty() {
        output.note(
            "no price is known; `skillopt prices set MODEL --in DOLLARS --out DOLLARS` adds one",
        );
    }
    for row in &table.rows {
        output.line(&line(row));
    }
    Ok(Exit::Done)
}

fn line(row: &PriceRow) -> String {
    let host = if row.host.is_empty() { String::new() } else { format!(" at {}", row.host) };
    let cached = row.cached_input.map(|price| format!(", cached ${price}")).unwrap_or_default();
    let cached = match row.cache_write {
        Some(price) => format!("{cached}, into the cache ${price}"),
        None => cached,
    };
    let source = if row.source.is_empty() { String::new() } else { format!(" ({})", row.source) };
    format!(
        "{}{host}: in ${}{cached}, out ${} a million tokens, as of {}{source}",
        row.model, row.input, row.output, row.as_of
    )
}

async fn set(hosting: &Hosting, args: SetPriceArgs, output: &Output) -> anyhow::Result<Exit> {
    let table = hosting.store().prices().await?;
    let row = PriceRow {
        model: args.name.model,
        host: args.name.host,
        input: args.input,
        cached_input: args.cached,
        cache_write: args.cache_write,
        output: args.output,
        as_of: args.as_of.unwrap_or_else(|| today(hosting)),
        source: args.source,
    };
    let mut rows = table.rows.clone();
    match rows.iter_mut().find(|old| old.model == row.model && old.host == row.host) {
        Some(old) => old.clone_from(&row),
        None => rows.push(row.clone()),
    }
    keep(hosting, &table, &rows, output, &line(&row)).await
}

async fn remove(hosting: &Hosting, name: &PriceName, output: &Output) -> anyhow::Result<Exit> {
    let table = hosting.store().prices().await?;
    let mut rows = table.rows.clone();
    rows.retain(|row| row.model != name.model || row.host != name.host);
    if rows.len() == table.rows.len() {
        output.error(&format!(
            "there is no price of `{}`; `skillopt prices list` shows them",
            name.model
        ));
        return Ok(Exit::Usage);
    }
    keep(hosting, &table, &rows, output, &format!("removed {}", name.model)).await
}

async fn keep(
    hosting: &Hosting,
    table: &PriceTable,
    rows: &[PriceRow],
    output: &Output,
    told: &str,
) -> anyhow::Result<Exit> {
    match hosting.replace_prices(table.version, rows, ACTOR).await? {
        Ok(Some(_)) => {
            output.line(told);
            Ok(Exit::Done)
        }
        Ok(None) => {
            output.error("somebody else changed the prices in this moment; try again");
            Ok(Exit::Failed)
        }
        Err(problems) => {
            for problem in problems {
                output.error(&format!("{}: {}", problem.field, problem.message));
            }
            Ok(Exit::Usage)
        }
    }
}

/// The day in UTC.
fn today(hosting: &Hosting) -> String {
    let days = hosting.clock().now_ms() / 86_400_000;
    let (year, month, day) = date(i64::try_from(days).unwrap_or_default());
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date of a day after 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that the day that comes every four years is the last one.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_787), (2026, 11, 30));
    }

    #[test]
    fn a_row_is_one_line_with_units_and_a_date() {
        let row = PriceRow {
            model: "m*".into(),
            host: "h.example".into(),
            input: 1.5,
            cached_input: Some(0.15),
            cache_write: Some(1.875),
            output: 6.0,
            as_of: "2026-11-30".into(),
            source: "their page".into(),
        };
        assert_eq!(
            line(&row),
            "m* at h.example: in $1.5, cached $0.15, into the cache $1.875, out $6 a million tokens, as of 2026-11-30 (their page)"
        );
    }
}
