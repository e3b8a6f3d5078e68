//! Keys in every place where they may be, over a whole run with servers that echo them; then every byte that is left is
//! searched for them.

use crate::binary::{Said, command, root};
use crate::fake_server::{FakeServer, Seen};
use anyhow::{Context, ensure};
use axum::http::StatusCode;
use serde_json::{Value, json};
use skillopt_server::config::Environment;
use skillopt_server::host::Hosting;
use skillopt_server::http::{ServeOptions, serve};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const TARGET: &str = "sk-planted-target-4f9a1c7e2b";
const OPTIMIZER: &str = "sk-planted-optimizer-8d03b5f6a1";
/// Set, and for other hosts than the one that is called, or for nobody.
const IDLE: [(&str, &str); 7] = [
    ("AZURE_OPENAI_API_KEY", "planted-azure-common-61c8e9"),
    ("TARGET_AZURE_OPENAI_API_KEY", "planted-azure-target-77aa02"),
    ("OPENAI_API_KEY", "sk-planted-openai-0b1c2d3e4f"),
    ("ANTHROPIC_API_KEY", "sk-ant-planted-91827364"),
    ("MINIMAX_API_KEY", "planted-minimax-55443322"),
    ("CURSOR_API_KEY", "planted-cursor-66778899"),
    ("GITHUB_TOKEN", "ghp_planted0a1b2c3d4e5f"),
];

pub(crate) fn all_keys() -> Vec<&'static str> {
    [TARGET, OPTIMIZER].into_iter().chain(IDLE.map(|(_, key)| key)).collect()
}

/// A server that echoes the key that it gets: in errors that are tried again, in refusals, in answers, in part and encoded.
fn echoing() -> FakeServer {
    FakeServer::with(
        Duration::ZERO,
        Arc::new(|seen: &Seen, number| {
            let key = seen.key.trim_start_matches("authorization: Bearer ").to_owned();
            let error = |status, message: String, kind: &str| {
                Some((status, json!({"error": {"message": message, "type": kind}})))
            };
            let says = |content: String| {
                let message = json!({"role": "assistant", "content": content});
                let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
                Some((StatusCode::OK, json!({"choices": [choice], "usage": {}})))
            };
            match number % 60 {
                7 => error(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    format!("upstream got {key}"),
                    "server",
                ),
                14 => error(
                    StatusCode::BAD_GATEWAY,
                    format!("GET /?api_key={}", key.replace('-', "%2D")),
                    "server",
                ),
                21 => error(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!("your key is {}…", &key[..14]),
                    "x",
                ),
                _ if seen.purpose != "qa" => None,
                28 => {
                    error(StatusCode::BAD_REQUEST, format!("refused for {key}"), "content_filter")
                }
                35 => says(format!("<answer>{key}</answer>")),
                42 => error(StatusCode::BAD_REQUEST, format!("no such thing for {key}"), "bad"),
                _ => None,
            }
        }),
    )
}

pub(crate) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

struct Scene {
    dir: tempfile::TempDir,
    server: FakeServer,
}

impl Scene {
    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// The target's key from the environment, the optimizer's from the `.env` file of the working directory.
    fn set() -> anyhow::Result<Self> {
        let (dir, server) = (tempfile::tempdir()?, echoing());
        fs::create_dir(dir.path().join("work"))?;
        let row = format!(
            "OPTIMIZER_OPENAI_COMPATIBLE_API_KEY={OPTIMIZER}\nOPTIMIZER_OPENAI_COMPATIBLE_BASE_URL={}\n",
            server.url
        );
        write_private(&dir.path().join("work/.env"), &row)?;
        Ok(Self { dir, server })
    }

    fn skillopt(&self, words: &[&str]) -> anyhow::Result<Said> {
        let mut command = command(&self.data());
        command.current_dir(self.dir.path().join("work")).envs(IDLE);
        command.env("TARGET_OPENAI_COMPATIBLE_API_KEY", TARGET);
        command.env("TARGET_OPENAI_COMPATIBLE_BASE_URL", &self.server.url);
        command.env("SKILLOPT_LOG", "trace").stdin(Stdio::null());
        Ok(command.args(words).output().context("running skillopt")?.into())
    }

    fn train(&self) -> anyhow::Result<Said> {
        let config = root().join("configs/searchqa/sample.yaml").display().to_string();
        let data = root().join("data/searchqa_sample");
        let out = self.dir.path().join("out").display().to_string();
        let settings = [
            "model.target_backend=openai_compatible".to_owned(),
            "model.optimizer_backend=openai_compatible".to_owned(),
            "model.target=fake-target".to_owned(),
            "model.optimizer=fake-optimizer".to_owned(),
            "model.send_skillopt_headers=true".to_owned(),
            "train.num_epochs=1".to_owned(),
            "env.limit=28".to_owned(),
            "limits.error_share=0.9".to_owned(),
            format!("env.split_dir={}", data.display()),
            format!("env.skill_init={}", data.join("SKILL.md").display()),
        ];
        let mut words =
            vec!["train", "--config", &config, "--json", "--out-root", &out, "--cfg-options"];
        words.extend(settings.iter().map(String::as_str));
        self.skillopt(&words)
    }
}

/// The keys that a text holds: whole, percent-encoded, or the beginning of one.
pub(crate) fn found_in(what: &str, bytes: &[u8]) -> Vec<String> {
    let holds = |needle: &str| bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
    all_keys()
        .into_iter()
        .filter(|key| holds(key) || holds(&key.replace('-', "%2D")) || holds(&key[..14]))
        .map(|key| format!("{what} holds {key}"))
        .collect()
}

pub(crate) fn found_below(dir: &Path) -> anyhow::Result<(usize, Vec<String>)> {
    let (mut files, mut found) = (0, Vec::new());
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            let (more, inside) = found_below(&path)?;
            files += more;
            found.extend(inside);
        } else {
            files += 1;
            found.extend(found_in(&path.display().to_string(), &fs::read(&path)?));
        }
    }
    Ok((files, found))
}

#[test]
fn no_planted_key_is_left_anywhere_after_a_run_whose_servers_echo_them() -> anyhow::Result<()> {
    let scene = Scene::set()?;
    let trained = scene.train()?;
    ensure!(trained.code == 0, "{}", trained.err);
    let id = trained.json()?["run_id"].as_str().context("an id")?.to_owned();

    // Each role sent its own key, and only that: else there would be nothing to find.
    let sent = scene.server.seen();
    let of_target = |seen: &&Seen| matches!(seen.purpose.as_str(), "qa");
    let (target, optimizer): (Vec<&Seen>, Vec<&Seen>) =
        sent.iter().filter(|seen| seen.purpose != "preflight").partition(of_target);
    ensure!(target.len() > 40 && optimizer.len() > 3, "{} and {}", target.len(), optimizer.len());
    ensure!(target.iter().all(|seen| seen.key == format!("authorization: Bearer {TARGET}")));
    ensure!(optimizer.iter().all(|seen| seen.key == format!("authorization: Bearer {OPTIMIZER}")));

    let mut found = Vec::new();
    let mut look = |what: &str, said: &Said| {
        found.extend(found_in(&format!("{what}, standard output"), said.out.as_bytes()));
        found.extend(found_in(&format!("{what}, standard error"), said.err.as_bytes()));
    };
    ensure!(trained.err.contains("model call failed"), "the log is not kept: {}", trained.err);
    look("train", &trained);
    let python = scene.dir.path().join("python").display().to_string();
    let exports: [&[&str]; 7] = [
        &["runs", "export", &id, "--format", "json"],
        &["runs", "export", &id, "--format", "skill"],
        &["runs", "export", &id, "--format", "yaml"],
        &["runs", "export", &id, "--format", "python", "--output", &python],
        // Every prompt and every reply, as they stand compressed in the store.
        &["runs", "cassette", &id],
        &["keys", "list"],
        &[
            "doctor",
            "--backend",
            "openai_compatible",
            "--model",
            "m",
            "--base-url",
            &scene.server.url,
        ],
    ];
    for words in exports {
        let said = scene.skillopt(words)?;
        let is_doctor = words.first() == Some(&"doctor");
        ensure!(said.code == 0 || is_doctor, "{words:?}: {}", said.err);
        look(&words.join(" "), &said);
        if words.contains(&"cassette") {
            ensure!(said.out.contains("refused for ***"), "the refusal is in the ledger");
            ensure!(said.out.contains("<answer>***</answer>"), "the echo is in the ledger");
        }
    }
    for folder in ["data", "out", "python"] {
        let (files, inside) = found_below(&scene.dir.path().join(folder))?;
        ensure!(files > 0, "{folder} is empty");
        found.extend(inside);
    }
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

pub(crate) fn options(data_dir: PathBuf) -> ServeOptions {
    ServeOptions {
        host: "127.0.0.1".to_owned(),
        port: 0,
        allowed_hosts: Vec::new(),
        adopt_roots: Vec::new(),
        home: None,
        assets: None,
        max_parallel_runs: 1,
        data_dir,
    }
}

#[tokio::test]
async fn the_api_tells_names_and_places_of_keys_and_nothing_else() -> anyhow::Result<()> {
    let scene = Scene::set()?;
    let trained = scene.train()?;
    ensure!(trained.code == 0, "{}", trained.err);
    let id = trained.json()?["run_id"].as_str().context("an id")?.to_owned();
    let env = Environment::from_pairs([
        ("TARGET_OPENAI_COMPATIBLE_API_KEY", TARGET),
        ("OPTIMIZER_OPENAI_COMPATIBLE_API_KEY", OPTIMIZER),
        ("OPENAI_COMPATIBLE_BASE_URL", &scene.server.url),
        ("OPENAI_COMPATIBLE_MODEL", "m"),
        ("AZURE_OPENAI_API_KEY", IDLE[0].1),
    ]);
    let hosting = Hosting::open(&scene.data(), env).await?;
    let stop = CancellationToken::new();
    let (ready, url) = tokio::sync::oneshot::channel();
    let options = options(scene.data());
    let serving = tokio::spawn(serve(options, hosting, stop.clone(), move |url| {
        let _ = ready.send(url.to_owned());
    }));
    let api = format!("{}/api/v1", url.await?);
    let client = reqwest::Client::builder().no_proxy().build()?;

    let models: Value = client.get(format!("{api}/models")).send().await?.json().await?;
    let uses = models["uses"].as_array().context("uses")?;
    let of_target = uses.iter().find(|one| one["id"] == "new.target").context("the target")?;
    ensure!(of_target["key"] == "TARGET_OPENAI_COMPATIBLE_API_KEY", "{of_target}");
    ensure!(of_target["key_place"] == "the environment", "{of_target}");
    let mut answers = vec![("models".to_owned(), models.to_string())];
    let posts = [
        ("models/test", json!({"id": "new.target", "probe": true})),
        ("models/test", json!({"id": format!("{id}.optimizer")})),
        ("models/test", json!({"id": "simulated.target"})),
        ("models/test", json!({"id": "nobody.target"})),
    ];
    for (path, body) in posts {
        let answer = client.post(format!("{api}/{path}")).json(&body).send().await?.text().await?;
        answers.push((format!("{path} {body}"), answer));
    }
    ensure!(answers[1].1.contains(r#""ok":true"#), "{}", answers[1].1);
    ensure!(answers[3].1.contains(r#""latency_ms":0"#), "{}", answers[3].1);
    ensure!(answers[4].1.contains("not_found"), "{}", answers[4].1);
    let reads = [
        "",
        "/events?limit=500",
        "/config",
        "/curves",
        "/steps",
        "/versions",
        "/rejected",
        "/tasks",
        "/trajectories?limit=500",
        "/prompts",
    ];
    let reads = reads.iter().map(|part| format!("runs/{id}{part}"));
    for path in
        reads.chain(["runs", "models", "models/endpoints", "config/presets"].map(str::to_owned))
    {
        let answer = client.get(format!("{api}/{path}")).send().await?;
        ensure!(
            answer.status().is_success() || path.ends_with("/steps"),
            "{path}: {}",
            answer.status()
        );
        answers.push((path, answer.text().await?));
    }
    stop.cancel();
    serving.await??;
    let found: Vec<String> =
        answers.iter().flat_map(|(path, text)| found_in(path, text.as_bytes())).collect();
    ensure!(found.is_empty(), "{}", found.join("\n"));
    ensure!(answers.iter().any(|(_, text)| text.contains("***")), "nothing was echoed at all");
    let (_, inside) = found_below(&scene.data())?;
    ensure!(inside.is_empty(), "{}", inside.join("\n"));
    Ok(())
}

#[cfg(unix)]
#[test]
fn keys_are_set_listed_and_removed_without_a_word_of_them() -> anyhow::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir()?;
    let run = |words: &[&str], input: &str| -> anyhow::Result<Said> {
        let mut command = command(&dir.path().join("data"));
        command.current_dir(dir.path()).args(words);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn()?;
        // A command that refuses its arguments does not read.
        let _ = child.stdin.take().context("a pipe")?.write_all(input.as_bytes());
        Ok(child.wait_with_output()?.into())
    };
    let name = "OPENAI_COMPATIBLE_API_KEY";
    let refused: [&[&str]; 4] = [
        &["keys", "set", name, TARGET, "--file"],
        &["keys", "set", TARGET, "--file"],
        &["keys", "set", "OPENAI_COMPATIBLE_BASE_URL", "--file"],
        &["keys", "set", name, "--for", "https://me:sk-planted-target@host/v1"],
    ];
    for words in refused {
        let said = run(words, TARGET)?;
        ensure!(said.code == 2 && !said.err.contains("sk-planted"), "{words:?}: {}", said.err);
    }
    let said = run(&["keys", "set", name, "--file"], &format!("{TARGET}\n"))?;
    ensure!(
        said.code == 0 && !format!("{}{}", said.out, said.err).contains("planted"),
        "{}",
        said.err
    );
    let path = dir.path().join("data/.env");
    ensure!(fs::metadata(&path)?.permissions().mode() & 0o777 == 0o600);
    ensure!(fs::read_to_string(&path)?.contains(TARGET));

    let listed = run(&["keys", "list", "--json"], "")?;
    ensure!(!listed.out.contains("planted"), "{}", listed.out);
    let rows = listed.json()?;
    ensure!(
        rows[0]["name"] == name && rows[0]["place"] == format!("{}:1", path.display()),
        "{rows}"
    );
    ensure!(rows[0]["fingerprint"].as_str().is_some_and(|print| print.len() >= 8), "{rows}");

    fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    let listed = run(&["keys", "list"], "")?;
    ensure!(listed.out.contains("chmod 600") && !listed.out.contains("planted"), "{}", listed.out);

    let removed = run(&["keys", "remove", name, "--file"], "")?;
    ensure!(removed.code == 0, "{}", removed.err);
    ensure!(!fs::read_to_string(&path)?.contains(name));
    ensure!(run(&["keys", "remove", name, "--file"], "")?.code == 2, "it is gone");
    // No keyring can be reached from here, and that is told with what to do.
    let said = run(&["keys", "set", name], TARGET)?;
    ensure!(said.code == 1 && said.err.contains("--file"), "{}{}", said.out, said.err);
    Ok(())
}
