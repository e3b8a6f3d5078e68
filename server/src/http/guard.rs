//! The first thing that every request meets, whatever its route: is this host name served here, and did a
//! page of ours (or no page at all) send it? A local server is reachable from every web page on the machine.

use super::origin::Authority as Name;
use super::problem::{ApiError, ApiResult};
use super::router::MCP;
use super::state::{AppState, HostRules};
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Refuses foreign hosts on all routes, foreign origins on writes and on API data, and bodies that are not JSON.
pub(crate) async fn guard(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match check(&state.hosts, request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(err) => err.into_response(),
    }
}

fn check(rules: &HostRules, method: &Method, uri: &Uri, headers: &HeaderMap) -> ApiResult<()> {
    let host = check_host(rules, uri, headers)?;
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if !is_read || uri.path().starts_with("/api") || uri.path() == MCP {
        check_fetch_site(headers)?;
        check_origin(rules, &host, headers)?;
    }
    if is_read { Ok(()) } else { check_content_type(headers) }
}

/// All names that a request gives must be ours: the `Host` header, and the authority of an absolute target
/// or of HTTP/2.
fn check_host(rules: &HostRules, uri: &Uri, headers: &HeaderMap) -> ApiResult<Name> {
    let names =
        headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default());
    let names: Vec<&str> =
        uri.authority().map(Authority::as_str).into_iter().chain(names).collect();
    let mut known = None;
    for name in &names {
        match Name::parse(name).filter(|host| rules.allows(host)) {
            Some(host) => known = Some(host),
            None => return Err(wrong_host(name)),
        }
    }
    known.ok_or_else(|| ApiError::WrongHost("the request names no host".to_owned()))
}

fn wrong_host(name: &str) -> ApiError {
    let shown: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
    ApiError::WrongHost(format!(
        "`{shown}` is not served here; open http://127.0.0.1 with the port, or start with \
         `skillopt serve --allowed-host {shown}` if the name is yours"
    ))
}

fn check_fetch_site(headers: &HeaderMap) -> ApiResult<()> {
    match headers.get(SEC_FETCH_SITE).map(|value| value.to_str().unwrap_or("unreadable")) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(site) => Err(ApiError::Forbidden(format!("a {site} page may not use this API"))),
    }
}

fn check_origin(rules: &HostRules, host: &Name, headers: &HeaderMap) -> ApiResult<()> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let text = origin.to_str().unwrap_or_default();
    let is_ours = Name::of_origin(text)
        .is_some_and(|origin| origin.is_same_place(host) || rules.is_configured(&origin));
    if is_ours {
        Ok(())
    } else {
        Err(ApiError::Forbidden("a page of another origin may not use this API".to_owned()))
    }
}

/// Forms and `no-cors` requests of foreign pages cannot send JSON. An action without a body needs no type.
fn check_content_type(headers: &HeaderMap) -> ApiResult<()> {
    let has_body = headers.contains_key(header::TRANSFER_ENCODING)
        || headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0");
    match headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default()) {
        None if !has_body => Ok(()),
        Some(kind) if is_json(kind) => Ok(()),
        _ => Err(ApiError::NotJson("send `content-type: application/json`".to_owned())),
    }
}

fn is_json(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}
