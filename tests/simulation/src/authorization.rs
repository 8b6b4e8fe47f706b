//! The authorization servers at which persons sign in: metadata, codes with PKCE, rotating refresh tokens and revocation.
//!
//! An authorization server replaces the refresh token at each refresh. If an old one is used again, it ends the access, as RFC 9700 §4.14
//! recommends. The access tokens of a person at a server belong to the owner `ada-at-s1`, the refresh tokens to `ada-refresh-a0`, and the codes
//! to `ada-code-a0`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::channel::oneshot;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::case::{Plan, ServerPlan};
use crate::faults::Point;
use crate::ledger::{Invariant, mark};
use crate::network::{Head, Sent, Service, answer};
use crate::rogue;
use crate::sign_in;
use crate::upstream;
use crate::world::World;

/// The number of authorization servers.
pub const COUNT: usize = 2;
/// The authorization server at which the operator has registered the program, and the id of the client.
pub const CONFIGURED: usize = 1;
pub const OWN_CLIENT: &str = "own-client";
/// The id of a client of somebody else, which a wrong deployment has.
pub const WRONG_CLIENT: &str = "another-client";
/// The error of a page for a client that the authorization server does not know.
pub const UNKNOWN_CLIENT: &str = "unknown_client";
/// The lifetime of a code in milliseconds. It is longer than that of a sign-in in the program.
const CODE_MS: u64 = 900_000;

/// The name of an authorization server.
pub fn name(number: usize) -> String {
    format!("a{number}")
}

pub fn issuer(number: usize) -> String {
    format!("https://a{number}.example")
}

/// Returns the authorization server of a server.
pub fn of_server(server: usize) -> usize {
    server % COUNT
}

/// The cookie of a browser whose person is known to the authorization servers.
pub fn login(person: &str) -> String {
    mark(&format!("{person}-login"), "cookie")
}

/// Adds the authorization servers to the network.
pub fn add(world: &Rc<World>, plan: &Rc<Plan>) {
    if plan.servers.iter().any(|server| server.sign_in.is_some()) {
        for number in 0..COUNT {
            world
                .services
                .add(&issuer(number), Rc::new(Authorization { world: world.clone(), plan: plan.clone(), number }));
        }
    }
}

/// The accesses that persons have allowed, at all authorization servers.
#[derive(Default)]
pub struct Grants(RefCell<State>);

#[derive(Default)]
struct State {
    grants: Vec<Grant>,
    codes: BTreeMap<String, Code>,
    access_tokens: BTreeMap<String, AccessToken>,
    refresh_tokens: BTreeMap<String, RefreshToken>,
    /// The registered clients, and whether their server still knows them.
    clients: BTreeMap<String, bool>,
}

struct Grant {
    client: String,
    person: String,
    server: usize,
    has_ended: bool,
    /// Whether one of its access tokens has been revoked. A client gets one new token for a rejected one.
    has_revoked: bool,
}

struct Code {
    client: String,
    person: String,
    server: usize,
    challenge: String,
    expires_ms: u64,
    grant: Option<usize>,
}

struct AccessToken {
    grant: usize,
    expires_ms: u64,
    is_revoked: bool,
    /// The number of the token, and whether it is the first one of its grant.
    number: u64,
    is_first: bool,
}

struct RefreshToken {
    grant: usize,
    is_used: bool,
    /// The number of jumps of the clock when it was issued.
    jumps: u64,
}

impl Grants {
    /// Returns whether a server accepts an access token.
    pub fn accept(&self, world: &World, server: usize, token: &str) -> bool {
        let was_stored = world.sign_ins.database.get().is_none_or(|(_, rows)| rows.was_stored(token));
        world.ledger.check(was_stored, Invariant::NoLostEffect, || {
            format!("the access token {token} is used, and was never stored")
        });
        let mut state = self.0.borrow_mut();
        let State { grants, access_tokens, .. } = &mut *state;
        let Some(token) = access_tokens.get_mut(token) else { return false };
        let grant = &mut grants[token.grant];
        if !grant.has_revoked && world.faults.at(Point::TokenRevoked).is_some() {
            (token.is_revoked, grant.has_revoked) = (true, true);
        }
        grant.server == server && !grant.has_ended && !token.is_revoked && world.schedule.now_ms() < token.expires_ms
    }

    /// Returns the person and the server of a refresh token, and the number of jumps of the clock when it was issued.
    pub fn of_refresh_token(&self, token: &str) -> Option<(String, usize, u64)> {
        let state = self.0.borrow();
        let token = state.refresh_tokens.get(token)?;
        let grant = &state.grants[token.grant];
        Some((grant.person.clone(), grant.server, token.jumps))
    }

    /// Returns whether a refresh token can be used.
    pub fn is_live(&self, token: &str) -> bool {
        let state = self.0.borrow();
        let Some(token) = state.refresh_tokens.get(token) else { return false };
        let grant = &state.grants[token.grant];
        !token.is_used && !grant.has_ended && state.clients.get(&grant.client).copied().unwrap_or(true)
    }

    /// Returns the number of the grant of an access token, the number of the token, and whether it is the first one of its grant.
    pub fn of_access_token(&self, token: &str) -> Option<(usize, u64, bool)> {
        let state = self.0.borrow();
        state.access_tokens.get(token).map(|token| (token.grant, token.number, token.is_first))
    }

    /// Returns the person and the server for which a code was exchanged.
    pub fn of_code(&self, code: &str) -> Option<(String, usize)> {
        let state = self.0.borrow();
        let grant = &state.grants[state.codes.get(code)?.grant?];
        Some((grant.person.clone(), grant.server))
    }
}

/// An authorization server.
struct Authorization {
    world: Rc<World>,
    plan: Rc<Plan>,
    number: usize,
}

/// The answer to a request.
struct Reply {
    status: u16,
    body: Value,
    location: Option<String>,
}

impl Reply {
    fn new(status: u16, body: Value) -> Self {
        Self { status, body, location: None }
    }

    fn error(code: &str) -> Self {
        Self::new(400, json!({ "error": code }))
    }
}

type Parameters = BTreeMap<String, String>;

fn parameters(text: &[u8]) -> Parameters {
    form_urlencoded::parse(text).into_owned().collect()
}

impl Authorization {
    fn own(&self, endpoint: &str) -> String {
        format!("{}/{endpoint}", issuer(self.number))
    }

    /// Returns the person whose browser sends a request.
    fn person(&self, request: &Sent) -> Option<String> {
        let cookie = request.value("cookie")?.strip_prefix("login=")?;
        self.world.callers.iter().find(|person| login(person) == cookie).cloned()
    }

    /// Checks that a request has nothing that was not meant for this server.
    fn check(&self, request: &Sent, path: &str) {
        let (ledger, own) = (&self.world.ledger, name(self.number));
        let owners = |kind: &str| self.world.callers.iter().map(|person| format!("{person}-{kind}-{own}")).collect();
        let refresh: Vec<String> = owners("refresh");
        let codes: Vec<String> = owners("code");
        ledger.scan(request.url.as_bytes(), &[], &own);
        for (name, value) in &request.headers {
            let login = self.person(request).map(|person| format!("{person}-login"));
            let allowed = login.as_deref().filter(|_| name == "cookie");
            ledger.scan(value.as_bytes(), allowed.as_slice(), &own);
        }
        let allowed = match path {
            "/token" => [refresh, codes].concat(),
            "/revoke" => refresh,
            _ => Vec::new(),
        };
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        ledger.scan(&request.body, &allowed, &own);
    }

    fn metadata(&self) -> Reply {
        if self.world.faults.at(Point::ServerFails).is_some() {
            return Reply::new(500, Value::Null);
        }
        let mut metadata = json!({
            "issuer": issuer(self.number), "authorization_endpoint": self.own("authorize"), "token_endpoint": self.own("token"),
            "revocation_endpoint": self.own("revoke"), "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": !self.is_lax(),
        });
        if self.registers() {
            metadata["registration_endpoint"] = json!(self.own("register"));
        } else {
            metadata["client_id_metadata_document_supported"] = json!(true);
        }
        Reply::new(200, metadata)
    }

    /// Returns whether the authorization server does not know all that it should: it ignores the resource of a request, and does not name
    /// itself in its answers.
    fn is_lax(&self) -> bool {
        self.number == CONFIGURED && rogue::exists(&self.plan)
    }

    /// Returns whether clients register themselves. The other authorization server reads metadata documents.
    fn registers(&self) -> bool {
        self.number == 0
    }

    fn registered(&self, body: &[u8]) -> Reply {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        self.world.ledger.check(body["redirect_uris"] == json!([sign_in::CALLBACK]), Invariant::OwnResult, || {
            format!("{} gets an invalid registration: {body}", name(self.number))
        });
        let mut state = self.world.sign_ins.grants.0.borrow_mut();
        let id = format!("{}-client-{}", name(self.number), state.clients.len());
        state.clients.insert(id.clone(), true);
        Reply::new(201, json!({ "client_id": id }))
    }

    /// Returns the id of the client that does not register itself.
    fn client(&self) -> &'static str {
        if self.plan.has_own_client { OWN_CLIENT } else { sign_in::CLIENT_ID }
    }

    /// Returns whether a client is known, or was.
    fn has_client(&self, id: &str) -> bool {
        let state = self.world.sign_ins.grants.0.borrow();
        if self.registers() { state.clients.contains_key(id) } else { id == self.client() }
    }

    /// Returns whether the authorization server has forgotten a client that it has registered.
    fn has_forgotten(&self, id: &str) -> bool {
        self.world.sign_ins.grants.0.borrow().clients.get(id) == Some(&false)
    }

    /// Returns whether the token endpoint knows a client.
    fn knows_client(&self, id: &str) -> bool {
        if !self.registers() {
            return id == self.client();
        }
        let mut state = self.world.sign_ins.grants.0.borrow_mut();
        let Some(is_known) = state.clients.get_mut(id) else { return false };
        *is_known &= self.world.faults.at(Point::ClientForgotten).is_none();
        *is_known
    }

    /// Sends a browser back with a code, or with an error if the person does not allow the access.
    fn authorize(&self, request: &Sent, parameters: &Parameters) -> Reply {
        let value = |name: &str| parameters.get(name).map_or("", String::as_str);
        let server = (0..self.plan.servers.len()).find(|server| upstream::url(*server) == value("resource"));
        let server = server.filter(|server| of_server(*server) == self.number);
        let server = server.or_else(|| rogue::victim(&self.plan).filter(|_| self.is_lax()));
        if value("client_id") == WRONG_CLIENT && self.world.faults.fired_at(Point::ClientIsWrong) > 0 {
            return Reply::error("invalid_client");
        }
        if self.has_forgotten(value("client_id")) {
            // No browser is sent back to an unknown client.
            return Reply::error(UNKNOWN_CLIENT);
        }
        let is_valid = self.has_client(value("client_id"))
            && value("redirect_uri") == sign_in::CALLBACK
            && value("response_type") == "code"
            && value("code_challenge_method") == "S256"
            && value("code_challenge").len() == 43
            && value("state").len() >= 16;
        self.world.ledger.check(is_valid && server.is_some(), Invariant::OwnResult, || {
            format!("{} gets an invalid request for a code: {parameters:?}", name(self.number))
        });
        let (Some(person), Some(server)) = (self.person(request), server) else { return Reply::error("access_denied") };
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("state", value("state"));
        if !self.is_lax() {
            query.append_pair("iss", &issuer(self.number));
        }
        if self.world.faults.at(Point::PersonDeclines).is_some() {
            query.append_pair("error", "access_denied");
        } else {
            let mut state = self.world.sign_ins.grants.0.borrow_mut();
            let code = mark(&format!("{person}-code-{}", name(self.number)), &state.codes.len().to_string());
            query.append_pair("code", &code);
            let expires_ms = self.world.schedule.now_ms() + CODE_MS;
            let challenge = value("code_challenge").to_owned();
            let client = value("client_id").to_owned();
            state.codes.insert(code, Code { client, person, server, challenge, expires_ms, grant: None });
        }
        let location = format!("{}?{}", sign_in::CALLBACK, query.finish());
        Reply { location: Some(location), ..Reply::new(302, Value::Null) }
    }

    fn token(&self, parameters: &Parameters) -> Reply {
        let faults = &self.world.faults;
        let value = |name: &str| parameters.get(name).map_or("", String::as_str);
        if faults.at(Point::TokenServerFails).is_some() {
            return Reply::new(503, Value::Null);
        }
        if !self.knows_client(value("client_id")) {
            return Reply::error("invalid_client");
        }
        let granted = match value("grant_type") {
            "authorization_code" => self.exchanged(parameters),
            "refresh_token" => self.refreshed(value("refresh_token"), parameters),
            _ => None,
        };
        let Some(grant) = granted else { return Reply::error("invalid_grant") };
        let reply = self.issued(grant);
        if faults.at(Point::TokenServerFailsLate).is_some() { Reply::new(500, Value::Null) } else { reply }
    }

    /// Exchanges a code. Returns the number of the grant.
    fn exchanged(&self, parameters: &Parameters) -> Option<usize> {
        let value = |name: &str| parameters.get(name).map_or("", String::as_str);
        let mut state = self.world.sign_ins.grants.0.borrow_mut();
        let State { codes, grants, .. } = &mut *state;
        let code = codes.get_mut(value("code"))?;
        let is_own = URL_SAFE_NO_PAD.encode(Sha256::digest(value("code_verifier"))) == code.challenge
            && value("client_id") == code.client
            && (value("resource") == upstream::url(code.server) || self.is_lax())
            && value("redirect_uri") == sign_in::CALLBACK;
        if !is_own || self.world.schedule.now_ms() > code.expires_ms {
            return None;
        }
        if let Some(grant) = code.grant {
            grants[grant].has_ended = true;
            return None;
        }
        code.grant = Some(grants.len());
        grants.push(Grant {
            client: code.client.clone(),
            person: code.person.clone(),
            server: code.server,
            has_ended: false,
            has_revoked: false,
        });
        code.grant
    }

    /// Uses a refresh token. Returns the number of its grant.
    fn refreshed(&self, token: &str, parameters: &Parameters) -> Option<usize> {
        let mut state = self.world.sign_ins.grants.0.borrow_mut();
        let State { refresh_tokens, grants, .. } = &mut *state;
        let token = refresh_tokens.get_mut(token)?;
        let grant = &mut grants[token.grant];
        let is = |name: &str, expected: &str| parameters.get(name).is_some_and(|value| value == expected);
        let is_own = is("resource", &upstream::url(grant.server)) && is("client_id", &grant.client);
        self.world.ledger.check(is_own, Invariant::OwnResult, || {
            format!("a refresh token for {} is used with {parameters:?}", upstream::name(grant.server))
        });
        let is_used = std::mem::replace(&mut token.is_used, true);
        if self.world.faults.at(Point::GrantEnds).is_some() {
            grant.has_ended = true;
            self.world.sign_ins.change(&self.world, &grant.person, grant.server, false);
        }
        grant.has_ended |= is_used;
        (!grant.has_ended).then_some(token.grant)
    }

    /// Issues an access token and a refresh token.
    fn issued(&self, number: usize) -> Reply {
        let mut state = self.world.sign_ins.grants.0.borrow_mut();
        let Grant { person, server, .. } = &state.grants[number];
        let seconds = self.plan.servers[*server].sign_in.unwrap_or(60);
        let access = format!("t{}", state.access_tokens.len());
        let access = mark(&format!("{person}-at-{}", upstream::name(*server)), &access);
        let refresh = format!("r{}", state.refresh_tokens.len());
        let refresh = mark(&format!("{person}-refresh-{}", name(self.number)), &refresh);
        let expires_ms = self.world.schedule.now_ms() + seconds * 1000;
        let jumps = self.world.faults.fired_at(Point::ClockJumps);
        let is_first = state.access_tokens.values().all(|token| token.grant != number);
        let token = AccessToken {
            grant: number,
            expires_ms,
            is_revoked: false,
            number: state.access_tokens.len() as u64,
            is_first,
        };
        state.access_tokens.insert(access.clone(), token);
        state.refresh_tokens.insert(refresh.clone(), RefreshToken { grant: number, is_used: false, jumps });
        Reply::new(
            200,
            json!({ "access_token": access, "token_type": "Bearer", "expires_in": seconds, "refresh_token": refresh }),
        )
    }

    fn revoked(&self, token: &str) -> Reply {
        let mut state = self.world.sign_ins.grants.0.borrow_mut();
        let State { refresh_tokens, grants, .. } = &mut *state;
        if let Some(token) = refresh_tokens.get(token) {
            grants[token.grant].has_ended = true;
        }
        Reply::new(200, json!({}))
    }
}

impl Service for Authorization {
    fn serve(&self, request: Sent, to: oneshot::Sender<Head>) {
        if request.is_cut {
            return;
        }
        let rest = request.url.strip_prefix(&issuer(self.number)).unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        self.check(&request, path);
        let reply = match (&*request.method, path) {
            ("GET", "/.well-known/oauth-authorization-server") => self.metadata(),
            ("GET", "/authorize") => self.authorize(&request, &parameters(query.as_bytes())),
            ("POST", "/register") if self.registers() => self.registered(&request.body),
            ("POST", "/token") => self.token(&parameters(&request.body)),
            ("POST", "/revoke") => self.revoked(parameters(&request.body).get("token").map_or("", String::as_str)),
            _ => Reply::new(404, Value::Null),
        };
        self.world.trace(|| format!("{} answers {path} with {} {}", name(self.number), reply.status, reply.body));
        send(to, reply);
    }
}

fn send(to: oneshot::Sender<Head>, reply: Reply) {
    let mut headers = HeaderMap::new();
    if let Some(location) = reply.location {
        headers.insert("location", HeaderValue::from_str(&location).expect("ASCII"));
    }
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let text = if reply.body.is_null() { String::new() } else { reply.body.to_string() };
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    answer(to, reply.status, headers, vec![first.to_vec(), second.to_vec()]);
}

/// Checks after everybody has removed their accesses that the authorization servers have ended all of them, if nothing has failed.
pub fn check_end(world: &World) {
    if world.faults.has_failed_except(&[]) || world.faults.fired_at(Point::GrantEnds) > 0 {
        return;
    }
    let state = world.sign_ins.grants.0.borrow();
    let is_live = |grant: &&Grant| !grant.has_ended;
    let live: Vec<_> = state.grants.iter().filter(is_live).map(|grant| (&grant.person, grant.server)).collect();
    world.ledger.check(live.is_empty(), Invariant::Books, || {
        format!("the authorization servers have the accesses {live:?}, and the program has none")
    });
}

/// The path of the metadata of a server.
fn metadata_url(server: usize) -> String {
    format!("{}/.well-known/oauth-protected-resource/mcp", upstream::origin(server))
}

/// Answers a request for the metadata of a server.
pub fn resource_metadata(world: &World, server: usize, plan: &ServerPlan, request: &Sent, to: oneshot::Sender<Head>) {
    world.ledger.scan(format!("{request:?}").as_bytes(), &[], &format!("the metadata of {}", upstream::name(server)));
    let reply = if plan.sign_in.is_none() || request.url != metadata_url(server) {
        Reply::new(404, Value::Null)
    } else if world.faults.at(Point::ServerFails).is_some() {
        Reply::new(500, Value::Null)
    } else {
        let issuer = issuer(of_server(server));
        Reply::new(200, json!({ "resource": upstream::url(server), "authorization_servers": [issuer] }))
    };
    send(to, reply);
}

/// Returns the challenge of a server, which may name its metadata.
pub fn challenge(world: &World, server: usize) -> HeaderValue {
    let text = match world.below(3) {
        0 => "Bearer".to_owned(),
        _ => format!("Bearer resource_metadata=\"{}\"", metadata_url(server)),
    };
    HeaderValue::from_str(&text).expect("ASCII")
}
