//! What every program does when all goes well: what it is given, what it sees, and what is read from it.

use super::scene::{ALL, Scene, ask, chat, folder_of, program, request};
use serde_json::{Value, json};
use skillopt_domain::config::{BACKENDS, BackendFamily, BackendKind, Capability, Effort};
use skillopt_domain::spend::{Role, Usage};
use skillopt_engine::ports::{Image, Message, Model, ReplySchema, ToolSpec};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn answers() -> Scene {
    Scene::new(&json!({"answer": "<answer>42</answer>"}))
}

fn arguments(seen: &Value) -> Vec<&str> {
    seen["arguments"].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

/// The value behind a flag.
fn behind<'a>(seen: &'a Value, flag: &str) -> Option<&'a str> {
    let arguments = arguments(seen);
    let at = arguments.iter().position(|word| *word == flag)?;
    arguments.get(at + 1).copied()
}

#[test]
fn every_program_backend_is_tested_in_every_role_that_it_serves() {
    for spec in BACKENDS.iter().filter(|spec| spec.family == BackendFamily::Program) {
        for role in Role::ALL {
            assert_eq!(ALL.contains(&(spec.kind, role)), spec.serves(role), "{} {role}", spec.name);
        }
    }
}

#[tokio::test]
async fn every_program_answers_and_tells_its_tokens_where_the_table_says_so() {
    for (kind, role) in ALL {
        let (scene, spec) = (answers(), kind.spec());
        let reply = ask(&scene.model(kind, role), "What?").await.unwrap_or_else(|err| {
            panic!("{} {role}: {err}", spec.name);
        });
        assert_eq!((reply.text.as_str(), reply.attempts), ("<answer>42</answer>", 1), "{spec:?}");
        let cache_write_tokens = match program(kind) {
            "claude" => Some(10),
            "pi" | "opencode" => Some(0),
            _ => None,
        };
        let told =
            Usage { cached_prompt_tokens: Some(40), cache_write_tokens, ..Usage::new(120, 15) };
        let usage = reply.usage.map(|usage| Usage { reasoning_tokens: None, ..usage });
        assert_eq!(usage, spec.can(Capability::Usage).then_some(told), "{}", spec.name);
        let tells_cost = matches!(program(kind), "claude" | "pi" | "opencode");
        assert_eq!(reply.cost_usd_micros, tells_cost.then_some(12_500), "{}", spec.name);
    }
}

#[tokio::test]
async fn every_agent_tells_what_it_did_before_it_answered() {
    for (kind, role) in ALL {
        let scene = answers();
        let model = scene.model(kind, role);
        let reply = ask(&model, "What?").await.expect("an answer");
        if !model.works_in_folder() {
            continue;
        }
        let steps = &reply.steps;
        let thought = steps.iter().any(|step| step.text == "I look first.");
        let read = steps.iter().find(|step| step.text.contains("task.md"));
        assert!(thought, "{kind:?}: {steps:?}");
        assert_eq!(read.expect("the file").result, "what stands in it", "{kind:?}");
        assert!(steps.iter().all(|step| !step.text.contains("42")), "{kind:?}: {steps:?}");
    }
}

#[tokio::test]
async fn c41_the_prompt_comes_on_stdin_whatever_stands_in_it_and_never_in_an_argument() {
    let nasty = "$(touch /tmp/x) `id` \"quoted\" 'single' \\ \n; rm -rf / | & > < * ? # \u{1F980} --help \u{7}";
    let question = format!("{nasty} {}", "long ".repeat(40_000));
    for (kind, role) in ALL {
        let scene = answers();
        let model = scene.model(kind, role);
        ask(&model, &question).await.expect("an answer");
        let seen = &scene.seen()[0];
        let told =
            if model.works_in_folder() { &seen["files"]["task.md"] } else { &seen["prompt"] };
        assert!(told.as_str().is_some_and(|told| told.contains(&question)), "{kind:?} {role}");
        assert!(arguments(seen).iter().all(|word| !word.contains("rm -rf")), "{kind:?} {role}");
        assert!(arguments(seen).iter().all(|word| word.len() < 4096), "{kind:?} {role}");
    }
}

#[tokio::test]
async fn every_program_works_in_an_empty_folder_of_its_own_that_vanishes() {
    for (kind, role) in ALL {
        let scene = answers();
        let model = scene.model(kind, role);
        ask(&model, "What?").await.expect("an answer");
        ask(&model, "What?").await.expect("an answer");
        let seen = scene.seen();
        let (one, other) = (folder_of(&seen[0]), folder_of(&seen[1]));
        assert_ne!(one, other);
        assert!(!one.exists() && !one.parent().expect("a parent").exists(), "{}", one.display());
        let named = one.to_string_lossy().contains(skillopt_domain::own_call::FOLDER_PREFIX);
        assert!(named, "{}", one.display());
        let files = seen[0]["files"].as_object().expect("files");
        if model.works_in_folder() {
            let skill = &files[".agents/skills/skillopt-target/SKILL.md"];
            assert!(skill.as_str().is_some_and(|text| text.ends_with("# Skill\n\nBe brief.\n")));
            assert_eq!(files["task.md"], "Answer in tags.\n\nWhat?\n");
            let prompt = seen[0]["prompt"].as_str().expect("a prompt");
            assert!(prompt.contains("SKILL.md") && prompt.contains("task.md"), "{prompt}");
        } else {
            assert!(files.is_empty(), "{kind:?}: {files:?}");
        }
    }
}

#[tokio::test]
async fn stand_ins_are_programs_that_note_their_calls_and_no_other_command_is_allowed() {
    for kind in [
        BackendKind::ClaudeChat,
        BackendKind::CodexExec,
        BackendKind::CopilotChat,
        BackendKind::CopilotExec,
    ] {
        let scene =
            Scene::new(&json!({"answer": "<answer>42</answer>", "runs": ["./tools/search"]}));
        let model = scene.model(kind, Role::Target);
        assert!(model.runs_stand_ins(), "{kind:?}");
        let mut asked = request(&model, "What?");
        asked.stand_ins = ["search", "never", "$(x)"].map(str::to_owned).to_vec();
        let reply = chat(&model, &asked, &CancellationToken::new()).await.expect("an answer");
        let called: Vec<&str> = reply.tool_calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!((called, reply.text.as_str()), (vec!["search"], "<answer>42</answer>"));
        let seen = &scene.seen()[0];
        let files = seen["files"].as_object().expect("files");
        let tools: Vec<&String> = files.keys().filter(|name| name.starts_with("tools")).collect();
        assert_eq!(tools, ["tools/never", "tools/search"], "{kind:?}");
        let prompt = seen["prompt"].as_str().expect("a prompt");
        assert!(prompt.contains("`./tools/search`, `./tools/never`"), "{kind:?}: {prompt}");
        let said = arguments(seen).join(" ");
        match program(kind) {
            "claude" => {
                assert_eq!(behind(seen, "--tools"), Some("Bash"));
                let allowed = "Bash(./tools/search:*),Bash(./tools/never:*)";
                assert_eq!(behind(seen, "--allowedTools"), Some(allowed));
            }
            "codex" => assert_eq!(behind(seen, "--sandbox"), Some("workspace-write")),
            _ => {
                assert!(said.contains("--allow-tool=shell(./tools/search:*)"), "{said}");
                assert!(said.contains("bash") && !said.contains("--allow-all-tools"), "{said}");
            }
        }
        assert!(!folder_of(seen).exists(), "it vanishes with the call");
    }
}

#[tokio::test]
async fn codex_that_only_reads_gets_no_stand_ins() {
    let scene = answers();
    let reads = [("model.codex_exec_sandbox", "read-only")];
    let model = scene.model_with(BackendKind::CodexExec, Role::Target, &reads);
    assert!(!model.runs_stand_ins());
    let mut asked = request(&model, "What?");
    asked.stand_ins = vec!["search".to_owned()];
    chat(&model, &asked, &CancellationToken::new()).await.expect("an answer");
    let seen = &scene.seen()[0];
    assert_eq!(behind(seen, "--sandbox"), Some("read-only"));
    let files = seen["files"].as_object().expect("files");
    assert!(files.keys().all(|name| !name.starts_with("tools")), "{files:?}");
}

#[tokio::test]
async fn stand_ins_of_opencode_are_scripts_of_the_call_and_everything_else_is_denied() {
    let script = json!({"answer": "<answer>42</answer>", "calls": "skillopt_stand_in_search"});
    let scene = Scene::new(&script);
    let model = scene.model(BackendKind::OpencodeChat, Role::Target);
    let mut asked = request(&model, "What?");
    asked.stand_ins = vec!["search".to_owned()];
    let reply = chat(&model, &asked, &CancellationToken::new()).await.expect("an answer");
    let called: Vec<&str> = reply.tool_calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!((called, reply.text.as_str()), (vec!["search"], "<answer>42</answer>"));
    let seen = &scene.seen()[0];
    let scripts: Vec<&String> = seen["settings"].as_object().expect("settings").keys().collect();
    assert_eq!(scripts, ["tools/skillopt_stand_in_search.js"]);
    let of_env = |name: &str| -> Value {
        serde_json::from_str(seen["env"][name].as_str().expect("a variable")).expect("JSON")
    };
    let permission = json!({"*": "deny", "skillopt_stand_in_search": "allow"});
    assert_eq!(of_env("OPENCODE_PERMISSION"), permission);
    let agent = &of_env("OPENCODE_CONFIG_CONTENT")["agent"]["skillopt-chat"];
    assert_eq!(agent["tools"], json!({"*": false, "skillopt_stand_in_search": true}));
    ask(&model, "What?").await.expect("an answer");
    let plain = &scene.seen()[1];
    assert!(plain["env"]["OPENCODE_CONFIG_DIR"].is_null(), "nothing without stand-ins");
    assert!(plain["env"]["OPENCODE_PERMISSION"].as_str().is_some_and(|it| it == r#"{"*":"deny"}"#));
}

#[tokio::test]
async fn no_program_sees_keys_of_others_and_each_sees_that_it_is_called_by_us() {
    const OWN: [(&str, &[&str]); 6] = [
        ("claude", &["ANTHROPIC_API_KEY"]),
        ("codex", &["CODEX_API_KEY"]),
        ("cursor-agent", &["CURSOR_API_KEY"]),
        ("copilot", &["GH_TOKEN"]),
        ("pi", &[]),
        ("opencode", &[]),
    ];
    let secrets = [
        ("ANTHROPIC_API_KEY", "planted-anthropic"),
        ("OPENAI_API_KEY", "planted-openai"),
        ("CODEX_API_KEY", "planted-codex"),
        ("CURSOR_API_KEY", "planted-cursor"),
        ("GH_TOKEN", "planted-github"),
        ("AWS_SECRET_ACCESS_KEY", "planted-aws"),
        ("TARGET_OPENAI_COMPATIBLE_API_KEY", "planted-target"),
        ("COPILOT_ALLOW_ALL", "true"),
        ("LD_PRELOAD", "planted-library"),
        ("MY_OWN_KEY", "planted-named"),
    ];
    for (kind, role) in ALL {
        let scene = answers().with_env(&secrets);
        let named = format!("model.{role}_api_key_env");
        let model = scene.model_with(kind, role, &[(&named, "MY_OWN_KEY")]);
        ask(&model, "What?").await.expect("an answer");
        let seen = &scene.seen()[0];
        let env = seen["env"].as_object().expect("variables");
        let (_, own) = OWN.iter().find(|(name, _)| *name == program(kind)).expect("a row");
        for (name, _) in secrets {
            let may_see = own.contains(&name) || name == "MY_OWN_KEY";
            assert_eq!(env.contains_key(name), may_see, "{kind:?} {name}");
        }
        let mark = env[skillopt_domain::own_call::VARIABLE].as_str().expect("a mark");
        assert!(mark.ends_with(&format!("/{role}/qa")), "{mark}");
        assert_eq!(env["HOME"], "/nowhere");
    }
}

#[tokio::test]
async fn every_program_may_do_as_little_as_serves() {
    let scene = answers();
    for (kind, role) in ALL {
        ask(&scene.model(kind, role), "What?").await.expect("an answer");
    }
    for ((kind, role), seen) in ALL.into_iter().zip(&scene.seen()) {
        let all = arguments(seen).join(" ");
        let has = |words: &str| assert!(all.contains(words), "{kind:?} {role}: {all}");
        match kind {
            BackendKind::ClaudeChat => {
                assert_eq!(behind(seen, "--tools"), Some(""));
                assert_eq!(behind(seen, "--setting-sources"), Some(""));
                has("--no-session-persistence");
            }
            BackendKind::ClaudeCodeExec => {
                assert_eq!(behind(seen, "--tools"), Some("Read,Glob,Grep"));
                assert_eq!(behind(seen, "--allowedTools"), Some("Read(./**)"));
                assert_eq!(behind(seen, "--permission-mode"), Some("dontAsk"));
                assert_eq!(behind(seen, "--setting-sources"), Some(""));
                assert_eq!(seen["env"]["MAX_THINKING_TOKENS"], "16384");
            }
            BackendKind::CodexExec => {
                let sandbox = if role == Role::Target { "workspace-write" } else { "read-only" };
                assert_eq!(behind(seen, "--sandbox"), Some(sandbox));
                assert_eq!(behind(seen, "--cd"), seen["folder"].as_str());
                has("approval_policy=\"never\"");
                has("sandbox_workspace_write.network_access=false");
                has("sandbox_workspace_write.exclude_slash_tmp=true");
                has("sandbox_workspace_write.exclude_tmpdir_env_var=true");
                has("web_search=\"disabled\"");
                has("--ephemeral");
            }
            BackendKind::CursorExec => {
                assert_eq!(behind(seen, "--mode"), Some("ask"));
                assert_eq!(behind(seen, "--sandbox"), Some("enabled"));
            }
            BackendKind::CopilotChat => assert!(all.ends_with("--available-tools="), "{all}"),
            BackendKind::CopilotExec => has("--available-tools=view,glob,grep"),
            BackendKind::PiChat => has("--no-tools --no-skills --no-context-files"),
            _ => {
                let config = seen["env"]["OPENCODE_CONFIG_CONTENT"].as_str().expect("a config");
                assert!(config.contains(r#""tools":{"*":false}"#), "{config}");
            }
        }
    }
}

#[tokio::test]
async fn settings_reach_the_programs_and_change_the_ledgers_key() {
    let scene = answers();
    let rows: [(BackendKind, &str, &str, &str); 9] = [
        (
            BackendKind::CodexExec,
            "model.codex_exec_sandbox",
            "danger-full-access",
            "--sandbox danger-full-access",
        ),
        (BackendKind::CodexExec, "model.codex_exec_profile", "mine", "--profile mine"),
        (
            BackendKind::CodexExec,
            "model.codex_exec_reasoning_effort",
            "max",
            "model_reasoning_effort=\"xhigh\"",
        ),
        (BackendKind::CodexExec, "model.codex_exec_web_search", "true", "web_search=\"live\""),
        (
            BackendKind::ClaudeCodeExec,
            "model.claude_code_exec_tools",
            "Read,Bash",
            "--allowedTools Read(./**),Bash",
        ),
        (
            BackendKind::ClaudeCodeExec,
            "model.claude_code_exec_permission_mode",
            "bypassPermissions",
            "bypassPermissions",
        ),
        (
            BackendKind::ClaudeChat,
            "model.claude_setting_sources",
            "user,project",
            "--setting-sources user,project",
        ),
        (BackendKind::CursorExec, "model.cursor_exec_sandbox", "disabled", "--sandbox disabled"),
        (
            BackendKind::CopilotExec,
            "model.copilot_exec_allow_all_tools",
            "true",
            "--allow-all-tools",
        ),
    ];
    for (at, (kind, path, value, words)) in rows.into_iter().enumerate() {
        let plain = scene.model(kind, Role::Target).identity();
        let model = scene.model_with(kind, Role::Target, &[(path, value)]);
        assert_ne!(model.identity(), plain, "{path}");
        ask(&model, "What?").await.expect("an answer");
        let all = arguments(&scene.seen()[at]).join(" ");
        assert!(all.contains(words), "{path}: {all}");
    }
}

#[tokio::test]
async fn a_chat_by_codex_is_read_only_whatever_the_config_says() {
    let scene = answers();
    let wide = [
        ("model.codex_exec_sandbox", "danger-full-access"),
        ("model.codex_exec_network_access", "true"),
    ];
    let model = scene.model_with(BackendKind::CodexExec, Role::Optimizer, &wide);
    ask(&model, "What?").await.expect("an answer");
    let seen = &scene.seen()[0];
    assert_eq!(behind(seen, "--sandbox"), Some("read-only"));
    assert!(arguments(seen).contains(&"sandbox_workspace_write.network_access=false"));
}

#[tokio::test]
async fn the_effort_of_a_role_reaches_programs_that_can_be_told_and_is_part_of_what_they_are() {
    for (kind, role) in ALL {
        let (scene, key) = (answers(), format!("model.{role}_reasoning_effort"));
        let plain = scene.model(kind, role).identity();
        let model = scene.model_with(kind, role, &[(&key, "high")]);
        ask(&model, "What?").await.expect("an answer");
        let told = arguments(&scene.seen()[0]).join(" ");
        let can = kind.spec().can(Capability::ReasoningEffort);
        assert_eq!(told.contains("high"), can, "{kind:?}: {told}");
        assert_eq!(model.identity() != plain, can, "{kind:?}: one answer for each effort");
        let mut request = request(&model, "What?");
        request.effort = Some(Effort::Low);
        chat(&model, &request, &CancellationToken::new()).await.expect("an answer");
        let told = arguments(&scene.seen()[1]).join(" ");
        assert!(!told.contains("high"), "the call's own effort wins: {kind:?}: {told}");
    }
    let scene = answers();
    let both =
        [("model.reasoning_effort", "high"), ("model.codex_exec_reasoning_effort", "minimal")];
    let model = scene.model_with(BackendKind::CodexExec, Role::Target, &both);
    ask(&model, "What?").await.expect("an answer");
    let told = arguments(&scene.seen()[0]).join(" ");
    assert!(told.contains("model_reasoning_effort=\"high\""), "the role's wins: {told}");
}

#[tokio::test]
async fn effort_schema_tools_and_pictures_reach_the_programs_that_can_take_them() {
    let schema = json!({"type": "object"});
    for (kind, role) in ALL {
        let scene = answers();
        let model = scene.model(kind, role);
        let mut request = request(&model, "What?");
        request.effort = Some(Effort::High);
        request.schema = Some(Arc::new(ReplySchema { name: "x".into(), schema: schema.clone() }));
        let mut with_picture = Message::user("Look.");
        with_picture.images =
            vec![Image { media_type: "image/png".into(), base64: "iVBORw==".into() }];
        request.messages.push(with_picture);
        chat(&model, &request, &CancellationToken::new()).await.expect("an answer");
        let seen = &scene.seen()[0];
        let all = arguments(seen).join(" ");
        if kind.spec().can(Capability::ReasoningEffort) {
            assert!(all.contains("high"), "{kind:?}: {all}");
        }
        if kind.spec().can(Capability::JsonSchema) {
            assert!(all.contains("schema"), "{kind:?}: {all}");
        }
        if kind.spec().can(Capability::Images) {
            assert!(seen["files"].get("picture-1.png").is_some(), "{kind:?}");
        }
    }
    let call = r#"{"content": "", "tool_calls": [{"name": "add", "arguments": "{}"}]}"#;
    for kind in [BackendKind::ClaudeChat, BackendKind::CodexExec] {
        let scene = Scene::new(&json!({"answer": call}));
        let model = scene.model(kind, Role::Optimizer);
        let mut request = request(&model, "What?");
        let (name, description) = ("add".to_owned(), "Adds.".to_owned());
        request.tools = vec![ToolSpec { name, description, parameters: schema.clone() }];
        let reply = chat(&model, &request, &CancellationToken::new()).await.expect("a reply");
        assert_eq!((reply.text.as_str(), reply.tool_calls[0].name.as_str()), ("", "add"));
    }
}

#[tokio::test]
async fn another_version_of_a_program_is_another_model() {
    for (kind, role) in ALL {
        let old = Scene::new(&json!({"version": "1.0.0"}));
        let new = Scene::new(&json!({"version": "1.0.1"}));
        // A link is followed for the question whether the file is known; these two are files of their own.
        for scene in [&old, &new] {
            let at = scene.path().join(program(kind));
            std::fs::remove_file(&at).expect("removed");
            std::fs::copy(env!("CARGO_BIN_EXE_fake-agent"), &at).expect("copied");
        }
        let (old, new) = (old.model(kind, role), new.model(kind, role));
        assert_eq!((old.version(), new.version()), (Some("1.0.0"), Some("1.0.1")));
        assert_ne!(old.identity(), new.identity(), "{kind:?}");
    }
}
