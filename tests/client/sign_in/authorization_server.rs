//! The network of a program: the metadata of the tracker, and an authorization server.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::host::{Fetched, Host};
use edge_mcp::testing::TestHost;
use http::Request;
use serde_json::{Value, json};

use super::tracker::Accepted;

pub const TRACKER: &str = "https://tracker.example/mcp";
pub const ISSUER: &str = "https://auth.example";
pub const RESOURCE_METADATA: &str = "https://tracker.example/.well-known/oauth-protected-resource/mcp";
pub const SERVER_METADATA: &str = "https://auth.example/.well-known/oauth-authorization-server";
pub const AUTHORIZE: &str = "https://auth.example/authorize";
pub const TOKEN: &str = "https://auth.example/token";
pub const REVOKE: &str = "https://auth.example/revoke";
pub const REGISTER: &str = "https://auth.example/register";

/// The codes that browsers bring from the authorization server.
const CODES: [&str; 2] = ["SECRET-code", "c"];

/// The answer to one request.
#[derive(Clone)]
pub struct Reply {
    status: u16,
    body: String,
    pause: Duration,
}

impl Reply {
    pub fn new(status: u16, body: &Value) -> Self {
        Self::text(status, &body.to_string())
    }

    pub fn text(status: u16, body: &str) -> Self {
        Self { status, body: body.to_owned(), pause: Duration::ZERO }
    }

    /// The error of a token endpoint.
    pub fn error(code: &str) -> Self {
        Self::new(400, &json!({ "error": code, "error_description": "The value 'SECRET-DESCRIPTION' is not valid" }))
    }

    /// An answer that takes an hour.
    pub fn silence() -> Self {
        Self::text(200, "").after(Duration::from_hours(1))
    }

    pub fn after(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }
}

/// An authorization server, and everything else in the network of the program. A clone is the same server.
#[derive(Clone)]
pub struct AuthorizationServer(Rc<State>);

struct State {
    documents: RefCell<Vec<(String, Value)>>,
    /// The next answers of each endpoint.
    replies: RefCell<Vec<(String, VecDeque<Reply>)>>,
    /// The members of each token answer.
    issued: RefCell<Value>,
    count: Cell<usize>,
    accepted: Accepted,
    events: Rc<RefCell<Vec<String>>>,
}

impl AuthorizationServer {
    pub fn new(accepted: &Accepted, events: &Rc<RefCell<Vec<String>>>) -> Self {
        let resource = json!({ "resource": TRACKER, "authorization_servers": [ISSUER] });
        let server = json!({
            "issuer": ISSUER, "authorization_endpoint": AUTHORIZE, "token_endpoint": TOKEN, "revocation_endpoint": REVOKE,
            "code_challenge_methods_supported": ["S256"], "client_id_metadata_document_supported": true,
        });
        let documents = vec![(RESOURCE_METADATA.to_owned(), resource), (SERVER_METADATA.to_owned(), server)];
        Self(Rc::new(State {
            documents: RefCell::new(documents),
            replies: RefCell::default(),
            issued: RefCell::new(json!({ "token_type": "Bearer", "expires_in": 3600 })),
            count: Cell::new(0),
            accepted: accepted.clone(),
            events: events.clone(),
        }))
    }

    /// Changes members of a metadata document, or adds a document.
    pub fn change(&self, url: &str, members: &Value) {
        let mut documents = self.0.documents.borrow_mut();
        match documents.iter_mut().find(|(known, _)| known == url) {
            Some((_, document)) => {
                let document = document.as_object_mut().expect("an object");
                document.extend(members.as_object().expect("an object").clone());
            }
            None => documents.push((url.to_owned(), members.clone())),
        }
    }

    /// Changes the members of all further token answers.
    pub fn issue(&self, members: &Value) {
        let mut issued = self.0.issued.borrow_mut();
        issued.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    }

    /// Prepares the next answer of an endpoint.
    pub fn reply(&self, url: &str, reply: Reply) {
        let mut replies = self.0.replies.borrow_mut();
        match replies.iter_mut().find(|(known, _)| known == url) {
            Some((_, replies)) => replies.push_back(reply),
            None => replies.push((url.to_owned(), [reply].into())),
        }
    }

    /// Answers the requests of a host.
    pub fn serve(&self, host: TestHost) -> TestHost {
        let (server, clock) = (self.clone(), host.clone());
        host.fetch(move |request, _| {
            let (reply, clock) = (server.answer(&request), clock.clone());
            async move {
                if !reply.pause.is_zero() {
                    clock.sleep(reply.pause).await;
                }
                Ok(Fetched::new(reply.status, reply.body))
            }
        })
    }

    fn answer(&self, request: &Request<String>) -> Reply {
        let url = request.uri().to_string();
        self.0.events.borrow_mut().push(format!("fetch {url}"));
        let mut replies = self.0.replies.borrow_mut();
        let prepared = replies.iter_mut().find(|(known, _)| *known == url);
        if let Some(reply) = prepared.and_then(|(_, replies)| replies.pop_front()) {
            return reply;
        }
        match url.as_str() {
            TOKEN => self.token(request.body()),
            REVOKE => Reply::text(200, ""),
            REGISTER => Reply::new(201, &json!({ "client_id": format!("registered-{}", self.next()) })),
            _ => {
                let documents = self.0.documents.borrow();
                let document = documents.iter().find(|(known, _)| *known == url);
                document.map_or(Reply::text(404, ""), |(_, document)| Reply::new(200, document))
            }
        }
    }

    /// Issues an access token and a refresh token. Each has the number of the answer. A code that it did not issue is not valid.
    fn token(&self, form: &str) -> Reply {
        let code = form_urlencoded::parse(form.as_bytes()).find(|(name, _)| name == "code").map(|(_, code)| code);
        if code.is_some_and(|code| !CODES.contains(&&*code)) {
            return Reply::error("invalid_grant");
        }
        let number = self.next();
        let mut answer = json!({ "access_token": access(number), "refresh_token": refresh(number) });
        let issued = self.0.issued.borrow();
        answer.as_object_mut().expect("an object").extend(issued.as_object().expect("an object").clone());
        self.0.accepted.add(&access(number));
        Reply::new(200, &answer)
    }

    fn next(&self) -> usize {
        self.0.count.set(self.0.count.get() + 1);
        self.0.count.get()
    }
}

/// The access token and the refresh token with a number.
pub fn access(number: usize) -> String {
    format!("SECRET-access-{number}")
}

pub fn refresh(number: usize) -> String {
    format!("SECRET-refresh-{number}")
}
