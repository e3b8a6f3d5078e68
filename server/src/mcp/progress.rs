//! Signs of life of a call: clients that asked for them wait longer.

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use std::time::Duration;

const EVERY_S: u32 = 10;

/// Does the work, and tells every few seconds that it goes on. Safe to drop when `work` is.
pub(super) async fn told<T>(
    context: &RequestContext<RoleServer>,
    title: &str,
    work: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else { return work.await };
    tokio::pin!(work);
    let mut seconds = 0;
    loop {
        let pause = tokio::time::sleep(Duration::from_secs(u64::from(EVERY_S)));
        tokio::select! {
            done = &mut work => return done,
            () = pause => {}
        }
        seconds += EVERY_S;
        let sign = ProgressNotificationParam::new(token.clone(), f64::from(seconds))
            .with_message(format!("{title}: at work for {seconds} s"));
        // Whoever does not listen any more misses nothing.
        let _ = context.peer.notify_progress(sign).await;
    }
}
