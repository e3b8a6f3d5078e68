//! How many nights wait, for everybody who hears of a change: counted once for each change, not once for each viewer.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// The latest count.
#[derive(Debug, Default)]
pub(crate) struct WaitingCount(Mutex<Latest>);

#[derive(Debug, Default)]
struct Latest {
    /// The change of a night that it was counted after.
    changed: u64,
    n_waiting: Arc<OnceCell<u64>>,
}

impl WaitingCount {
    /// How many wait after a change of a night; `count` is for the first who asks.
    pub(in crate::http) async fn after<E>(
        &self,
        changed: u64,
        count: impl Future<Output = Result<u64, E>>,
    ) -> Result<u64, E> {
        let n_waiting = self.cell(changed);
        n_waiting.get_or_try_init(|| count).await.copied()
    }

    /// What was counted after a later change is as good.
    fn cell(&self, changed: u64) -> Arc<OnceCell<u64>> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.changed < changed {
            *latest = Latest { changed, n_waiting: Arc::default() };
        }
        Arc::clone(&latest.n_waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::convert::Infallible;

    #[tokio::test]
    async fn each_change_is_counted_once_however_many_look_and_a_failure_is_no_count() {
        let shared = WaitingCount::default();
        let n_counts = Cell::new(0);
        let count = |n: u64| {
            let n_counts = &n_counts;
            async move {
                n_counts.set(n_counts.get() + 1);
                tokio::task::yield_now().await;
                Ok::<_, Infallible>(n)
            }
        };
        assert_eq!(shared.after(1, async { Err(()) }).await, Err(()));
        let (one, two) = tokio::join!(shared.after(1, count(7)), shared.after(1, count(8)));
        assert_eq!((one, two, n_counts.get()), (Ok(7), Ok(7), 1));
        assert_eq!(shared.after(2, count(9)).await, Ok(9));
        assert_eq!(shared.after(1, count(7)).await, Ok(9), "what is newer is as good");
        assert_eq!(n_counts.get(), 2);
    }
}
