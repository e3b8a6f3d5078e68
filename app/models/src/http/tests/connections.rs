//! Servers whose connections misbehave, written by hand because no HTTP library would send such things.

use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Reads one request to the end of its body; false at the end of the connection.
async fn read_request(stream: &mut TcpStream) -> bool {
    let mut seen = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let Ok(count) = stream.read(&mut chunk).await else { return false };
        if count == 0 {
            return false;
        }
        seen.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&seen).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .to_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())
            .unwrap_or(0);
        if body.len() >= length {
            return true;
        }
    }
}

fn answer() -> String {
    let body = r#"{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}]}"#;
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Sends each text to one connection, the last one to all further ones, and says whether to close it.
struct OddServer {
    base_url: String,
    tasks: JoinSet<()>,
}

#[derive(Clone, Copy)]
enum Then {
    Close,
    KeepOpen,
}

impl OddServer {
    async fn start(script: Vec<(String, Then)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = Vec::new();
            for at in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (text, then) = &script[at.min(script.len() - 1)];
                read_request(&mut stream).await;
                stream.write_all(text.as_bytes()).await.unwrap();
                if matches!(then, Then::KeepOpen) {
                    open.push(stream);
                }
            }
        });
        Self { base_url, tasks }
    }

    async fn ask(self, timeout_s: f64) -> Result<ChatReply, ModelError> {
        self.ask_with(timeout_s, |_| {}).await
    }

    async fn ask_with(
        mut self,
        timeout_s: f64,
        tune: impl FnOnce(&mut ModelRole),
    ) -> Result<ChatReply, ModelError> {
        let mut config = config(&self.base_url);
        config.timeout_s = timeout_s;
        config.max_retries = 2;
        tune(&mut config);
        let endpoints = Endpoints::with_timer(Arc::new(JumpingTimer::default()));
        let end = ask(&build(&config, &endpoints).unwrap()).await;
        self.tasks.abort_all();
        while self.tasks.join_next().await.is_some() {}
        end
    }
}

/// Counts the calls that are in flight, and answers none before so many have been so at once.
pub(super) struct CountingServer {
    pub(super) base_url: String,
    peak: Arc<watch::Sender<usize>>,
    _tasks: JoinSet<()>,
}

impl CountingServer {
    pub(super) async fn start(wanted: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let peak = Arc::new(watch::Sender::new(0));
        let counted = Arc::clone(&peak);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let running = Arc::new(AtomicUsize::new(0));
            let mut connections = JoinSet::new();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (running, peak) = (Arc::clone(&running), Arc::clone(&counted));
                connections.spawn(async move {
                    while read_request(&mut stream).await {
                        let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                        peak.send_modify(|peak| *peak = now.max(*peak));
                        peak.subscribe().wait_for(|peak| *peak >= wanted).await.unwrap();
                        // Room for a call too many to come in, if there were one.
                        for _ in 0..50 {
                            tokio::task::yield_now().await;
                        }
                        running.fetch_sub(1, Ordering::SeqCst);
                        stream.write_all(answer().as_bytes()).await.unwrap();
                    }
                });
            }
        });
        Self { base_url, peak, _tasks: tasks }
    }

    pub(super) fn peak(&self) -> usize {
        *self.peak.borrow()
    }
}

fn endless() -> String {
    "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\":".to_owned()
}

#[tokio::test]
async fn c46_a_body_that_never_ends_runs_into_the_time_out_of_each_attempt() {
    let server = OddServer::start(vec![(endless(), Then::KeepOpen)]).await;
    let error = server.ask(0.03).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Timeout, 3));
    assert!(error.message.contains("0.03 s"), "{}", error.message);
}

#[tokio::test]
async fn a_cancelled_call_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let cancel = CancellationToken::new();
    let came = cancel.clone();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(read_request(&mut stream).await);
        came.cancel();
        stream.read(&mut [0; 16]).await
    });
    let model = build(&config(&base_url), &Endpoints::new()).unwrap();
    let error = model.chat(&question(Purpose::Qa), &sample(), &cancel).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Cancelled, 1));
    let last = tokio::time::timeout(Duration::from_secs(60), server).await.unwrap().unwrap();
    assert!(!last.is_ok_and(|bytes| bytes > 0), "the server saw the end of the connection");
}

#[tokio::test]
async fn c46_a_connection_that_breaks_is_made_anew() {
    let script =
        vec![(String::new(), Then::Close), (endless(), Then::Close), (answer(), Then::KeepOpen)];
    let reply = OddServer::start(script).await.ask(30.0).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("Paris", 3));
}

fn begun_stream(more: &str) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let piece = r#"{"choices":[{"index":0,"delta":{"content":"Par"}}]}"#;
    format!("{head}content-length: 100000\r\n\r\ndata: {piece}\n\n{more}")
}

#[tokio::test]
async fn c35_a_stream_that_stands_still_or_is_only_kept_open_runs_into_the_time_out() {
    for more in ["", ": keep-alive\n\n: keep-alive\n\n"] {
        let server = OddServer::start(vec![(begun_stream(more), Then::KeepOpen)]).await;
        let stream = |config: &mut ModelRole| config.provider.stream = true;
        let error = server.ask_with(0.05, stream).await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (ModelErrorKind::Timeout, 3));
        assert!(error.message.contains("0.05 s"), "{}", error.message);
    }
}

#[tokio::test]
async fn c35_a_connection_that_breaks_within_a_stream_brings_no_answer() {
    let server = OddServer::start(vec![(begun_stream(""), Then::Close)]).await;
    let stream = |config: &mut ModelRole| config.provider.stream = true;
    let error = server.ask_with(30.0, stream).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Connection, 3));
}

#[tokio::test]
async fn c35_a_stream_that_has_said_all_is_not_waited_for() {
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let server = OddServer::start(vec![(begun_stream(end), Then::KeepOpen)]).await;
    let reply = server.ask_with(600.0, |config| config.provider.stream = true).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("Par", 1));
}

#[tokio::test]
async fn c46_a_reply_without_end_in_size_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let server =
        OddServer::start(vec![(format!("{head}{}", " ".repeat(17 << 20)), Then::Close)]).await;
    let error = server.ask(30.0).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Server, 1));
    assert!(error.message.contains("16 MB"), "{}", error.message);
}

#[tokio::test]
async fn c37_a_refused_connection_is_told_with_its_host() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    let endpoints = Endpoints::with_timer(Arc::new(JumpingTimer::default()));
    let model = build(&config(&format!("http://{host}/v1?hint=geheim")), &endpoints).unwrap();
    let error = ask_for(&model, Purpose::Preflight).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Connection, 3));
    assert!(error.message.contains(&format!("cannot connect to {host}")), "{}", error.message);
    assert!(!error.message.contains("geheim"));
}

#[tokio::test]
async fn a_redirect_is_told_and_not_followed() {
    let elsewhere = World::scripted(vec![says("Paris")]).await;
    let target =
        format!("http://localhost:{}/v1/chat/completions", elsewhere.server.address().port());
    for status in [301, 302, 307, 308] {
        let moved = ResponseTemplate::new(status).insert_header("location", target.as_str());
        let error = World::scripted(vec![moved]).await.ask().await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (ModelErrorKind::BadRequest, 1));
        assert!(error.message.contains("redirects to localhost"), "{}", error.message);
    }
    assert!(elsewhere.requests().await.is_empty(), "the key reached no other host");
}
