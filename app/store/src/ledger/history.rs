//! What earlier calls of a model showed, for the forecast of a run.

use super::word;
use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Column, Doing, count};
use skillopt_domain::spend::Role;
use skillopt_engine::forecast::{CallHistory, ReplyLength};
use skillopt_engine::ports::Purpose;

/// The last calls of the ledger among which those of a model are looked for, and how many of them at most.
const LOOK_BACK: i64 = 20_000;
const MOST: i64 = 400;

const CALLS: &str = "SELECT purpose, prompt_tokens, completion_tokens, latency_ms, \
     (SELECT sum(blobs.size) FROM json_each(calls.messages) AS sent JOIN blobs ON blobs.hash = sent.value ->> 1) AS bytes \
     FROM calls WHERE id > (SELECT coalesce(max(id), 0) FROM calls) - ? AND role = ? AND model = ? \
     AND purpose <> 'preflight' ORDER BY id DESC LIMIT ?";

impl Store {
    /// What the last calls of a model in a role showed.
    ///
    /// # Errors
    /// [`StoreFailure`] when the store cannot be read.
    pub async fn call_history(&self, role: Role, model: &str) -> Result<CallHistory, StoreFailure> {
        let rows = sqlx::query(CALLS)
            .bind(LOOK_BACK)
            .bind(role.as_str())
            .bind(model)
            .bind(MOST)
            .fetch_all(self.reader())
            .await
            .doing("look at earlier calls")?;
        let (mut bytes, mut tokens) = (0u64, 0u64);
        let mut latencies = Vec::with_capacity(rows.len());
        let mut replies: Vec<(Purpose, u32, u64)> = Vec::new();
        for row in &rows {
            latencies.push(count(row.int("latency_ms")?));
            if let Some(read) = row.int_or_null("prompt_tokens")? {
                tokens += count(read);
                bytes += count(row.int_or_null("bytes")?.unwrap_or_default());
            }
            if let Some(written) = row.int_or_null("completion_tokens")? {
                let purpose = word("a call's purpose", row.text("purpose")?)?;
                let at =
                    replies.iter().position(|(known, ..)| *known == purpose).unwrap_or_else(|| {
                        replies.push((purpose, 0, 0));
                        replies.len() - 1
                    });
                replies[at].1 += 1;
                replies[at].2 += count(written);
            }
        }
        Ok(CallHistory {
            n: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            bytes_per_token: (tokens > 0).then(|| float(bytes) / float(tokens)),
            latency_ms: spread(latencies),
            replies: replies
                .into_iter()
                .map(|(purpose, n, sum)| ReplyLength {
                    purpose,
                    n,
                    mean_tokens: float(sum) / f64::from(n),
                })
                .collect(),
        })
    }
}

/// The tenth part, the mean, and nine tenths.
fn spread(mut latencies: Vec<u64>) -> Option<[f64; 3]> {
    latencies.sort_unstable();
    let at = |tenths: usize| latencies.get(latencies.len() * tenths / 10).copied().map(float);
    let mean = float(latencies.iter().sum()) / f64::from(u32::try_from(latencies.len()).ok()?);
    Some([at(1)?.min(mean), mean, at(9)?.max(mean)])
}

/// Counts here are far below the numbers that a float cannot tell apart.
fn float(n: u64) -> f64 {
    u32::try_from(n).map_or(f64::from(u32::MAX), f64::from)
}
