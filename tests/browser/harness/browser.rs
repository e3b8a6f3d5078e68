//! A headless Chromium behind its own chromedriver, and the few things a person does with it.

use super::process::{Process, free_port};
use super::{eventually, soon};
use anyhow::Context;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use thirtyfour::prelude::*;
use thirtyfour::{ChromeCapabilities, LoggingPrefsLogLevel, TypingData};

const FLAGS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--window-size=1280,900",
];

/// Elements that are pressed, by what they are called.
const PRESSABLE: &str = "a, button, summary, [role=option], [role=tab], label";

pub(crate) struct Browser {
    driver: WebDriver,
    console: RefCell<Vec<String>>,
    /// Ends after the session.
    _chromedriver: Process,
    _profile: TempDir,
}

impl Browser {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let port = free_port()?;
        let profile = tempfile::tempdir()?;
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={port}")).stdout(Stdio::null()).stderr(Stdio::null());
        let chromedriver = Process::start(&mut command)
            .context("the browser journeys need chromium and chromedriver of one version")?;
        let mut wanted = ChromeCapabilities::new();
        for flag in FLAGS {
            wanted.add_arg(flag)?;
        }
        wanted.add_arg(&format!("--user-data-dir={}", profile.path().display()))?;
        wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
        let url = format!("http://127.0.0.1:{port}");
        let driver = eventually("chromium starts", Duration::from_secs(30), async || {
            Ok(Some(WebDriver::new(&url, wanted.clone()).await?))
        })
        .await?;
        Ok(Self {
            driver,
            console: RefCell::default(),
            _chromedriver: chromedriver,
            _profile: profile,
        })
    }

    pub(crate) async fn open(&self, url: &str) -> anyhow::Result<()> {
        Ok(self.driver.goto(url).await?)
    }

    pub(crate) async fn reload(&self) -> anyhow::Result<()> {
        Ok(self.driver.refresh().await?)
    }

    pub(crate) async fn path(&self) -> anyhow::Result<String> {
        Ok(self.driver.current_url().await?.path().to_owned())
    }

    /// Waits for an element to be there.
    pub(crate) async fn find(&self, css: &str) -> anyhow::Result<WebElement> {
        soon(css, async || Ok(Some(self.driver.find(By::Css(css)).await?))).await
    }

    /// Waits for an element and presses it, though it may be drawn anew in between.
    pub(crate) async fn press_first(&self, css: &str) -> anyhow::Result<()> {
        soon(&format!("`{css}` can be pressed"), async || {
            self.driver.find(By::Css(css)).await?.click().await?;
            Ok(Some(()))
        })
        .await
    }

    /// How many elements there are now.
    pub(crate) async fn count(&self, css: &str) -> anyhow::Result<usize> {
        Ok(self.driver.find_all(By::Css(css)).await?.len())
    }

    /// What is written in an element now; empty when there is none.
    pub(crate) async fn text(&self, css: &str) -> anyhow::Result<String> {
        self.js("return document.querySelector(arguments[0])?.innerText ?? ''", [json!(css)]).await
    }

    /// Waits until an element says something.
    pub(crate) async fn see(&self, css: &str, words: &str) -> anyhow::Result<()> {
        soon(&format!("`{css}` says `{words}`"), async || {
            Ok(self.text(css).await?.contains(words).then_some(()))
        })
        .await
    }

    /// Presses the first visible link or button under `css` that is called `name`, with the mouse.
    pub(crate) async fn click_in(&self, css: &str, name: &str) -> anyhow::Result<()> {
        soon(&format!("`{name}` can be pressed"), async || {
            let ret = self
                .driver
                .execute(FIND_PRESSABLE, [json!(css), json!(PRESSABLE), json!(name)])
                .await?;
            if ret.json().is_null() {
                return Ok(None);
            }
            ret.element()?.click().await?;
            Ok(Some(()))
        })
        .await
    }

    pub(crate) async fn click(&self, name: &str) -> anyhow::Result<()> {
        self.click_in("body", name).await
    }

    /// Puts text into a field in place of what it holds.
    pub(crate) async fn fill(&self, css: &str, text: &str) -> anyhow::Result<()> {
        let field = self.find(css).await?;
        field.clear().await?;
        Ok(field.send_keys(text).await?)
    }

    /// Presses keys where the focus is.
    pub(crate) async fn press(&self, keys: impl Into<TypingData>) -> anyhow::Result<()> {
        Ok(self.driver.action_chain().send_keys(keys).perform().await?)
    }

    /// Holds Control while a key is pressed.
    pub(crate) async fn press_with_control(&self, key: char) -> anyhow::Result<()> {
        let chain = self.driver.action_chain().key_down(Key::Control).send_keys(key.to_string());
        Ok(chain.key_up(Key::Control).perform().await?)
    }

    /// Presses Tab until the element that has the focus is called `name`, with or without a count behind it.
    pub(crate) async fn tab_to(&self, name: &str) -> anyhow::Result<()> {
        let mut passed = Vec::new();
        for _ in 0..80 {
            self.press(Key::Tab).await?;
            let focused: String = self.js(FOCUSED_NAME, []).await?;
            if focused.starts_with(name) {
                return Ok(());
            }
            passed.push(focused);
        }
        anyhow::bail!("Tab never reaches `{name}`; it passes {passed:?}")
    }

    pub(crate) async fn js<T: DeserializeOwned>(
        &self,
        script: &str,
        args: impl IntoIterator<Item = Value>,
    ) -> anyhow::Result<T> {
        let args: Vec<Value> = args.into_iter().collect();
        Ok(self.driver.execute(script, args).await?.convert()?)
    }

    /// Lays the page out as in a window of this width.
    pub(crate) async fn set_width(&self, width: u32) -> anyhow::Result<()> {
        let size = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.driver.cdp().send_raw("Emulation.setDeviceMetricsOverride", size).await?;
        Ok(())
    }

    /// Back to the width of the window.
    pub(crate) async fn reset_width(&self) -> anyhow::Result<()> {
        self.driver.cdp().send_raw("Emulation.clearDeviceMetricsOverride", json!({})).await?;
        Ok(())
    }

    /// What the console said since the last call: level and text.
    pub(crate) async fn console(&self) -> anyhow::Result<Vec<(String, String)>> {
        let lines = self.driver.browser_log().await?;
        let lines: Vec<_> = lines.into_iter().map(|line| (line.level, line.message)).collect();
        self.console
            .borrow_mut()
            .extend(lines.iter().map(|(level, text)| format!("{level} {text}\n")));
        Ok(lines)
    }

    /// All that the console ever said.
    pub(crate) async fn whole_console(&self) -> String {
        // A browser that is gone says no more; what it said before is kept.
        let _ = self.console().await;
        self.console.borrow().concat()
    }

    pub(crate) async fn source(&self) -> anyhow::Result<String> {
        Ok(self.driver.source().await?)
    }

    pub(crate) async fn screenshot(&self) -> anyhow::Result<Vec<u8>> {
        Ok(self.driver.screenshot_as_png().await?)
    }

    pub(crate) async fn quit(self) {
        // Fails when the browser has crashed; then there is nothing to end.
        let _ = self.driver.quit().await;
    }
}

/// By label, else by text without counts and icons; what cannot be seen is passed over.
const FIND_PRESSABLE: &str = r"
const [within, pressable, name] = arguments;
const called = (e) => [e.getAttribute('aria-label'), e.innerText].some((words) => {
  const text = (words ?? '').replace(/\s+/g, ' ').trim();
  return text === name || text.replace(/ ?(v?[\d,.]+|\d+ of \d+)$/, '').trim() === name;
});
for (const root of document.querySelectorAll(within))
  for (const e of root.querySelectorAll(pressable))
    if (called(e) && !e.disabled && e.checkVisibility()) return e;
return null;";

/// What the element with the focus is called; empty when none has it.
const FOCUSED_NAME: &str = r"
const e = document.activeElement;
if (!e || e === document.body) return '';
return (e.getAttribute('aria-label') ?? e.innerText ?? '').replace(/\s+/g, ' ').trim();";
