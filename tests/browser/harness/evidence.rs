//! What is kept of a journey that failed: picture, page, console and the server's log.

use super::{Browser, Server};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes what there is into `journeys/NAME` under the folder for temporary files of the build.
pub(crate) async fn keep(
    name: &str,
    failure: &anyhow::Error,
    browser: &Browser,
    server: Option<&Server>,
) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("journeys").join(name);
    if let Err(err) = fs::create_dir_all(&folder) {
        println!("no evidence can be kept in {}: {err}", folder.display());
        return;
    }
    write(&folder, "failure.txt", format!("{failure:?}").as_bytes());
    if let Ok(picture) = browser.screenshot().await {
        write(&folder, "page.png", &picture);
    }
    if let Ok(page) = browser.source().await {
        write(&folder, "page.html", page.as_bytes());
    }
    write(&folder, "console.log", browser.whole_console().await.as_bytes());
    if let Some(log) = server.and_then(|server| fs::read(server.log_path()).ok()) {
        write(&folder, "server.log", &log);
    }
    println!("evidence: {}", folder.display());
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    if let Err(err) = fs::write(folder.join(name), bytes) {
        println!("{name} could not be kept: {err}");
    }
}
