//! The answer of an authorization server to an authorization request, in the query of a URL of this program.
//!
//! Sources: RFC 6749 §4.1.2; RFC 9207 §2.4; RFC 9700 §4.4 and §4.7.

use std::fmt;

use subtle::ConstantTimeEq;

use crate::limits::{UPSTREAM_CALLBACK_BYTES, UPSTREAM_TOKEN_BYTES};

/// The values that the answer must have. They come from the authorization request.
pub(in crate::client) struct CallbackCheck<'a> {
    pub state: &'a str,
    pub issuer: &'a str,
    /// Whether the metadata of the authorization server says that each answer names the issuer
    /// (`authorization_response_iss_parameter_supported`).
    pub names_issuer: bool,
}

/// The reason why there is no code. `Display` writes a sentence for the person, which contains nothing of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum CallbackError {
    /// The query is too long, or has a parameter twice.
    Malformed,
    /// The answer belongs to another authorization request.
    WrongState,
    /// The answer comes from another authorization server (mix-up).
    WrongIssuer,
    /// The person did not allow the access.
    Denied,
    /// The authorization server is not available.
    Unavailable,
    /// The authorization server does not grant the scopes.
    InvalidScope,
    /// The authorization server does not allow this client to send the request.
    WrongClient,
    /// The authorization server rejects the request for another reason.
    Rejected,
    /// The answer has no valid code.
    NoCode,
}

/// The error codes of authorization servers with their own sentence.
const ERRORS: [(&str, CallbackError); 6] = [
    ("access_denied", CallbackError::Denied),
    ("temporarily_unavailable", CallbackError::Unavailable),
    ("server_error", CallbackError::Unavailable),
    ("invalid_scope", CallbackError::InvalidScope),
    ("unauthorized_client", CallbackError::WrongClient),
    ("invalid_client", CallbackError::WrongClient),
];

/// The parameters that the client reads. Others are ignored, for example `session_state`.
#[derive(Default)]
struct CallbackParameters {
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    code: Option<String>,
}

/// Returns the authorization code in the query of a callback. The issuer is checked before the error and the code are read.
///
/// # Errors
/// There is no code that may be exchanged.
pub(in crate::client) fn authorization_code(
    query: &str,
    expected: &CallbackCheck<'_>,
) -> Result<String, CallbackError> {
    let CallbackParameters { state, iss, error, code } = read(query)?;
    let is_expected = state.is_some_and(|state| bool::from(state.as_bytes().ct_eq(expected.state.as_bytes())));
    if !is_expected || expected.state.is_empty() {
        return Err(CallbackError::WrongState);
    }
    let is_issuer = iss.map_or(!expected.names_issuer, |issuer| issuer == expected.issuer);
    if !is_issuer {
        return Err(CallbackError::WrongIssuer);
    }
    if let Some(error) = error {
        let known = ERRORS.iter().find(|(code, _)| *code == error);
        return Err(known.map_or(CallbackError::Rejected, |(_, error)| *error));
    }
    code.filter(|code| !code.is_empty() && code.len() <= UPSTREAM_TOKEN_BYTES).ok_or(CallbackError::NoCode)
}

fn read(query: &str) -> Result<CallbackParameters, CallbackError> {
    if query.len() > UPSTREAM_CALLBACK_BYTES {
        return Err(CallbackError::Malformed);
    }
    let mut parameters = CallbackParameters::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let slot = match &*name {
            "state" => &mut parameters.state,
            "iss" => &mut parameters.iss,
            "error" => &mut parameters.error,
            "code" => &mut parameters.code,
            _ => continue,
        };
        if slot.replace(value.into_owned()).is_some() {
            return Err(CallbackError::Malformed);
        }
    }
    Ok(parameters)
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed | Self::NoCode => "The answer of the authorization server is not valid. Sign in again.",
            Self::WrongState => "This answer does not belong to a sign-in of this browser. Sign in again.",
            Self::WrongIssuer => "This answer comes from another authorization server. Sign in again.",
            Self::Denied => "You did not allow the access.",
            Self::Unavailable => "The authorization server is not available. Try again later.",
            Self::InvalidScope => "The authorization server does not grant the requested scopes.",
            Self::WrongClient | Self::Rejected => "The authorization server rejects the sign-in.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://auth.example/tenant";

    fn code(query: &str, names_issuer: bool) -> Result<String, CallbackError> {
        authorization_code(query, &CallbackCheck { state: "s-1", issuer: ISSUER, names_issuer })
    }

    /// C77: the table of RFC 9207. The comparison has no normalization.
    #[test]
    fn the_issuer_of_an_answer_is_checked() {
        let equal = "&iss=https%3A%2F%2Fauth.example%2Ftenant";
        for (names_issuer, iss, is_accepted) in [
            (true, equal, true),
            (true, "", false),
            (true, "&iss=https://auth.example/tenant/", false),
            (false, "&iss=https://AUTH.example/tenant", false),
            (false, "&iss=https://evil.example", false),
            (false, "&iss=", false),
            (false, equal, true),
            (false, "", true),
        ] {
            let expected = if is_accepted { Ok("c-1".to_owned()) } else { Err(CallbackError::WrongIssuer) };
            assert_eq!(code(&format!("code=c-1&state=s-1{iss}"), names_issuer), expected, "{names_issuer} {iss}");
            let error = code(&format!("error=access_denied&state=s-1{iss}"), names_issuer);
            let denied = if is_accepted { CallbackError::Denied } else { CallbackError::WrongIssuer };
            assert_eq!(error, Err(denied), "{names_issuer} {iss}");
        }
    }

    /// The hostile case 50: answers of other sign-ins, malformed answers and errors. No sentence has anything of the query.
    #[test]
    fn a_hostile_answer_has_no_code() {
        let long = format!("state=s-1&code={}", "x".repeat(64 << 10));
        let long_code = format!("state=s-1&code={}", "x".repeat(UPSTREAM_TOKEN_BYTES + 1));
        for (query, expected) in [
            ("code=SECRET", CallbackError::WrongState),
            ("", CallbackError::WrongState),
            ("code=SECRET&state=s-2", CallbackError::WrongState),
            ("code=SECRET&state=", CallbackError::WrongState),
            ("code=SECRET&state=s-1&state=s-1", CallbackError::Malformed),
            ("code=SECRET&code=b&state=s-1", CallbackError::Malformed),
            ("code=&state=s-1", CallbackError::NoCode),
            ("state=s-1", CallbackError::NoCode),
            (&long_code, CallbackError::NoCode),
            (&long, CallbackError::Malformed),
            ("error=SECRET&code=c-1&state=s-1", CallbackError::Rejected),
            ("error=access_denied&error_description=%3Cb%3ESECRET&state=s-1", CallbackError::Denied),
            ("error=server_error&state=s-1", CallbackError::Unavailable),
            ("error=temporarily_unavailable&state=s-1", CallbackError::Unavailable),
            ("error=invalid_scope&state=s-1", CallbackError::InvalidScope),
            ("error=unauthorized_client&state=s-1", CallbackError::WrongClient),
            ("error=invalid_client&state=s-1", CallbackError::WrongClient),
            ("error=access_denied", CallbackError::WrongState),
        ] {
            let error = code(query, false).expect_err(query);
            assert_eq!(error, expected, "{query}");
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
        let no_state = CallbackCheck { state: "", issuer: ISSUER, names_issuer: false };
        assert_eq!(authorization_code("code=c&state=", &no_state), Err(CallbackError::WrongState));
    }
}
