//! A stand-in for the programs that serve as models. Which one it plays is the name that it is started under; what it
//! does stands in `script.json` beside that name, and what it saw is added to `seen.jsonl` there. It takes the flags
//! that the real program documents and no others.

#[path = "fake_agent/flags.rs"]
mod flags;
#[path = "fake_agent/speech.rs"]
mod speech;
#[path = "fake_agent/wit.rs"]
mod wit;

use serde_json::{Value, json};
use speech::Speech;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// Longer than any time limit of a test, and not for ever.
const HANG: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let me = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    let home = me.parent().unwrap_or(Path::new(".")).to_owned();
    let program = me.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let script = std::fs::read_to_string(home.join("script.json")).unwrap_or_default();
    let script: Value = serde_json::from_str(&script).unwrap_or_default();
    if arguments == ["--version"] {
        say(script["version"].as_str().unwrap_or("1.2.3 (fake)"));
        return ExitCode::SUCCESS;
    }
    let flags = match flags::parse(&program, &arguments) {
        Ok(flags) => flags,
        Err(flag) => {
            complain(&format!("error: unknown option '{flag}'"));
            return ExitCode::from(2);
        }
    };
    let mut prompt = String::new();
    // A prompt that is no text is one that the test sees missing.
    let _ = std::io::stdin().read_to_string(&mut prompt);
    let n_before = remember(&home, &program, &arguments, &prompt);
    let fault = match script["faults"].get(n_before) {
        Some(fault) => fault.as_str().unwrap_or_default(),
        None => script["fault"].as_str().unwrap_or_default(),
    };
    let answer = || match script["answer"].as_str() {
        Some(answer) => answer.to_owned(),
        None => wit::answer(&flags, &prompt),
    };
    let secret = script["secret"].as_str().unwrap_or_default();
    let fake = Fake { speech: Speech::of(&program), home: &home, secret };
    if script["blurts"].is_array() {
        return fake.blurt(&all_that_it_knows(&script), n_before, &answer());
    }
    match fault {
        "" => {
            let answer = answer();
            if let Some(sessions) = script["sessions"].as_str() {
                keep_session(Path::new(sessions), &prompt, &answer);
            }
            run_tools(&script);
            fake.speech.say_steps("what stands in it");
            if let Some(tool) = script["calls"].as_str() {
                fake.speech.say_call(tool);
            }
            fake.speech.say_answer(&answer);
            ExitCode::SUCCESS
        }
        fault => fake.fail(fault),
    }
}

/// A program that is about to fail.
struct Fake<'a> {
    speech: Speech,
    home: &'a Path,
    /// What it blurts out.
    secret: &'a str,
}

impl Fake<'_> {
    /// Tells what it knows in its steps and on stderr, at times in the answer or instead of one.
    fn blurt(&self, known: &str, n_before: usize, answer: &str) -> ExitCode {
        complain(known);
        self.speech.say_steps(known);
        // A run that cannot call its models would end before it has said anything.
        let call = std::env::var("SKILLOPT_CALL").unwrap_or_default();
        let way = if call.ends_with("/preflight") { 0 } else { n_before % 5 };
        match way {
            1 => self.speech.fail(known),
            2 => {
                say(known);
                ExitCode::from(7)
            }
            3 => {
                self.speech.say_answer(&format!("<answer>{known}</answer>"));
                ExitCode::SUCCESS
            }
            _ => {
                self.speech.say_answer(answer);
                ExitCode::SUCCESS
            }
        }
    }

    fn fail(&self, fault: &str) -> ExitCode {
        let speech = self.speech;
        match fault {
            "empty" => {
                speech.say_answer("");
                ExitCode::SUCCESS
            }
            "exit" => {
                complain("\u{1b}[31mTypeError: something broke\u{1b}[0m\n    at line 12");
                ExitCode::from(7)
            }
            "secret" => {
                complain(&format!("bad key {}", self.secret));
                ExitCode::from(1)
            }
            "login" => speech.fail("Invalid API key · Please run /login"),
            "usage_limit" => speech.fail("You've hit your usage limit. Try again at 9:00 PM."),
            "rate_limit" => speech.fail("API Error: 429 rate limit reached"),
            "garbage" => {
                say("Welcome! There is a new version.\n{not json\n[1, 2]");
                ExitCode::SUCCESS
            }
            "cut" => {
                speech.say_steps("what stands in it");
                print(r#"{"type": "assistant", "mess"#);
                ExitCode::SUCCESS
            }
            "hang" => {
                std::thread::sleep(HANG);
                ExitCode::SUCCESS
            }
            "hang_with_children" => {
                start_stubborn_children(self.home);
                std::thread::sleep(HANG);
                ExitCode::SUCCESS
            }
            "leave_child" => {
                start_stubborn_children(self.home);
                speech.say_answer("<answer>42</answer>");
                ExitCode::SUCCESS
            }
            "flood" => {
                let line = format!("{}\n", json!({"type": "note", "text": "x".repeat(1 << 20)}));
                for _ in 0..200 {
                    print(&line);
                }
                ExitCode::SUCCESS
            }
            "litter" => {
                let outside = Path::new("made-by-the-program.txt");
                let written = std::fs::write(outside, "x");
                speech.say_answer(if written.is_ok() { "littered" } else { "could not" });
                ExitCode::SUCCESS
            }
            other => {
                complain(&format!("no such fault: {other}"));
                ExitCode::from(3)
            }
        }
    }
}

/// The environment and the planted keys, so often that a text is cut within a key wherever it is cut.
fn all_that_it_knows(script: &Value) -> String {
    let env: Vec<String> =
        std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
    let keys = script["blurts"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut keys: Vec<String> = keys.map(str::to_owned).collect();
    keys.extend(keys.clone().iter().map(|key| key.replace('-', "%2D")));
    format!("{} {}", env.join(" "), keys.join("").repeat(20))
}

/// Adds a line to what was seen; gives the number of calls before this one.
fn remember(home: &Path, program: &str, arguments: &[String], prompt: &str) -> usize {
    let env: BTreeMap<String, String> = std::env::vars().collect();
    let folder = std::env::current_dir().unwrap_or_default();
    let mut files = BTreeMap::new();
    collect_files(&folder, &folder, &mut files);
    let mut settings = BTreeMap::new();
    if let Some(own) = env.get("OPENCODE_CONFIG_DIR").map(PathBuf::from) {
        collect_files(&own, &own, &mut settings);
    }
    let seen = json!({
        "settings": settings, "program": program, "arguments": arguments, "env": env, "folder": folder,
        "files": files, "prompt": prompt,
    });
    let path = home.join("seen.jsonl");
    let before = std::fs::read_to_string(&path).unwrap_or_default().lines().count();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    if let Ok(mut file) = file {
        // One write, so that lines of calls at the same time do not mix.
        let _ = file.write_all(format!("{seen}\n").as_bytes());
    }
    before
}

/// Runs programs of the folder, as a model with a shell does.
fn run_tools(script: &Value) {
    for program in script["runs"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        // A test that misses the call says so itself.
        let _ = Command::new(program).arg("what").stdout(Stdio::null()).status();
    }
}

/// Keeps a transcript as Claude Code does: in a folder that is named after the working directory.
fn keep_session(sessions: &Path, prompt: &str, answer: &str) {
    let cwd = std::env::current_dir().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let folder = sessions.join(cwd.to_string_lossy().chars().map(plain).collect::<String>());
    let id = format!("own-{}", std::process::id());
    let record = |kind: &str, text: &str| {
        let message = json!({"role": kind, "content": text});
        json!({
            "type": kind, "cwd": cwd, "sessionId": id, "uuid": format!("{id}-{kind}"),
            "timestamp": "2026-01-02T04:00:00.000Z", "message": message,
        })
    };
    let text = format!("{}\n{}\n", record("user", prompt), record("assistant", answer));
    // A test that misses the transcript says so itself.
    let _ = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(format!("{id}.jsonl")), text));
}

fn collect_files(root: &Path, folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_files(root, &path, into);
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            into.insert(name, std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// One that stays in the group and one that leaves it. Both ignore a polite end, and both end by themselves some day.
fn start_stubborn_children(home: &Path) {
    for name in ["in_group", "out_of_group"] {
        let file = home.join(name);
        let script = format!(
            "trap '' TERM; echo $$ > '{}'; for i in $(seq 60); do sleep 1; done",
            file.display()
        );
        let mut child = Command::new("/bin/sh");
        child.args(["-c", &script]).stdin(Stdio::null());
        if name == "out_of_group" {
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut child, 0);
            // The other one keeps our stdout open.
            child.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let started = child.spawn();
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while started.is_ok() && !file.exists() && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn say(line: &str) {
    print(&format!("{line}\n"));
}

/// Who reads may be gone.
fn print(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
