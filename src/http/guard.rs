//! The checks on the headers of a request, before its body is read.

use http::StatusCode;

use super::http_error::HttpError;
use crate::engine::head::BoundedRequest;

/// The value of `Accept` that the specification requires.
const BOTH: &str = "application/json, text/event-stream";

/// The information in the headers of a POST about its body and its answer.
pub(super) struct Announcement {
    /// The announced length of the body (`Content-Length`), if there is one.
    pub announced: Option<usize>,
    /// Whether the client accepts event streams.
    pub accepts_stream: bool,
    /// Whether the client accepts event streams only.
    pub is_stream_only: bool,
}

/// Checks media types and announced length.
#[inline(never)]
pub(super) fn check(head: &BoundedRequest, body_limit: usize) -> Result<Announcement, Box<HttpError>> {
    if !head.standard_header("content-type")?.is_some_and(|value| is_json(&value)) {
        return Err(HttpError::http(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Send the message as UTF-8 JSON, with the header `Content-Type: application/json`.",
        ));
    }
    let accept = head.standard_header("accept")?;
    let accepts_stream = accept.as_deref().is_some_and(|accept| accept == BOTH || names(accept, "text/event-stream"));
    let excludes_json = accept.is_some_and(|accept| !accepts_json(&accept));
    if excludes_json && !accepts_stream {
        return Err(HttpError::http(
            StatusCode::NOT_ACCEPTABLE,
            "Answers are JSON, which the Accept header excludes. Send `Accept: application/json, text/event-stream`.",
        ));
    }
    Ok(Announcement { announced: announced_length(head, body_limit)?, accepts_stream, is_stream_only: excludes_json })
}

/// Returns the announced length of the body, if there is one.
pub(super) fn announced_length(head: &BoundedRequest, body_limit: usize) -> Result<Option<usize>, Box<HttpError>> {
    let announced = head.standard_header("content-length")?.and_then(|length| length.parse::<u64>().ok());
    let announced = announced.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if announced.is_some_and(|length| length > body_limit) {
        return Err(too_large(body_limit));
    }
    Ok(announced)
}

/// Returns the 413 for a body that is too long.
pub(super) fn too_large(body_limit: usize) -> Box<HttpError> {
    HttpError::http(StatusCode::PAYLOAD_TOO_LARGE, format!("The body is longer than the limit of {body_limit} bytes."))
}

/// Returns whether `content_type` is `application/json`. A `charset` must be `utf-8`.
fn is_json(content_type: &str) -> bool {
    if content_type == "application/json" {
        return true;
    }
    let mut parts = content_type.split(';').map(|part| part.trim_matches([' ', '\t']));
    let is_type = parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json"));
    is_type
        && parts.all(|parameter| match parameter.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
                value.trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            Some(_) => true,
            None => parameter.is_empty(),
        })
}

/// Returns whether `accept` covers JSON (RFC 9110 §12.5.1).
///
/// The specification requires clients to accept `text/event-stream` too. Many do not, so this check does not require it.
fn accepts_json(accept: &str) -> bool {
    accept == BOTH
        || accept.trim_matches([' ', '\t']).is_empty()
        || covers(accept, ["*/*", "application/*", "application/json"])
}

/// Returns whether `accept` covers Markdown. A request without `Accept` accepts everything.
#[cfg(feature = "page")]
pub(super) fn accepts_markdown(accept: &str) -> bool {
    accept.trim_matches([' ', '\t']).is_empty() || covers(accept, ["*/*", "text/*", "text/markdown"])
}

/// Returns whether `accept` names this media type. A wildcard does not count.
pub(super) fn names(accept: &str, media_type: &str) -> bool {
    covers(accept, ["", "", media_type])
}

/// Returns whether `accept` accepts one of the `ranges`, which are ordered from the least to the most specific. The most specific range
/// that `accept` contains decides.
#[inline(never)]
fn covers(accept: &str, ranges: [&str; 3]) -> bool {
    let named = accept.split(',').filter_map(|range| {
        let mut parts = range.split(';').map(|part| part.trim_matches([' ', '\t']));
        let name = parts.next().filter(|name| !name.is_empty())?;
        let specificity = ranges.iter().position(|range| range.eq_ignore_ascii_case(name))?;
        let weight = parts.find_map(|parameter| parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q=")));
        let refused = weight.is_some_and(|weight| weight.bytes().all(|byte| matches!(byte, b'0' | b'.')));
        Some((specificity, !refused))
    });
    named.max().is_some_and(|(_, accepted)| accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_content_types_are_accepted() {
        for (value, passes) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; profile=x;", true),
            ("application/json; charset=latin1", false),
            ("application/json-patch+json", false),
            ("application/json, application/json", false),
            ("text/plain; a=application/json", false),
            ("application/json x", false),
            ("", false),
        ] {
            assert_eq!(is_json(value), passes, "{value:?}");
        }
    }

    #[test]
    fn accept_headers_that_cover_json_are_accepted() {
        for (value, passes) in [
            ("", true),
            ("*/*", true),
            ("application/json", true),
            ("application/json, text/event-stream", true),
            ("text/html, application/*;q=0.1", true),
            ("Application/Json;q=0.5", true),
            ("text/event-stream", false),
            ("text/html", false),
            ("application/json;q=0", false),
            ("*/*, application/json;q=0.0", false),
            ("*/*;q=0, application/json", true),
            ("application/xml", false),
        ] {
            assert_eq!(accepts_json(value), passes, "{value:?}");
        }
    }
}
