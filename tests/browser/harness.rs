//! What a journey stands on: a server, a browser, and waiting for conditions. No journey and no word of the page here.

mod browser;
mod evidence;
pub(crate) mod long_run;
mod process;
mod server;
mod wait;

pub(crate) use browser::Browser;
pub(crate) use server::{SAMPLE_RUN, Server};
pub(crate) use wait::{eventually, soon};

use skillopt_domain::ids::RunId;

/// The run whose page is open.
pub(crate) async fn run_id(browser: &Browser) -> anyhow::Result<RunId> {
    soon("the page of a run is open", async || {
        let path = browser.path().await?;
        Ok(path.strip_prefix("/runs/").and_then(|id| RunId::parse(id).ok()))
    })
    .await
}

/// Handed to every journey: a browser of its own, and a server that the reading journeys share.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    /// A server that only this journey uses.
    pub(crate) own: Option<Server>,
    shared: Option<(Server, Option<RunId>)>,
}

impl Stage {
    /// Opens a browser; the shared server is taken over from the journey before.
    pub(crate) async fn set(shared: Option<(Server, Option<RunId>)>) -> anyhow::Result<Self> {
        Ok(Self { browser: Browser::start().await?, own: None, shared })
    }

    /// The shared server, a fresh one for the first journey that asks; and the browser.
    pub(crate) async fn server(&mut self) -> anyhow::Result<(&Browser, &Server)> {
        let shared = match self.shared.take() {
            Some(shared) => shared,
            None => (Server::start().await?, None),
        };
        Ok((&self.browser, &self.shared.insert(shared).0))
    }

    /// A finished sample run on the shared server. Made when no journey before has made one.
    pub(crate) async fn finished_run(&mut self) -> anyhow::Result<(&Browser, &Server, RunId)> {
        let known = self.shared.as_ref().and_then(|(_, known)| known.clone());
        let (_, server) = self.server().await?;
        let id = match known {
            Some(id) => id,
            None => {
                let id = server.start_sample_run().await?;
                server.wait_until_done(&id).await?;
                id
            }
        };
        self.keep_finished(id.clone());
        let (browser, server) = self.server().await?;
        Ok((browser, server, id))
    }

    /// Tells later journeys of a run that is done.
    pub(crate) fn keep_finished(&mut self, id: RunId) {
        if let Some((_, known)) = &mut self.shared {
            *known = Some(id);
        }
    }

    /// After the journey: keeps evidence of a failure, ends the browser, and hands the server on.
    pub(crate) async fn clear(
        self,
        name: &str,
        failure: Option<&anyhow::Error>,
    ) -> Option<(Server, Option<RunId>)> {
        if let Some(failure) = failure {
            let server = self.own.as_ref().or(self.shared.as_ref().map(|(server, _)| server));
            evidence::keep(name, failure, &self.browser, server).await;
        }
        self.browser.quit().await;
        self.shared
    }
}
