//! Runs a program once: prompt in, lines out, within limits of time and size. What the lines mean is not known here.

use super::tree::Tree;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What to start.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    /// All that the program gets to see of the environment.
    pub(super) env: &'a [(String, String)],
    /// Name and value of the variable that marks the call.
    pub(super) mark: (&'a str, &'a str),
    pub(super) folder: &'a Path,
    pub(super) input: String,
    pub(super) time_limit: Duration,
    /// How long it may take to end by itself after it was told to.
    pub(super) grace: Duration,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(ExitStatus),
    TimedOut,
    /// It wrote more than is read.
    TooMuch,
    Cancelled,
}

/// What is left of it.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    /// The last of what it wrote to stderr.
    pub(super) stderr: String,
}

/// More output is refused, in bytes.
const MOST_OUTPUT: usize = 64 << 20;
/// A longer line is refused, in bytes.
const MOST_LINE: usize = 16 << 20;
/// So much of stderr is kept, in bytes.
const STDERR_TAIL: usize = 4096;
/// How long output may still come when the program has ended: somebody it started may hold the pipe.
const DRAIN: Duration = Duration::from_secs(1);

enum Event {
    Line(Vec<u8>),
    TooMuch,
    OutputEnded,
    ErrorsEnded(Vec<u8>),
    Exited(std::io::Result<ExitStatus>),
}

/// Runs it to its end, and ends all that it started. Safe to drop: everything is killed then.
///
/// # Errors
/// It cannot be started.
pub(super) async fn run(
    launch: Launch<'_>,
    cancel: &CancellationToken,
    mut on_line: impl FnMut(&[u8]),
) -> std::io::Result<Ended> {
    let deadline = Instant::now() + launch.time_limit;
    let child = start(&launch)?;
    let mark = format!("{}={}", launch.mark.0, launch.mark.1);
    let mut tree = Tree::new(child.id(), mark, launch.grace);
    let mut events = listen(child, launch.input);
    let mut stage = Stage { until: deadline, ..Stage::default() };
    let mut end = None;
    while !stage.is_over() {
        let event = tokio::select! {
            event = tokio::time::timeout_at(stage.until, events.recv()) => event,
            () = cancel.cancelled(), if end.is_none() => {
                end = Some(End::Cancelled);
                break;
            }
        };
        match event {
            Ok(Some(Event::Line(line))) => on_line(&line),
            Ok(Some(Event::TooMuch)) => {
                end = Some(End::TooMuch);
                break;
            }
            Ok(Some(Event::OutputEnded)) => stage.output_ended = true,
            Ok(Some(Event::ErrorsEnded(tail))) => stage.stderr = Some(tail),
            Ok(Some(Event::Exited(status))) => {
                end = Some(End::Exited(status?));
                stage.until = (Instant::now() + DRAIN).min(deadline.max(Instant::now()));
                stage.exited = true;
            }
            Ok(None) => break,
            Err(_) => {
                end = end.or(Some(End::TimedOut));
                break;
            }
        }
    }
    tree.end().await;
    // Nobody holds the pipes any more, so that the rest comes at once.
    let rest = tokio::time::timeout(DRAIN, async {
        while !stage.is_over() {
            match events.recv().await {
                Some(Event::Line(line)) if matches!(end, Some(End::Exited(_))) => on_line(&line),
                Some(Event::ErrorsEnded(tail)) => stage.stderr = Some(tail),
                Some(Event::OutputEnded) => stage.output_ended = true,
                Some(Event::Exited(_)) => stage.exited = true,
                Some(_) => {}
                None => break,
            }
        }
    });
    // What does not come is not waited for.
    let _ = rest.await;
    let stderr = String::from_utf8_lossy(&stage.stderr.unwrap_or_default()).into_owned();
    Ok(Ended { end: end.unwrap_or(End::TimedOut), stderr })
}

struct Stage {
    until: Instant,
    output_ended: bool,
    exited: bool,
    stderr: Option<Vec<u8>>,
}

impl Default for Stage {
    fn default() -> Self {
        Self { until: Instant::now(), output_ended: false, exited: false, stderr: None }
    }
}

impl Stage {
    fn is_over(&self) -> bool {
        self.output_ended && self.exited && self.stderr.is_some()
    }
}

/// Starts it without a shell, at the head of a process group of its own.
fn start(launch: &Launch<'_>) -> std::io::Result<Child> {
    let mut command = Command::new(launch.program);
    command
        .args(launch.arguments)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .env(launch.mark.0, launch.mark.1)
        .current_dir(launch.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    command.spawn()
}

/// Feeds and reads the child from threads, which end when its pipes close. They are never awaited: a receiver that is
/// gone ends them with their next word, and whoever drops the receiver kills the child.
fn listen(mut child: Child, input: String) -> mpsc::Receiver<Event> {
    let (sender, events) = mpsc::channel(64);
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read everything has its reasons.
        std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    }
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let end = read_lines(BufReader::new(stdout), &sender);
            sender.blocking_send(end)
        });
    }
    if let Some(stderr) = child.stderr.take() {
        let sender = sender.clone();
        std::thread::spawn(move || sender.blocking_send(Event::ErrorsEnded(tail_of(stderr))));
    }
    std::thread::spawn(move || sender.blocking_send(Event::Exited(child.wait())));
    events
}

fn read_lines(mut output: impl BufRead, sender: &mpsc::Sender<Event>) -> Event {
    let (mut line, mut total) = (Vec::new(), 0);
    loop {
        let most = u64::try_from(MOST_LINE - line.len()).unwrap_or(u64::MAX);
        let read = output.by_ref().take(most).read_until(b'\n', &mut line);
        let Ok(read) = read else { return Event::OutputEnded };
        total += read;
        let is_whole = line.ends_with(b"\n");
        if total > MOST_OUTPUT || (!is_whole && line.len() >= MOST_LINE) {
            return Event::TooMuch;
        }
        if is_whole || read == 0 {
            let is_over = read == 0;
            if !line.is_empty()
                && sender.blocking_send(Event::Line(std::mem::take(&mut line))).is_err()
            {
                return Event::OutputEnded;
            }
            if is_over {
                return Event::OutputEnded;
            }
        }
    }
}

fn tail_of(mut stream: impl Read) -> Vec<u8> {
    let (mut tail, mut part) = (Vec::new(), [0; STDERR_TAIL]);
    while let Ok(read) = stream.read(&mut part) {
        if read == 0 {
            break;
        }
        tail.extend_from_slice(&part[..read]);
        let excess = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..excess);
    }
    tail
}
