//! Where tokens of Azure come from on this machine. Nothing is fetched here. Only the environment of the process counts:
//! a file in the working directory must not say which program is run, nor which service is asked.

use crate::config::{Environment, origin_of};
use skillopt_domain::config::{AzureAuth, ModelRole, is_azure_host};
use skillopt_domain::spend::Role;
use skillopt_models::{Secret, TokenSource};
use std::path::PathBuf;

/// The service of a virtual machine. It is reached over the machine's own network alone, and has no encryption.
const MACHINE: &str = "http://169.254.169.254/metadata/identity/oauth2/token";

/// All that `az` needs to see: where it is, where it keeps its sign-in, and how it reaches the network.
const SEEN_BY_AZ: [&str; 15] = [
    "PATH",
    "HOME",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "AZURE_CONFIG_DIR",
    "LANG",
    "LC_ALL",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "SystemRoot",
    "TEMP",
    "TMP",
];

/// The source of a role's tokens; `None` where it needs none. An error names the key of section `model` that is wrong.
pub(super) fn token_source(
    env: &Environment,
    settings: &ModelRole,
    role: Role,
) -> Result<Option<TokenSource>, (String, String)> {
    let auth = settings.provider.azure_auth;
    if !auth.may_use_token() {
        return Ok(None);
    }
    if !may_get_tokens(env, &settings.base_url, role) {
        let reason = "a token of Azure goes to hosts of Azure OpenAI, and to the address in the variable \
                      AZURE_OPENAI_ENDPOINT; set that variable if this address is right";
        return Err((format!("{role}_azure_openai_endpoint"), reason.to_owned()));
    }
    match auth {
        AzureAuth::ManagedIdentity => of_machine(env, &settings.provider.identity)
            .map(Some)
            .map_err(|reason| (format!("{role}_azure_openai_auth_mode"), reason)),
        _ => of_program(env).map(Some).ok_or_else(|| {
            let reason = "the Azure CLI (az) is not on the PATH, and no key is set; put a key into \
                          AZURE_OPENAI_API_KEY beside AZURE_OPENAI_ENDPOINT, or install it and run `az login`";
            (format!("{role}_azure_openai_auth_mode"), reason.to_owned())
        }),
    }
}

fn may_get_tokens(env: &Environment, address: &str, role: Role) -> bool {
    let own = role.as_str().to_ascii_uppercase();
    let names = [
        format!("{own}_AZURE_OPENAI_ENDPOINT"),
        format!("AZURE_OPENAI_{own}_ENDPOINT"),
        "AZURE_OPENAI_ENDPOINT".to_owned(),
    ];
    let mut homes = names.iter().filter_map(|name| env.of_process_only(name));
    let is_there =
        |home: &str| home.split(',').any(|one| origin_of(one.trim()) == origin_of(address));
    is_azure_host(address) || homes.any(is_there)
}

fn of_program(env: &Environment) -> Option<TokenSource> {
    let names = if cfg!(windows) { ["az.cmd", "az.exe"] } else { ["az", "az"] };
    let path = env.of_process_only("PATH")?;
    let mut places = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let program: PathBuf = places
        .find_map(|dir| names.iter().map(|name| dir.join(name)).find(|file| file.is_file()))?;
    let seen = SEEN_BY_AZ.iter().filter_map(|name| {
        let value = env.of_process_only(name)?;
        Some(((*name).to_owned(), value.to_owned()))
    });
    Some(TokenSource::AzureCli { program, environment: seen.collect() })
}

/// An app finds its own service in two variables; a virtual machine has none of them.
fn of_machine(env: &Environment, client_id: &str) -> Result<TokenSource, String> {
    let of_app =
        env.of_process_only("IDENTITY_ENDPOINT").zip(env.of_process_only("IDENTITY_HEADER"));
    let client_id = client_id.to_owned();
    let Some((address, header)) = of_app else {
        return Ok(TokenSource::ManagedIdentity {
            address: MACHINE.to_owned(),
            header: None,
            client_id,
        });
    };
    const NEAR: [&str; 4] = ["https://", "http://127.0.0.1", "http://localhost", "http://169.254."];
    if !NEAR.iter().any(|near| address.starts_with(near)) {
        return Err("IDENTITY_ENDPOINT must be an address on this machine".to_owned());
    }
    Ok(TokenSource::ManagedIdentity {
        address: address.to_owned(),
        header: Secret::new(header),
        client_id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Sources, flag, load, run_config};

    fn source(
        env: &Environment,
        endpoint: &str,
        mode: &str,
    ) -> Result<Option<TokenSource>, (String, String)> {
        let flags = [
            flag("model.optimizer_backend", "", "mock"),
            flag("model.target_backend", "", "azure"),
            flag("model.target", "", "gpt"),
            flag("model.azure_openai_endpoint", "", endpoint),
            flag("model.azure_openai_auth_mode", "", mode),
            flag("env.split_dir", "", "."),
        ];
        let sources = Sources { file: None, env: &Environment::default(), flags: &flags };
        let config = run_config(&load(sources).expect("settings")).expect("a config");
        token_source(env, &config.target, Role::Target)
    }

    const AZURE: &str = "https://me.openai.azure.com";
    const ELSEWHERE: &str = "https://gateway.example";

    #[test]
    fn tokens_of_azure_go_to_azure_or_where_the_environment_says() {
        let machine = |env: &Environment, endpoint| source(env, endpoint, "managed_identity");
        let none = Environment::default();
        let expect = TokenSource::ManagedIdentity {
            address: MACHINE.to_owned(),
            header: None,
            client_id: String::new(),
        };
        assert_eq!(machine(&none, AZURE), Ok(Some(expect.clone())));
        let (key, reason) = machine(&none, ELSEWHERE).expect_err("refused");
        assert_eq!(key, "target_azure_openai_endpoint");
        assert!(reason.contains("AZURE_OPENAI_ENDPOINT"), "{reason}");
        let env = Environment::from_pairs([("AZURE_OPENAI_ENDPOINT", "https://gateway.example/x")]);
        assert_eq!(machine(&env, ELSEWHERE), Ok(Some(expect)));
    }

    #[test]
    fn an_app_s_identity_service_is_near() {
        let pairs = |address| {
            Environment::from_pairs([("IDENTITY_ENDPOINT", address), ("IDENTITY_HEADER", "h")])
        };
        let near = source(&pairs("http://127.0.0.1:41/token"), AZURE, "managed_identity");
        assert!(matches!(near, Ok(Some(TokenSource::ManagedIdentity { header: Some(_), .. }))));
        let far = source(&pairs("http://evil.example/token"), AZURE, "managed_identity");
        assert!(far.expect_err("refused").1.contains("on this machine"));
    }

    #[test]
    fn a_missing_program_is_told_with_what_to_do() {
        let (key, reason) = source(&Environment::default(), AZURE, "").expect_err("refused");
        assert_eq!(key, "target_azure_openai_auth_mode");
        assert!(reason.contains("AZURE_OPENAI_API_KEY") && reason.contains("az login"), "{reason}");
        assert_eq!(source(&Environment::default(), AZURE, "api_key"), Ok(None));
    }

    #[cfg(unix)]
    #[test]
    fn the_program_sees_little_of_the_environment() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("az"), "").expect("written");
        let path = format!("relative:{}", dir.path().display());
        let env =
            Environment::from_pairs([("PATH", path.as_str()), ("MY_KEY", "sk-1"), ("HOME", "/h")]);
        let found = source(&env, AZURE, "azure_cli").expect("found");
        let Some(TokenSource::AzureCli { program, environment }) = found else {
            panic!("{found:?}")
        };
        assert_eq!(program, dir.path().join("az"));
        let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["PATH", "HOME"]);
    }
}
