//! The `WWW-Authenticate` header of another server.
//!
//! Source: RFC 9110 §11.6.1; RFC 6750 §3; RFC 9728 §5.1.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// The longest header that is read, in bytes.
const HEADER_BYTES: usize = 8 << 10;
/// The most challenges, and the most parameters, that are read.
const CHALLENGES: usize = 8;
const PARAMETERS: usize = 32;
/// The most scopes that a message shows, and the most characters of one.
const SHOWN_SCOPES: usize = 8;
const SHOWN_SCOPE: usize = 64;
/// The most scopes that the client requests because a challenge or the metadata of the server names them.
pub(in crate::client) const SCOPES: usize = 64;

/// A `Bearer` challenge. Its values are as the server wrote them: they may be those of an attacker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::client) struct BearerChallenge {
    pub error: Option<String>,
    /// The URL of the protected resource metadata.
    pub resource_metadata: Option<String>,
    scope: Option<String>,
}

impl BearerChallenge {
    pub(in crate::client) fn new(resource_metadata: Option<String>, scopes: &[String]) -> Self {
        let scope = (!scopes.is_empty()).then(|| scopes.join(" "));
        Self { error: None, resource_metadata, scope }
    }

    /// Returns the first valid `Bearer` challenge of a response.
    pub(in crate::client) fn of(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter().take(CHALLENGES);
        values.filter_map(|value| value.to_str().ok()).filter(|text| text.len() <= HEADER_BYTES).find_map(Self::read)
    }

    fn read(header: &str) -> Option<Self> {
        let mut challenges: Vec<(&str, ChallengeParameters)> = Vec::new();
        for item in items(header).into_iter().take(PARAMETERS) {
            let (scheme, parameter) = scheme(item);
            if let Some(scheme) = scheme {
                challenges.push((scheme, ChallengeParameters::default()));
            }
            if let (Some((_, parameters)), Some((name, value))) = (challenges.last_mut(), parameter.split_once('=')) {
                parameters.add(name.trim(), value.trim());
            }
        }
        let is_bearer = |scheme: &str| scheme.eq_ignore_ascii_case("bearer");
        let mut bearer = challenges.into_iter().take(CHALLENGES).filter(|(scheme, _)| is_bearer(scheme));
        bearer.find(|(_, parameters)| !parameters.is_void).map(|(_, parameters)| parameters.challenge)
    }

    /// Returns the scopes that the challenge names, without those that no request may contain (RFC 6749 §3.3).
    pub(in crate::client) fn scopes(&self) -> Vec<String> {
        let scopes = self.scope.as_deref().unwrap_or_default().split(' ').filter(|scope| is_scope(scope));
        scopes.take(SCOPES).map(str::to_owned).collect()
    }

    /// Returns whether the server rejects a token because it lacks scopes.
    pub(in crate::client) fn lacks_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// Returns the first scopes that the server requires, if it rejects a token because it lacks scopes. A message can show them.
    pub(super) fn required_scopes(&self) -> Option<Vec<String>> {
        if !self.lacks_scope() {
            return None;
        }
        let scopes = self.scopes().into_iter().filter(|scope| scope.len() <= SHOWN_SCOPE);
        Some(scopes.take(SHOWN_SCOPES).collect())
    }
}

/// Adds those scopes that a list does not have.
pub(in crate::client) fn add_scopes<'a>(scopes: &mut Vec<String>, more: impl Iterator<Item = &'a String>) {
    for scope in more {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
}

pub(in crate::client) fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

/// The parameters of a challenge.
#[derive(Default)]
struct ChallengeParameters {
    challenge: BearerChallenge,
    /// Whether a parameter occurs twice. Its meaning is then open.
    is_void: bool,
}

impl ChallengeParameters {
    fn add(&mut self, name: &str, value: &str) {
        let BearerChallenge { error, resource_metadata, scope } = &mut self.challenge;
        let slot = match name.to_ascii_lowercase().as_str() {
            "error" => error,
            "resource_metadata" => resource_metadata,
            "scope" => scope,
            _ => return,
        };
        match unquoted(value) {
            Some(value) => self.is_void |= slot.replace(value).is_some(),
            None => self.is_void = true,
        }
    }
}

fn scheme(item: &str) -> (Option<&str>, &str) {
    match item.split_once([' ', '\t']) {
        // Spaces may surround the `=` of a parameter.
        Some((word, rest)) if !word.contains('=') && !rest.trim_start().starts_with('=') => (Some(word), rest),
        _ if item.contains('=') => (None, item),
        _ => (Some(item), ""),
    }
}

/// Splits a header at its commas, except for commas in quoted strings.
fn items(header: &str) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let split = header.split(|character| {
        let is_end = character == ',' && !is_quoted;
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        is_end
    });
    split.map(str::trim).filter(|item| !item.is_empty()).collect()
}

/// Returns the content of a quoted string, or another value unchanged. Returns `None` if the end of the string is missing.
fn unquoted(value: &str) -> Option<String> {
    let Some(quoted) = value.strip_prefix('"') else { return Some(value.to_owned()) };
    let mut characters = quoted.chars();
    let mut content = String::new();
    loop {
        match characters.next()? {
            '"' => return characters.as_str().is_empty().then_some(content),
            '\\' => content.push(characters.next()?),
            character => content.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scopes_of_a_challenge_are_read() {
        let scopes = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        for (header, expected) in [
            (r#"Bearer error="insufficient_scope", scope="a b""#, scopes(&["a", "b"])),
            (r#"bearer scope="a",error=insufficient_scope"#, scopes(&["a"])),
            (
                r#"Basic realm="x, scope=\"y\"", Bearer realm="a,b", error="insufficient_scope", scope="c""#,
                scopes(&["c"]),
            ),
            (r#"Bearer error="insufficient_scope", scope="a", Basic scope="b""#, scopes(&["a"])),
            (r#"Bearer error="insufficient_scope""#, scopes(&[])),
            (r#"Basic error="insufficient_scope", scope="a""#, None),
            (r#"Bearer error="invalid_token", scope="a""#, None),
            ("Bearer", None),
            ("Negotiate abc==, Bearer", None),
            ("", None),
            (r#"Bearer error="insufficient_scope"#, None),
        ] {
            assert_eq!(BearerChallenge::read(header).and_then(|it| it.required_scopes()), expected, "{header}");
        }
    }

    /// The hostile case 46: challenges without, with several and with malformed parts. A challenge with a parameter twice is void.
    #[test]
    fn the_first_valid_bearer_challenge_is_read() {
        let many = ["Digest a=b, "; 10].concat() + "Bearer resource_metadata=u";
        let url = |text: &str| Some(Some(text.to_owned()));
        for (header, expected) in [
            (r#"Bearer resource_metadata="https://a.example/x""#, url("https://a.example/x")),
            (r#"BEARER realm="a, b", resource_metadata = "u""#, url("u")),
            (r#"Basic realm="x", Negotiate YWJj==, bearer resource_metadata="u\"v""#, url("u\"v")),
            (r#"Basic resource_metadata="x", Bearer error=invalid_token"#, Some(None)),
            ("Bearer", Some(None)),
            ("Bearer YWJj==", Some(None)),
            ("Bearer resource_metadata=u, Resource_Metadata=v", None),
            ("Bearer scope=a, scope=b, Bearer resource_metadata=u", url("u")),
            (r#"Bearer resource_metadata="u"#, None),
            (r#"Bearer resource_metadata="u"v"#, None),
            (",,Bearer,, resource_metadata=u", url("u")),
            ("resource_metadata=u", None),
            ("", None),
            (many.as_str(), None),
        ] {
            assert_eq!(BearerChallenge::read(header).map(|it| it.resource_metadata), expected, "{header}");
        }
        let scope = ["x"; 1000].join(" ") + " \u{e9}";
        assert_eq!(BearerChallenge { scope: Some(scope), ..BearerChallenge::default() }.scopes().len(), SCOPES);
        let mut headers = HeaderMap::new();
        for value in ["Basic realm=x", "Bearer error=a", "Bearer error=b"] {
            headers.append(WWW_AUTHENTICATE, value.parse().expect("a value"));
        }
        assert_eq!(BearerChallenge::of(&headers).and_then(|it| it.error).as_deref(), Some("a"));
    }
}
