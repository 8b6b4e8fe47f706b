//! A program with the sign-in of persons to a tracker.

use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::Context;
use edge_mcp::auth::Principal;
use edge_mcp::client::{
    ClientError, Connection, Failure, McpClient, MemoryTokens, OwnClient, SignIn, TokenKeys, TokenStore, Upstream,
};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::TestHost;
use serde_json::json;

use super::authorization_server::{AuthorizationServer, TRACKER};
use super::browser::{Browser, Page, context, run};
use super::recorded_store::RecordedStore;
use super::tracker::Tracker;

pub const KEY: &str = "0123456789abcdef0123456789abcdef";
pub const PAGE: &str = "https://desk.example/sign-in";

/// The program, and the servers of its network.
pub struct Program {
    pub host: TestHost,
    pub tracker: Tracker,
    pub authorization: AuthorizationServer,
    pub store: RecordedStore,
    pub sign_in: SignIn,
    pub client: McpClient,
    /// The requests of the program and the operations of its store, in order.
    pub events: Rc<RefCell<Vec<String>>>,
}

/// Returns a client that the operator registered for the tracker, with the scope `read`.
pub fn own_client(issuer: &str, id: &str) -> OwnClient {
    OwnClient::new(issuer, id).server("tracker", ["read"])
}

pub fn keys(text: &str) -> TokenKeys {
    TokenKeys::from_text("MCP_TOKEN_KEY", Some(text)).expect("keys")
}

impl Program {
    pub fn new() -> Self {
        Self::with(|sign_in| sign_in)
    }

    /// Creates a program with other settings.
    pub fn with(settings: impl FnOnce(SignIn) -> SignIn) -> Self {
        Self::at(PAGE, MemoryTokens::new(), settings)
    }

    /// Creates a program whose first page is at `page`.
    pub fn at(page: &str, store: impl TokenStore + 'static, settings: impl FnOnce(SignIn) -> SignIn) -> Self {
        let events = Rc::default();
        let tracker = Tracker::new(&events);
        let authorization = AuthorizationServer::new(&tracker.accepted, &events);
        let host = authorization.serve(TestHost::new());
        let store = RecordedStore::new(store, &events);
        let sign_in = settings(SignIn::new("Desk", page, keys(KEY), store.clone()).expect("settings"));
        let client = client(&sign_in, &tracker);
        Self { host, tracker, authorization, store, sign_in, client, events }
    }

    /// Returns the program with other settings and the same store, as another isolate or a later version has it.
    pub fn again(&self, keys_text: &str, settings: impl FnOnce(SignIn) -> SignIn) -> Self {
        let sign_in = SignIn::new("Desk", PAGE, keys(keys_text), self.store.clone()).expect("settings");
        let sign_in = settings(sign_in);
        Self {
            host: self.host.clone(),
            tracker: self.tracker.clone(),
            authorization: self.authorization.clone(),
            store: self.store.clone(),
            client: client(&sign_in, &self.tracker),
            sign_in,
            events: self.events.clone(),
        }
    }

    pub fn begin(&self, cx: &Context, person: &str) -> Page {
        let person = Principal::new(person);
        Page::read(run(&self.host, self.sign_in.begin(&self.client, cx, &person)))
    }

    /// Signs a person in, at the link of the program.
    pub fn sign_in_as(&self, person: &str) {
        self.sign_in_at("?server=tracker", person);
    }

    /// Signs a person in, at a link with this query.
    pub fn sign_in_at(&self, query: &str, person: &str) -> Page {
        let mut browser = Browser::default();
        let begun = browser.begin(self, query, person);
        let state = begun.parameter("state").expect("a state");
        let page = browser.finish(self, &format!("?code=SECRET-code&state={state}"), person);
        assert_eq!(page.status, 200, "{page:?}");
        begun
    }

    /// Creates a connection for a call of this person.
    pub fn connect(&self, person: &str) -> Connection {
        self.client.connect(&context(
            http::Request::post("https://desk.example/mcp"),
            &self.host,
            Some(Principal::new(person)),
        ))
    }

    /// Calls a tool of the tracker for a person.
    pub fn call(&self, person: &str) -> Result<String, ClientError> {
        let call = self.calling(person);
        run(&self.host, call)
    }

    pub fn calling(&self, person: &str) -> impl Future<Output = Result<String, ClientError>> + use<> {
        let connection = self.connect(person);
        async move {
            let result = connection.server("tracker")?.call("track", json!({})).await?;
            Ok(result.text())
        }
    }

    /// Calls a tool, and returns the query of the link to which the call leads.
    pub fn link(&self, person: &str) -> String {
        query(&self.call(person).expect_err("a failure"))
    }

    /// Returns the bodies of the requests to an endpoint.
    pub fn sent(&self, url: &str) -> Vec<String> {
        let requests = self.host.requests().into_iter().filter(|request| *request.uri() == *url);
        requests.map(http::Request::into_body).collect()
    }

    /// Returns a field of the last request to an endpoint.
    pub fn field(&self, url: &str, name: &str) -> Option<String> {
        let form = self.sent(url).pop().expect("a request");
        let found = form_urlencoded::parse(form.as_bytes()).find(|(known, _)| known == name);
        found.map(|(_, value)| value.into_owned())
    }
}

fn client(sign_in: &SignIn, tracker: &Tracker) -> McpClient {
    let upstream = Upstream::via(TRACKER, tracker.clone()).expect("a URL");
    let upstream = upstream.revision(Revision::V2026_07_28).sign_in(sign_in);
    let other = Upstream::at("https://public.example/mcp").expect("a URL");
    McpClient::builder("desk", "1.0.0").server("tracker", upstream).server("public", other).build().expect("a client")
}

/// Returns the query of the link in an error.
pub fn query(error: &ClientError) -> String {
    let Failure::SignInRequired { url } = error.failure() else { panic!("no link: {error}") };
    let query = url.strip_prefix(PAGE).expect("the page of the program");
    assert!(query.starts_with("?ticket="), "{url}");
    query.to_owned()
}
