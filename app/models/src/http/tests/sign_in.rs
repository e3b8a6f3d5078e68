//! Tokens of Azure: where they come from, how long they are used, and that they are shown to nobody.

use super::*;
use skillopt_domain::config::AzureAuth;

fn azure(world: &World, auth: AzureAuth, token: TokenSource) -> HttpModel {
    let mut config = config(&world.server.uri());
    config.backend = BackendKind::OpenaiChat;
    config.provider.azure_auth = auth;
    config.provider.api_version = "v".to_owned();
    config.provider.token_scope = "https://cognitiveservices.azure.com/.default".to_owned();
    config.max_retries = 1;
    let setup = HttpModelSetup {
        role: Role::Target,
        config: &config,
        secret: None,
        token: Some(token),
        max_concurrency: 8,
        run: None,
    };
    HttpModel::new(setup, &world.endpoints).unwrap()
}

fn machine(identity: &MockServer, header: Option<&str>) -> TokenSource {
    TokenSource::ManagedIdentity {
        address: format!("{}/token", identity.uri()),
        header: header.and_then(Secret::new),
        client_id: "my id".to_owned(),
    }
}

async fn identity(script: Vec<ResponseTemplate>) -> MockServer {
    let (server, at) = (MockServer::start().await, AtomicUsize::new(0));
    let respond =
        move |_: &Request| script[at.fetch_add(1, Ordering::SeqCst).min(script.len() - 1)].clone();
    Mock::given(any()).respond_with(respond).mount(&server).await;
    server
}

fn token(word: &str, end_s: u64) -> ResponseTemplate {
    let end = (1_445_412_480 + end_s).to_string();
    ResponseTemplate::new(200).set_body_json(json!({"access_token": word, "expires_on": end}))
}

#[tokio::test]
async fn a_token_of_the_machine_is_used_until_shortly_before_its_end() {
    let identity = identity(vec![
        token("token-of-the-first-hour", 3_600),
        token("token-of-the-second", 9_000),
    ])
    .await;
    let world = World::scripted(vec![says("Paris")]).await;
    let model = azure(&world, AzureAuth::ManagedIdentity, machine(&identity, None));
    let together = futures::future::join_all((0..4).map(|_| ask(&model))).await;
    assert!(together.iter().all(Result::is_ok), "{together:?}");
    *world.timer.now.lock().unwrap() = Duration::from_secs(3_299);
    ask(&azure(&world, AzureAuth::ManagedIdentity, machine(&identity, None))).await.unwrap();
    assert_eq!(identity.received_requests().await.unwrap().len(), 1, "one token for all");
    *world.timer.now.lock().unwrap() = Duration::from_secs(3_300);
    ask(&model).await.unwrap();
    let asked = identity.received_requests().await.unwrap();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].headers["metadata"], "true");
    let query =
        "api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=my+id";
    assert_eq!(asked[0].url.query(), Some(query));
    let sent: Vec<String> = world
        .requests()
        .await
        .iter()
        .map(|request| request.headers["authorization"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent[0], "Bearer token-of-the-first-hour");
    assert_eq!(sent[5], "Bearer token-of-the-second");
}

#[tokio::test]
async fn an_app_sends_its_header_and_a_token_is_masked_in_errors() {
    let identity = identity(vec![token("token-that-is-secret", 3_600)]).await;
    let world = World::scripted(vec![fails(401, "bad token token-that-is-secret")]).await;
    let model = azure(&world, AzureAuth::Auto, machine(&identity, Some("h-1")));
    let error = ask(&model).await.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ModelErrorKind::Authentication, "401 Unauthorized: bad token ***")
    );
    let asked = identity.received_requests().await.unwrap();
    assert_eq!(asked[0].headers["x-identity-header"], "h-1");
}

#[tokio::test]
async fn a_machine_without_an_identity_says_so_and_nothing_is_asked() {
    let refusal = ResponseTemplate::new(400).set_body_json(
        json!({"error": "invalid_request", "error_description": "Identity not found"}),
    );
    let identity = identity(vec![refusal]).await;
    let world = World::scripted(vec![says("Paris")]).await;
    let error = ask(&azure(&world, AzureAuth::ManagedIdentity, machine(&identity, None)))
        .await
        .unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Authentication, 1));
    assert!(
        error.message.contains("invalid_request") || error.message.contains("not found"),
        "{error:?}"
    );
    assert!(world.requests().await.is_empty());
}

#[cfg(unix)]
mod program {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    fn az(dir: &Path, script: &str) -> TokenSource {
        let program: PathBuf = dir.join("az");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        TokenSource::AzureCli { program, environment: vec![path] }
    }

    #[tokio::test]
    async fn the_azure_cli_is_asked_once_and_sees_little() {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let script = format!(
            "echo \"$@ [$HOME]\" >> '{}'\necho '{{\"accessToken\": \"token-of-az\", \"expires_on\": 1445420000}}'",
            seen.display()
        );
        let world = World::scripted(vec![says("Paris")]).await;
        let model = azure(&world, AzureAuth::AzureCli, az(dir.path(), &script));
        for _ in 0..2 {
            ask(&model).await.unwrap();
        }
        let expect = "account get-access-token --output json --resource https://cognitiveservices.azure.com []\n";
        assert_eq!(std::fs::read_to_string(seen).unwrap(), expect);
        let request = world.requests().await.pop().unwrap();
        assert_eq!(request.headers["authorization"], "Bearer token-of-az");
        assert!(!request.headers.contains_key("api-key"));
    }

    #[tokio::test]
    async fn a_cli_that_is_not_signed_in_is_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let source =
            az(dir.path(), "echo 'ERROR: Please run az login to setup account.' >&2; exit 1");
        let world = World::scripted(vec![says("Paris")]).await;
        let error = ask(&azure(&world, AzureAuth::AzureCli, source)).await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (ModelErrorKind::Authentication, 1));
        assert!(error.message.contains("Please run az login"), "{error:?}");
        assert!(world.requests().await.is_empty());
    }

    #[tokio::test]
    async fn a_sign_in_that_fails_for_the_network_is_tried_again_and_ends_no_run() {
        let dir = tempfile::tempdir().unwrap();
        let been = dir.path().join("been");
        let script = format!(
            "if [ -e '{0}' ]; then echo '{{\"accessToken\": \"token-of-az\"}}'; exit; fi\ntouch '{0}'\n\
             echo 'ERROR: Connection aborted.' >&2; exit 1",
            been.display()
        );
        let world = World::scripted(vec![says("Paris")]).await;
        let reply =
            ask(&azure(&world, AzureAuth::AzureCli, az(dir.path(), &script))).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.attempts), ("Paris", 2));
        assert_eq!(world.waits().len(), 1);
    }

    #[tokio::test]
    async fn calls_that_wait_for_the_same_sign_in_share_its_failure() {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let script =
            format!("echo x >> '{}'; echo 'Please run az login' >&2; exit 1", seen.display());
        let world = World::scripted(vec![says("Paris")]).await;
        let model = azure(&world, AzureAuth::AzureCli, az(dir.path(), &script));
        let together = futures::future::join_all((0..6).map(|_| ask(&model))).await;
        assert!(together.iter().all(Result::is_err), "{together:?}");
        assert_eq!(std::fs::read_to_string(seen).unwrap().lines().count(), 1);
    }
}
