//! The authentication of a client to an authorization server.
//!
//! Source: RFC 6749 §2.3.1; RFC 7523 §2.2; RFC 7591 §2 for the names of the methods.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};

use crate::base64::STANDARD;
use crate::config::SecureUrl;
use crate::host::{CannotSign, Host};

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

pub(crate) type Form = form_urlencoded::Serializer<'static, String>;

/// The method and the credentials with which a client authenticates to an authorization server.
pub(crate) enum ClientAuthentication {
    /// No credential (`none`), but the client id, if there is one.
    None(Option<String>),
    /// The client id and the secret in the `Authorization` header (`client_secret_basic`).
    Basic(String, String),
    /// The client id and the secret as form fields (`client_secret_post`).
    Post(String, String),
    /// A signed assertion (`private_key_jwt`). It is a trait object, so that a wasm module contains its code only if the program uses it.
    PrivateKeyJwt(Rc<dyn Assertion>),
    /// A bearer token. Only introspection uses it (RFC 7662 §2.1).
    Bearer(String),
}

/// A client that can sign assertions.
pub(crate) trait Assertion {
    fn client_id(&self) -> &str;

    /// Returns an assertion for the authorization server that `audience` identifies.
    ///
    /// # Errors
    /// The host cannot sign.
    fn sign<'a>(&'a self, audience: &'a str, host: &'a dyn Host) -> LocalBoxFuture<'a, Result<String, CannotSign>>;
}

impl ClientAuthentication {
    /// Returns the name of the method in the metadata of authorization servers.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::None(_) => "none",
            Self::Basic(..) => "client_secret_basic",
            Self::Post(..) => "client_secret_post",
            Self::PrivateKeyJwt(_) => "private_key_jwt",
            Self::Bearer(_) => "bearer",
        }
    }

    /// Returns the client id, or an empty text.
    pub(crate) fn client_id(&self) -> &str {
        match self {
            Self::None(id) => id.as_deref().unwrap_or_default(),
            Self::Basic(id, _) | Self::Post(id, _) => id,
            Self::PrivateKeyJwt(assertion) => assertion.client_id(),
            Self::Bearer(_) => "",
        }
    }

    /// Returns the secret, or an empty text.
    pub(crate) fn secret(&self) -> &str {
        match self {
            Self::Basic(_, secret) | Self::Post(_, secret) | Self::Bearer(secret) => secret,
            Self::None(_) | Self::PrivateKeyJwt(_) => "",
        }
    }

    /// Creates the request that posts `form` to `endpoint` as this client. `audience` identifies the authorization server.
    ///
    /// # Errors
    /// The text, which is for the log, says why the client cannot authenticate.
    pub(crate) async fn post(
        &self,
        endpoint: &SecureUrl,
        mut form: Form,
        audience: &str,
        host: &dyn Host,
    ) -> Result<Request<String>, String> {
        let mut authorization = None;
        match self {
            Self::None(None) => {}
            Self::None(Some(id)) => drop(form.append_pair("client_id", id)),
            Self::Basic(id, secret) => {
                // RFC 6749 §2.3.1: the colon separates the two parts, so they are form-encoded first.
                let pair = STANDARD.encode(format!("{}:{}", form_encoded(id), form_encoded(secret)));
                authorization = Some(format!("Basic {pair}"));
            }
            Self::Post(id, secret) => drop(form.append_pair("client_id", id).append_pair("client_secret", secret)),
            Self::PrivateKeyJwt(assertion) => {
                let signed = assertion.sign(audience, host).await.map_err(|error| error.to_string())?;
                form.append_pair("client_id", assertion.client_id())
                    .append_pair("client_assertion_type", JWT_BEARER)
                    .append_pair("client_assertion", &signed);
            }
            Self::Bearer(token) => authorization = Some(format!("Bearer {token}")),
        }
        let mut request = endpoint.request(Method::POST, form.finish());
        request.headers_mut().insert(CONTENT_TYPE, FORM);
        if let Some(value) = authorization {
            let problem = |_| "the client secret has characters that a header cannot contain";
            let mut value = HeaderValue::from_str(&value).map_err(problem)?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        Ok(request)
    }
}

fn form_encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
