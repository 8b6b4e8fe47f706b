//! The failures of responses with a status from 300, as a table.
//!
//! Sources: RFC 9110, 15.4 to 15.6; RFC 6585, 4; 2025-11-25, basic/transports; Cloudflare's documentation, "Workers errors" and "1xxx errors".

use std::ops::RangeInclusive;
use std::time::Duration;

use http::HeaderMap;
use http::header::{LOCATION, RETRY_AFTER};

use super::challenge::BearerChallenge;
use super::headers::text;
use crate::client::error::{ClientError, Failure, NotMcp, Unreachable};
use crate::config::SecureUrl;
use crate::host::Opened;

/// The longest error page that is read, in bytes.
const ERROR_PAGE: usize = 16 << 10;

/// The body of a response that a row is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StatusBody {
    /// The status alone counts, and the body is not read.
    Any,
    /// A JSON-RPC error is the answer. A body of another kind, such as a page or `{"detail":"Not Found"}`, has this meaning.
    NotRpc,
}

/// The meaning of a response.
#[derive(Clone, Copy)]
enum StatusMeaning {
    Moved,
    Unauthorized,
    Forbidden,
    Unavailable,
    TooManyRequests,
    TooLong,
    Unreachable,
    Certificate,
    /// An error page of Cloudflare, whose number says more.
    Platform,
    ServerFailed,
    NotFound,
    NoPost,
    Rejected,
}

/// The meanings of statuses. The first row that applies counts.
static TABLE: &[(RangeInclusive<u16>, StatusBody, StatusMeaning)] = &[
    (300..=399, StatusBody::Any, StatusMeaning::Moved),
    (401..=401, StatusBody::Any, StatusMeaning::Unauthorized),
    (403..=403, StatusBody::Any, StatusMeaning::Forbidden),
    (404..=404, StatusBody::NotRpc, StatusMeaning::NotFound),
    (405..=406, StatusBody::NotRpc, StatusMeaning::NoPost),
    (408..=408, StatusBody::Any, StatusMeaning::Unavailable),
    (413..=414, StatusBody::Any, StatusMeaning::TooLong),
    (415..=415, StatusBody::NotRpc, StatusMeaning::NoPost),
    (425..=425, StatusBody::Any, StatusMeaning::Unavailable),
    (429..=429, StatusBody::Any, StatusMeaning::TooManyRequests),
    (431..=431, StatusBody::Any, StatusMeaning::TooLong),
    (400..=499, StatusBody::NotRpc, StatusMeaning::Rejected),
    (503..=503, StatusBody::Any, StatusMeaning::Unavailable),
    (521..=523, StatusBody::Any, StatusMeaning::Unreachable),
    (525..=526, StatusBody::Any, StatusMeaning::Certificate),
    (530..=530, StatusBody::Any, StatusMeaning::Platform),
    (500..=u16::MAX, StatusBody::Any, StatusMeaning::ServerFailed),
];

fn row(status: u16) -> Option<(StatusBody, StatusMeaning)> {
    let row = TABLE.iter().find(|(statuses, ..)| statuses.contains(&status));
    row.map(|(_, body, meaning)| (*body, *meaning))
}

/// Returns the failure if the status alone describes it. The body is then not read, except for the number of a Cloudflare error page.
pub(super) async fn of_status(opened: &mut Opened, challenge: Option<&BearerChallenge>) -> Option<ClientError> {
    let (StatusBody::Any, meaning) = row(opened.status)? else { return None };
    let after = retry_after(&opened.headers);
    let failure = match meaning {
        StatusMeaning::Moved => Failure::Redirected { to: new_location(&opened.headers) },
        StatusMeaning::Unauthorized => Failure::Unauthorized,
        StatusMeaning::Forbidden => of_forbidden(challenge),
        StatusMeaning::Unavailable => Failure::Unavailable { after },
        StatusMeaning::TooManyRequests => Failure::TooManyRequests { after },
        StatusMeaning::TooLong => Failure::LimitExceeded("the request is too long for the server"),
        StatusMeaning::Unreachable => Failure::Unreachable(Unreachable::Connection),
        StatusMeaning::Certificate => Failure::Unreachable(Unreachable::Certificate),
        StatusMeaning::Platform => of_platform_error(opened).await,
        _ => Failure::ServerFailed { status: opened.status },
    };
    Some(ClientError::new(failure, Some(format!("status {}", opened.status))))
}

/// Returns the failure of a body that is not JSON-RPC.
pub(super) fn of_other_body(status: u16) -> ClientError {
    let failure = match row(status) {
        Some((_, StatusMeaning::NotFound)) => Failure::NotMcp(NotMcp::NotFound),
        Some((_, StatusMeaning::NoPost)) => Failure::NotMcp(NotMcp::NoPost),
        _ => Failure::Rejected { status },
    };
    ClientError::new(failure, Some(format!("status {status}")))
}

/// Reads the number of an error page of Cloudflare, such as `error code: 1016`.
async fn of_platform_error(opened: &mut Opened) -> Failure {
    let page = opened.read(ERROR_PAGE).await.unwrap_or_default();
    match String::from_utf8_lossy(&page).trim() {
        "error code: 1016" => Failure::Unreachable(Unreachable::Dns),
        "error code: 1019" | "error code: 1042" => Failure::Unreachable(Unreachable::SameZone),
        _ => Failure::ServerFailed { status: opened.status },
    }
}

fn of_forbidden(challenge: Option<&BearerChallenge>) -> Failure {
    match challenge.and_then(BearerChallenge::required_scopes) {
        Some(scopes) => Failure::ScopeRequired { scopes },
        None => Failure::Forbidden,
    }
}

/// Returns the `https:` URL of a redirect. A message shows it, so a URL that is not valid or too long is left out.
fn new_location(headers: &HeaderMap) -> Option<String> {
    const LONGEST: usize = 512;
    let url = text(headers.get(LOCATION))?;
    // A query may contain a secret.
    let url = url.split(['?', '#']).next().filter(|url| url.len() <= LONGEST && url.starts_with("https://"))?;
    SecureUrl::parse(url).is_ok().then(|| url.to_owned())
}

/// Returns the time in `Retry-After`, if it is a number of seconds of at most a day.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    const DAY: u64 = 86_400;
    let seconds = text(headers.get(RETRY_AFTER))?.trim().parse().ok()?;
    (seconds <= DAY).then(|| Duration::from_secs(seconds))
}
