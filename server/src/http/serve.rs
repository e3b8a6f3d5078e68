//! `skillopt serve`: one instance per data directory, bound to this machine only, stopped in order.
//! Options arrive parsed; no environment and no command line is read here.

use super::assets::Assets;
use super::review::WaitingCount;
use super::router::router;
use super::state::{AppState, HostRules, Parts};
use crate::adopt::{AdoptError, AdoptRoots, Adopter};
use crate::host::Hosting;
use crate::live::Live;
use crate::mcp::OwnProgram;
use crate::sleep::{NightClock, Nights};
use crate::supervisor::Supervisor;
use skillopt_store::StoreFailure;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// How long open answers and runs may take to end after a stop.
const DRAIN: Duration = Duration::from_secs(10);
const LOCK_FILE: &str = "serve.lock";

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address to bind: a loopback address or `localhost`.
    pub host: String,
    /// Port to bind; 0 for any.
    pub port: u16,
    /// Further names under which the server may be reached, through a proxy or a tunnel.
    pub allowed_hosts: Vec<String>,
    /// Further folders under which skills may be adopted.
    pub adopt_roots: Vec<PathBuf>,
    /// The home folder, under which skills may be adopted.
    pub home: Option<PathBuf>,
    /// A folder to serve the dashboard from, instead of the built-in one.
    pub assets: Option<PathBuf>,
    /// Runs that work at the same time.
    pub max_parallel_runs: usize,
    /// The data directory.
    pub data_dir: PathBuf,
}

/// Why the server did not start or ended. The texts are for people.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Not a loopback address.
    #[error(
        "`{0}` is not an address of this machine alone. There are no users yet, so everyone who reaches the \
         port could start runs and write files; keep 127.0.0.1 and use an SSH tunnel \
         (ssh -L 7860:127.0.0.1:7860 HOST)"
    )]
    NotLoopback(String),
    /// An allowed host that is no host.
    #[error("`{0}` is not a host name, with or without a port (--allowed-host)")]
    BadHost(String),
    /// Another server works on the same data directory.
    #[error("skillopt already serves {data_dir} at {url}; open that, or use another --data-dir")]
    AlreadyServing {
        /// The data directory.
        data_dir: PathBuf,
        /// Where it is served.
        url: String,
    },
    /// The port belongs to a skillopt with another data directory.
    #[error(
        "port {port} already serves skillopt for {data_dir} at http://127.0.0.1:{port}; add --port"
    )]
    PortIsSkillopt {
        /// The port.
        port: u16,
        /// The other data directory.
        data_dir: String,
    },
    /// The port belongs to another program.
    #[error("port {0} is taken by another program; choose another one with --port, or 0 for any")]
    PortTaken(u16),
    /// The operating system refused.
    #[error("cannot serve: {0}")]
    Io(#[from] io::Error),
    /// Adoptions of an earlier crash could not be closed.
    #[error("cannot find out what became of interrupted adoptions: {0}")]
    Recovery(#[source] AdoptError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

/// Serves until `stop` fires, then lets runs and answers end. `on_ready` gets the address for people.
///
/// # Errors
/// [`ServeError`] when it cannot start or the listener fails.
pub async fn serve(
    options: ServeOptions,
    hosting: Hosting,
    stop: CancellationToken,
    on_ready: impl FnOnce(&str),
) -> Result<(), ServeError> {
    let address = bind_address(&options.host, options.port)?;
    let hosts = HostRules::parse(&options.allowed_hosts).map_err(ServeError::BadHost)?;
    let mut lock = InstanceLock::take(&options.data_dir)?;
    let listener = bind(address).await?;
    let url = format!("http://{}", listener.local_addr()?);
    lock.announce(&url)?;

    let state = assemble(&options, hosting, hosts, &stop).await?;
    state.adopter.recover().await.map_err(ServeError::Recovery)?;
    let (supervisor, nights) = (state.supervisor.clone(), state.nights.clone());
    let clock = state.clock.clone();
    let commands = state.commands.clone();
    let (live, adopter) = (state.live.clone(), state.adopter.clone());
    on_ready(&url);

    let closing = stop.clone().cancelled_owned();
    let server = axum::serve(listener, router(state)).with_graceful_shutdown(closing);
    let served = async {
        // Answers that do not end in time are cut; none of them holds anything that is not in the store.
        let result = tokio::select! {
            result = server => result,
            () = drained(&stop) => Ok(()),
        };
        // Also when the listener failed by itself.
        stop.cancel();
        result
    };
    let runs = async {
        stop.cancelled().await;
        tokio::join!(supervisor.shut_down(DRAIN), commands.close());
    };
    let sleep = async {
        // The clock first: what it is about to begin is ended with the other nights.
        clock.run(&stop).await;
        nights.shut_down(DRAIN).await;
    };
    let (result, (), (), ()) = tokio::join!(served, supervisor.watch(), runs, sleep);
    adopter.close().await;
    live.close().await;
    Ok(result?)
}

/// Ends a while after the stop. Safe to drop: it holds nothing.
async fn drained(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(DRAIN).await;
}

fn bind_address(host: &str, port: u16) -> Result<SocketAddr, ServeError> {
    let ip = match host.trim_start_matches('[').trim_end_matches(']') {
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        other => other.parse().map_err(|_| ServeError::NotLoopback(host.to_owned()))?,
    };
    if ip.is_loopback() {
        Ok(SocketAddr::new(ip, port))
    } else {
        Err(ServeError::NotLoopback(host.to_owned()))
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(err) if err.kind() == io::ErrorKind::AddrInUse => Err(who_has(address).await),
        Err(err) => Err(err.into()),
    }
}

/// Asks the program on a taken port whether it is one of ours.
async fn who_has(address: SocketAddr) -> ServeError {
    let port = address.port();
    match tokio::time::timeout(Duration::from_secs(2), ask_about(address)).await {
        Ok(Ok(Some(data_dir))) => ServeError::PortIsSkillopt { port, data_dir },
        _ => ServeError::PortTaken(port),
    }
}

async fn ask_about(address: SocketAddr) -> io::Result<Option<String>> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/v1/about HTTP/1.1\r\nhost: {address}\r\naccept: application/json\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut answer).await?;
    let text = String::from_utf8_lossy(&answer);
    let about = text.split_once("\r\n\r\n").and_then(|(_, body)| {
        serde_json::from_str::<skillopt_domain::api::About>(body.trim()).ok()
    });
    Ok(about.map(|about| about.data_dir))
}

/// Held while serving: a second server on the same data directory is told where the first one is.
#[derive(Debug)]
struct InstanceLock {
    file: File,
}

impl InstanceLock {
    fn take(data_dir: &Path) -> Result<Self, ServeError> {
        let path = data_dir.join(LOCK_FILE);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {
                let mut url = String::new();
                file.read_to_string(&mut url)?;
                Err(ServeError::AlreadyServing { data_dir: data_dir.to_owned(), url })
            }
            // File systems without locks: the lease of each run still keeps engines apart.
            Err(TryLockError::Error(err)) => {
                tracing::warn!("cannot lock the data directory: {err}");
                Ok(Self { file })
            }
        }
    }

    fn announce(&mut self, url: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(url.as_bytes())
    }
}

async fn assemble(
    options: &ServeOptions,
    hosting: Hosting,
    hosts: HostRules,
    stop: &CancellationToken,
) -> Result<AppState, StoreFailure> {
    let (store, clock) = (hosting.store().clone(), hosting.clock());
    // The root of the file system is where services start by default; it must not open every folder.
    let working_dir = std::env::current_dir().ok().filter(|folder| folder.parent().is_some());
    let folders = options.adopt_roots.iter().cloned().chain(working_dir);
    let roots = AdoptRoots::new(options.home.clone(), folders.chain([options.data_dir.clone()]));
    let adopter = Adopter::new(store.clone(), roots, clock.clone());
    let nights = Nights::new(hosting.clone());
    Ok(AppState::new(Parts {
        clock: NightClock::new(nights.clone(), adopter.clone()),
        adopter,
        live: Live::start(store.clone(), stop.clone()).await?,
        waiting: WaitingCount::default(),
        nights,
        commands: Arc::new(OwnProgram::of_process(&options.data_dir, stop.child_token())),
        supervisor: Supervisor::new(
            store.clone(),
            Arc::new(hosting.clone()),
            clock,
            options.max_parallel_runs,
        ),
        store,
        hosting,
        hosts,
        assets: options.assets.clone().map_or(Assets::Embedded, Assets::Folder),
        data_dir: options.data_dir.clone(),
        stop: stop.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("127.0.0.1", true)]
    #[case("localhost", true)]
    #[case("::1", true)]
    #[case("[::1]", true)]
    #[case("0.0.0.0", false)]
    #[case("::", false)]
    #[case("192.168.1.5", false)]
    #[case("lab.example", false)]
    #[case("", false)]
    fn c73_only_loopback_addresses_are_bound(#[case] host: &str, #[case] ok: bool) {
        match bind_address(host, 7860) {
            Ok(address) => assert!(ok && address.ip().is_loopback()),
            Err(err) => assert!(!ok && err.to_string().contains("SSH tunnel"), "{err}"),
        }
    }

    #[test]
    fn c114_a_second_instance_is_told_where_the_first_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = InstanceLock::take(dir.path()).unwrap();
        first.announce("http://127.0.0.1:7860").unwrap();
        let err = InstanceLock::take(dir.path()).unwrap_err();
        assert!(err.to_string().contains("http://127.0.0.1:7860"), "{err}");
        drop(first);
        assert!(InstanceLock::take(dir.path()).is_ok());
    }

    #[tokio::test]
    async fn c114_a_port_of_another_program_is_named() {
        let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = other.local_addr().unwrap();
        let hang_up = async {
            let (stream, _) = other.accept().await.unwrap();
            drop(stream);
        };
        let (bound, ()) = tokio::join!(bind(address), hang_up);
        assert!(matches!(bound, Err(ServeError::PortTaken(port)) if port == address.port()));
    }
}
