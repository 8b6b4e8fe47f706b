//! A list of tokens from the configuration, for a server with a few known callers.
//!
//! Each token has its own subject and scopes. Only digests of the tokens stay in memory.

use edge_json::deserialize::read;
use edge_json::type_error::TypeError;
use edge_json::{Document, JsonError, JsonLimits, Kind, Value};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::bearer;
use super::principal::Principal;
use super::scopes;
use super::validator::{PresentedToken, TokenRefusal, TokenValidator};
use crate::config::{ConfigError, Variables};

type Sha256Digest = [u8; 32];

/// The issuer of the callers on a list. No other validator accepts it.
const ISSUER: &str = "edge-mcp:static";

/// Accepts the tokens of a list.
pub struct StaticTokens {
    entries: Vec<(Sha256Digest, Principal)>,
}

/// One entry of the JSON list.
struct ListedToken {
    token: Option<String>,
    sha256: Option<String>,
    subject: String,
    client_id: Option<String>,
    scopes: Vec<String>,
    expires: Option<u64>,
}

impl StaticTokens {
    /// Parses the variable `MCP_STATIC_TOKENS`.
    ///
    /// # Errors
    /// A variable is missing or wrong.
    pub(crate) fn of_variables(variables: &Variables<'_>) -> Result<Self, ConfigError> {
        const NAME: &str = "MCP_STATIC_TOKENS";
        Self::from_json(NAME, variables.get(NAME)?.as_deref()).map_err(|error| variables.about_secret(error))
    }

    /// Parses a JSON array of `{"token" or "sha256", "subject", "client_id"?, "scopes", "expires"?}`. `token` is the token itself,
    /// `sha256` is its digest in 64 hexadecimal digits, and `expires` is in seconds since 1970-01-01T00:00:00Z.
    ///
    /// Errors name `variable` as the source of the text.
    ///
    /// # Errors
    /// The text is missing, is not such an array, or is an empty array. Or an entry has a wrong, a missing or an unknown member.
    ///
    /// ```
    /// use edge_mcp::StaticTokens;
    ///
    /// let tokens = r#"[{"token": "s3cret", "subject": "ada", "scopes": ["kb:read"]}]"#;
    /// assert!(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).is_ok());
    /// assert!(StaticTokens::from_json("MCP_STATIC_TOKENS", None).is_err());
    /// ```
    pub fn from_json(variable: &'static str, text: Option<&str>) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError::new(variable, problem);
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| wrong("is not set: set it to the access tokens as a JSON array".into()))?;
        // The text contains secrets, and an error of the JSON reader may quote it. So the message contains only the position of the error.
        let malformed = |place: String| {
            wrong(format!(
                "must be a JSON array of {{\"token\" or \"sha256\", \"subject\", \"client_id\"?, \"scopes\", \"expires\"?}}{place}"
            ))
        };
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).map_err(|error| match error {
            JsonError::Syntax { at } => {
                let line = text.get(..at).unwrap_or_default().matches('\n').count();
                malformed(format!("; see line {}", line.saturating_add(1)))
            }
            _ => malformed(String::new()),
        })?;
        if document.root().kind() != Kind::Array {
            return Err(malformed(String::new()));
        }
        let mut known = Vec::new();
        for (nth, entry) in (1_usize..).zip(document.root().items()) {
            let Some(entry) = ListedToken::read(entry) else { return Err(malformed(format!("; see entry {nth}"))) };
            let digest = entry.digest().map_err(|problem| wrong(format!("has an error in entry {nth}: {problem}")))?;
            let ListedToken { subject, client_id, scopes, expires, .. } = entry;
            if subject.is_empty() {
                return Err(wrong(format!("has an error in entry {nth}: `subject` must not be empty")));
            }
            if let Some(problem) = scopes.iter().find_map(|scope| scopes::problem(scope)) {
                return Err(wrong(format!("has an error in entry {nth}: it {problem}")));
            }
            let issuer = Some(ISSUER.to_owned());
            known.push((
                digest,
                Principal { issuer, client_id, expires, ..Principal::new(subject).with_scopes(scopes) },
            ));
        }
        if known.is_empty() {
            return Err(wrong("must list at least one token".into()));
        }
        Ok(Self { entries: known })
    }

    /// Returns the principal of a token. An endpoint calls the validator itself: use this method for other credentials of the same persons,
    /// such as the token in a cookie of a page. `now` is the time in seconds since 1970.
    ///
    /// # Errors
    /// The token is not on the list, or it has expired.
    ///
    /// ```
    /// use edge_mcp::StaticTokens;
    ///
    /// let tokens = r#"[{"token": "s3cret", "subject": "ada", "scopes": []}]"#;
    /// let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens))?;
    /// assert_eq!(tokens.check("s3cret", 0).map(|ada| ada.subject).as_deref(), Ok("ada"));
    /// # Ok::<_, edge_mcp::ConfigError>(())
    /// ```
    pub fn check(&self, token: &str, now: u64) -> Result<Principal, TokenRefusal> {
        match self.find(token) {
            // There is no tolerance for clock skew, because only the clock of this server is involved.
            Some(Principal { expires: Some(expires), .. }) if *expires <= now => Err(TokenRefusal::Expired),
            Some(principal) => Ok(principal.clone()),
            None => Err(TokenRefusal::Invalid("it is not on the list".into())),
        }
    }

    /// Finds the entry of a token. It compares all entries in constant time, so its time depends only on their number.
    fn find(&self, token: &str) -> Option<&Principal> {
        let digest = digest_of(token);
        let mut found = 0_u64;
        for (nth, (known, _)) in (1_u64..).zip(&self.entries) {
            found.conditional_assign(&nth, known.ct_eq(&digest));
        }
        let index = usize::try_from(found.checked_sub(1)?).ok()?;
        self.entries.get(index).map(|(_, principal)| principal)
    }
}

fn digest_of(token: &str) -> Sha256Digest {
    Sha256::digest(token.as_bytes()).into()
}

impl ListedToken {
    /// Reads an entry. Returns `None` if a member is unknown, missing or of another type.
    // A derived `Deserialize` needs more code, because it also makes an error message, which must not be shown.
    fn read(entry: Value<'_>) -> Option<Self> {
        const MEMBERS: [&str; 6] = ["token", "sha256", "subject", "client_id", "scopes", "expires"];
        if !entry.members().all(|(name, _)| MEMBERS.contains(&&*name)) {
            return None;
        }
        Some(Self {
            token: optional(entry, "token").ok()?,
            sha256: optional(entry, "sha256").ok()?,
            subject: read(entry.get("subject")?).ok()?,
            client_id: optional(entry, "client_id").ok()?,
            scopes: read(entry.get("scopes")?).ok()?,
            expires: optional(entry, "expires").ok()?,
        })
    }

    fn digest(&self) -> Result<Sha256Digest, &'static str> {
        match (&self.token, &self.sha256) {
            (Some(token), None) if bearer::is_token(token) => Ok(digest_of(token)),
            (Some(_), None) => Err("`token` is empty or has characters that an Authorization header cannot contain"),
            (None, Some(hex)) => from_hex(hex).ok_or("`sha256` must be 64 hexadecimal digits"),
            (Some(_), Some(_)) => Err("it must not have both `token` and `sha256`"),
            (None, None) => Err("it must have `token` or `sha256`"),
        }
    }
}

/// Reads a member that may be missing or null.
fn optional<T: DeserializeOwned>(entry: Value<'_>, name: &str) -> Result<Option<T>, TypeError> {
    entry.get(name).map_or(Ok(None), read)
}

fn from_hex(hex: &str) -> Option<Sha256Digest> {
    let mut digest = Sha256Digest::default();
    if hex.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        let digit = |index: usize| pair.get(index).and_then(|&digit| char::from(digit).to_digit(16));
        *byte = u8::try_from((digit(0)? << 4) | digit(1)?).ok()?;
    }
    Some(digest)
}

impl TokenValidator for StaticTokens {
    async fn validate(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        self.check(presented.token(), presented.now())
    }

    fn vouches_for(&self, issuer: &str) -> bool {
        issuer == ISSUER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: &str = r#"[
        {"token": "plain", "subject": "ada", "scopes": ["kb:read", "kb:write"]},
        {"sha256": "2BB80D537B1DA3E38BD30361AA855686BDE0EACD7162FEF6A25FE97BF527A25B", "subject": "bob", "client_id": "cli", "scopes": []},
        {"token": "old", "subject": "eve", "scopes": [], "expires": 1000}
    ]"#;

    fn validate(token: &str, now: u64) -> Result<Principal, TokenRefusal> {
        let tokens = StaticTokens::from_json("T", Some(TOKENS)).expect("well-formed");
        tokens.check(token, now)
    }

    /// Rule 101: an unknown or expired token is refused. Each token has its own subject and scopes.
    #[test]
    fn each_token_has_its_own_principal() {
        let ada = validate("plain", 0).expect("known");
        assert_eq!((ada.subject.as_str(), ada.has_scope("kb:write"), ada.has_scope("kb:admin")), ("ada", true, false));
        let bob = validate("secret", 0).expect("known by its digest");
        assert_eq!((bob.subject.as_str(), bob.client_id.as_deref(), bob.scopes.len()), ("bob", Some("cli"), 0));
        assert!(validate("old", 999).is_ok());
        assert_eq!(validate("old", 1000), Err(TokenRefusal::Expired));
        for unknown in ["", "Plain", "plain ", "2BB80D537B1DA3E38BD30361AA855686BDE0EACD7162FEF6A25FE97BF527A25B"] {
            assert!(matches!(validate(unknown, 0), Err(TokenRefusal::Invalid(_))), "{unknown:?}");
        }
    }

    #[test]
    fn errors_about_a_list_do_not_quote_it() {
        for text in [
            None,
            Some(" "),
            Some("s3cret"),
            Some("{}"),
            Some("[]"),
            Some(r#"["s3cret"]"#),
            Some(r#"[{"token":"s3cret","subject":"ada"}]"#),
            Some(r#"[{"token":"s3cret","scopes":[]}]"#),
            Some(r#"[{"subject":"ada","scopes":[]}]"#),
            Some(r#"[{"token":"s3cret","sha256":"00","subject":"ada","scopes":[]}]"#),
            Some(r#"[{"token":"s3cret","subject":"ada","scopes":[],"scope":"s3cret"}]"#),
            Some(r#"[{"token":"","subject":"ada","scopes":[]}]"#),
            Some(r#"[{"token":"s3cret é","subject":"ada","scopes":[]}]"#),
            Some(r#"[{"sha256":"s3cret","subject":"ada","scopes":[]}]"#),
            Some(r#"[{"token":"s3cret","subject":"ada","scopes":"s3cret"}]"#),
            Some(r#"[{"token":"s3cret","subject":"ada","scopes":["kb:read kb:write"]}]"#),
            Some(r#"[{"token":"s3cret","subject":"","scopes":[]}]"#),
            Some(r#"[{"token":"s3cret","subject":"ada","scopes":[],"expires":"s3cret"}]"#),
        ] {
            let error = StaticTokens::from_json("MCP_STATIC_TOKENS", text).err().expect("refused");
            assert_eq!(error.variable, "MCP_STATIC_TOKENS", "{text:?}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
