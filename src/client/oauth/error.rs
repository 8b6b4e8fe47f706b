//! The reasons why a server does not get a token.

use std::fmt;

use crate::client::error::{ClientError, Failure};

/// The reason why the client gets no token for an MCP server.
///
/// `Display` writes a clause that continues "was not called, because". It contains nothing of an answer, except for an error code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::client) enum OAuthError {
    /// The connection has sent all requests that it may send.
    BudgetExhausted,
    /// A server cannot be reached, or it fails. The cause is for the log.
    Unreachable { server: &'static str, cause: String },
    /// The MCP server has no protected resource metadata.
    NoResourceMetadata,
    /// The metadata of the MCP server is about another resource.
    WrongResource,
    /// The MCP server names no authorization server.
    NoAuthorizationServer,
    /// The MCP server does not name the authorization server that the credentials belong to.
    WrongIssuer,
    /// The authorization server has no metadata.
    NoServerMetadata,
    /// The metadata of an authorization server has another issuer than the one asked for.
    IssuerMismatch,
    /// The authorization server has no endpoint at which a person signs in.
    NoAuthorizationEndpoint,
    /// The metadata of the authorization server does not list the PKCE method `S256`.
    NoPkce,
    /// A member of a metadata document does not have the form that its specification requires.
    Malformed { document: &'static str, cause: String },
    /// The client does not use a URL in the metadata.
    UnsafeUrl { member: &'static str, problem: &'static str },
    /// The authorization server does not support a method by which this client can authenticate.
    UnsupportedAuthentication { method: &'static str },
    /// The client cannot create its credentials. The cause is for the log.
    CannotAuthenticate { cause: String },
    /// The token endpoint rejects the request: an error code or a status, and a description for the log.
    Rejected { reason: String, description: String },
    /// The token endpoint sends an answer that has no valid token. The text is a predicate.
    InvalidAnswer(&'static str),
    /// The authorization server requires DPoP.
    DpopRequired,
    /// This program has no client id for the authorization server.
    NoClientId,
    /// The authorization server does not register this program: an error code or a status, and a description for the log.
    NotRegistered { reason: String, description: String },
    /// The operator has registered a client at the authorization server, but not for this server.
    ClientOfOtherServer,
    /// A sign-in was finished twice.
    AlreadyFinished,
    /// The authorization server of an untrusted server cannot be used. The cause is for the log.
    Untrusted { cause: String },
    /// Another request of this program refreshes the tokens, and has not finished.
    RefreshPending,
    /// This program cannot read or write its tokens. The cause is for the log.
    StoreFailed { cause: String },
}

impl OAuthError {
    /// Creates the error of a server that answers with a status from 500.
    pub(super) fn failed_on(server: &'static str) -> Self {
        Self::Unreachable { server, cause: "the request for metadata failed on the server".to_owned() }
    }

    /// Returns the error of a server that a user of the program chose. The user must not learn which hosts exist, and what they answer.
    pub(in crate::client) fn of_untrusted(self) -> Self {
        match self {
            Self::BudgetExhausted
            | Self::AlreadyFinished
            | Self::RefreshPending
            | Self::StoreFailed { .. }
            | Self::Untrusted { .. } => self,
            error => Self::Untrusted { cause: format!("{error} ({})", error.cause()) },
        }
    }

    /// Returns the error without its description, if an authorization server has written one of the `secrets` of the request into it.
    pub(super) fn without(mut self, secrets: &[&str]) -> Self {
        if let Self::Rejected { description, .. } = &mut self
            && secrets.iter().any(|secret| !secret.is_empty() && description.contains(secret))
        {
            description.clear();
        }
        self
    }

    /// Returns the details for the log.
    pub(in crate::client) fn cause(&self) -> String {
        match self {
            Self::Unreachable { cause, .. }
            | Self::Malformed { cause, .. }
            | Self::CannotAuthenticate { cause }
            | Self::Untrusted { cause }
            | Self::StoreFailed { cause } => cause.clone(),
            Self::Rejected { reason, description } | Self::NotRegistered { reason, description } => {
                let separator = if description.is_empty() { "" } else { ": " };
                format!("the authorization server answers {reason}{separator}{description}")
            }
            Self::UnsafeUrl { .. }
            | Self::WrongResource
            | Self::IssuerMismatch
            | Self::WrongIssuer
            | Self::NoResourceMetadata
            | Self::NoAuthorizationServer
            | Self::NoAuthorizationEndpoint
            | Self::NoPkce
            | Self::ClientOfOtherServer
            | Self::NoServerMetadata => "the discovery of the authorization server failed".to_owned(),
            _ => "the request for an access token failed".to_owned(),
        }
    }

    /// Returns the failure of a request to the MCP server.
    pub(in crate::client) fn into_client_error(self) -> ClientError {
        match self {
            Self::BudgetExhausted => Failure::BudgetExhausted.into(),
            error => ClientError::new(Failure::not_called(&error), Some(error.cause())),
        }
    }

    /// Returns whether the token endpoint rejects the request with this error code.
    pub(in crate::client) fn is_reason(&self, code: &str) -> bool {
        matches!(self, Self::Rejected { reason, .. } if reason == code)
    }

    /// Returns whether the authorization server does not know the client. That of the Python SDK 1.x then answers `unauthorized_client`.
    pub(in crate::client) fn is_unknown_client(&self) -> bool {
        self.is_reason("invalid_client") || self.is_reason("unauthorized_client")
    }

    /// Returns whether a refresh cannot succeed any more: the refresh token or the client is not valid.
    pub(in crate::client) fn ends_access(&self) -> bool {
        self.is_reason("invalid_grant") || self.is_unknown_client()
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BudgetExhausted => f.write_str("the connection has sent all requests that it may send."),
            Self::Unreachable { server, .. } => write!(f, "{server} cannot be reached. Try again later."),
            Self::NoResourceMetadata => {
                f.write_str("it does not name its authorization server. Configure the token endpoint.")
            }
            Self::WrongResource => f.write_str(
                "its metadata describes another resource. Check its URL, or set the resource with `Upstream::resource`.",
            ),
            Self::NoAuthorizationServer => f.write_str("its metadata names no authorization server."),
            Self::WrongIssuer => f.write_str(
                "it does not use the authorization server that the credentials of this program belong to. Check the issuer.",
            ),
            Self::NoServerMetadata => {
                f.write_str("its authorization server has no metadata. Configure the token endpoint.")
            }
            Self::NoAuthorizationEndpoint => f.write_str("its authorization server has no authorization endpoint."),
            Self::NoPkce => f.write_str("its authorization server does not support PKCE with S256."),
            Self::IssuerMismatch => f.write_str("the metadata of its authorization server has another issuer."),
            Self::Malformed { document, .. } => write!(f, "{document} is not valid."),
            Self::UnsafeUrl { member, problem } => write!(f, "the URL `{member}` in its challenge or metadata {problem}."),
            Self::UnsupportedAuthentication { method } => {
                write!(f, "its authorization server does not support the authentication method `{method}`.")
            }
            Self::CannotAuthenticate { .. } => f.write_str(
                "this program cannot authenticate to the authorization server. Check the credentials of this program.",
            ),
            Self::Rejected { reason, .. } => {
                write!(f, "its authorization server rejects the request for an access token ({reason}).")
            }
            Self::InvalidAnswer(problem) => write!(f, "its authorization server {problem}."),
            Self::NoClientId => f.write_str(
                "this program has no client id for its authorization server. The operator must register this program there.",
            ),
            Self::NotRegistered { reason, .. } => {
                write!(f, "its authorization server does not register this program ({reason}).")
            }
            Self::ClientOfOtherServer => f.write_str(
                "the client of this program at its authorization server is for other servers. Add it with `OwnClient::server`.",
            ),
            Self::Untrusted { .. } => f.write_str("its authorization server cannot be used."),
            Self::AlreadyFinished => f.write_str("this sign-in has been used already. Begin again."),
            Self::RefreshPending => {
                f.write_str("another request of this program still refreshes its token. Try again later.")
            }
            Self::StoreFailed { .. } => f.write_str("this program cannot use its token store. Try again later."),
            Self::DpopRequired => f.write_str(
                "its authorization server issued a token that is not a bearer token, but requires DPoP, which is not supported.",
            ),
        }
    }
}
