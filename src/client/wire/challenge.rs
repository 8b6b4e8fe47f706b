//! The `WWW-Authenticate` header of another server.
//!
//! Source: RFC 9110 §11.6.1; RFC 6750 §3.

/// The most parameters that are read.
const PARAMETERS: usize = 32;
/// The most scopes that are returned, and the most characters of one. A message shows them.
const SCOPES: usize = 8;
const SCOPE: usize = 64;

/// Returns the first scopes that a `Bearer` challenge with the error `insufficient_scope` names, or `None` for another challenge.
pub(super) fn required_scopes(header: &str) -> Option<Vec<String>> {
    let mut is_bearer = false;
    let mut error = None;
    let mut scope = None;
    for item in items(header).into_iter().take(PARAMETERS) {
        // A scheme stands before the first parameter of its challenge.
        let (scheme, parameter) = match item.split_once(' ') {
            Some((scheme, parameter)) if !scheme.contains('=') => (Some(scheme), parameter.trim()),
            _ if item.contains('=') => (None, item.as_str()),
            _ => (Some(item.as_str()), ""),
        };
        if let Some(scheme) = scheme {
            is_bearer = scheme.eq_ignore_ascii_case("bearer");
        }
        let Some((name, value)) = parameter.split_once('=').filter(|_| is_bearer) else { continue };
        let slot = match name.trim().to_ascii_lowercase().as_str() {
            "error" => &mut error,
            "scope" => &mut scope,
            _ => continue,
        };
        *slot = Some(unquoted(value.trim()));
    }
    if error.as_deref() != Some("insufficient_scope") {
        return None;
    }
    let mut scopes = Vec::new();
    for scope in scope.unwrap_or_default().split(' ') {
        if is_scope(scope) && scopes.len() < SCOPES {
            scopes.push(scope.to_owned());
        }
    }
    Some(scopes)
}

/// Returns whether a text is a scope (RFC 6749 §3.3) that is not too long.
fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.len() <= SCOPE && text.bytes().all(is_allowed)
}

/// Splits a header at its commas, except for commas in quoted strings.
fn items(header: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let (mut is_quoted, mut is_escaped) = (false, false);
    for character in header.chars() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(character);
        }
    }
    items.iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

/// Returns the content of a quoted string, or another value unchanged.
fn unquoted(value: &str) -> String {
    let Some(quoted) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut characters = quoted.chars();
    let mut content = String::new();
    while let Some(character) = characters.next() {
        let next = if character == '\\' { characters.next() } else { Some(character) };
        content.extend(next);
    }
    content
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
            assert_eq!(required_scopes(header), expected, "{header}");
        }
    }
}
