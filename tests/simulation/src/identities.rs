//! Who the callers are. Each token is accepted by one of three validators: a list, an authorization server that is asked about it, and the
//! published keys of an issuer. In some cases, all callers have the same subject. They are different callers nevertheless.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edge_mcp::auth::{Algorithm, AnyOf, Introspection, Jwt, Principal};
use edge_mcp::host::PublicKey;
use edge_mcp_test_support::random::Random;
use futures::channel::oneshot;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::case::{CallerPlan, Plan};
use crate::faults::Point;
use crate::ledger::Invariant;
use crate::network::{Head, Sent, Service, answer};
use crate::program::{token, tokens};
use crate::schedule::START_MS;
use crate::world::World;

/// The authorization server that is asked about tokens. Its answers have no issuer.
const INTROSPECTION: &str = "https://introspection.example";
/// The issuer of signed tokens.
pub const ISSUER: &str = "https://issuer.example";
pub const AUDIENCE: &str = "the program";
/// The member of a token with the name of its caller.
const NAME: &str = "who";
/// The number of keys of the issuer.
pub const KEYS: u8 = 4;
/// The time at which all tokens expire, in seconds since 1970: a day after the start.
pub const EXPIRES: u64 = START_MS / 1000 + 86_400;

/// The validator that accepts the token of a caller.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub enum Accepted {
    /// The list of the configuration. The subject is the name of the caller.
    #[default]
    Listed,
    /// An authorization server. The subject is the name of the first caller.
    Asked,
    /// The keys of an issuer. The subject is the name of the first caller.
    Signed,
}

/// Gives all callers the subject of the first one, in some cases.
pub fn add(callers: &mut [CallerPlan], random: &mut Random) {
    if !random.once_in(4) {
        return;
    }
    let mut kinds = [Accepted::Asked, Accepted::Signed];
    if random.once_in(2) {
        kinds.reverse();
    }
    for (caller, accepted) in callers.iter_mut().skip(1).zip(kinds) {
        caller.accepted = accepted;
    }
}

/// What the program knows about its callers: the issuers and the subjects, by the names of the callers.
#[derive(Default)]
pub struct Known(RefCell<BTreeMap<String, Principal>>);

impl Known {
    /// Records a caller of the program.
    pub fn record(&self, caller: &Principal) {
        self.0.borrow_mut().entry(name_of(caller)).or_insert_with(|| caller.clone());
    }

    pub fn principal(&self, name: &str) -> Option<Principal> {
        self.0.borrow().get(name).cloned()
    }
}

/// Returns the name of a caller of the program.
pub fn name_of(caller: &Principal) -> String {
    caller.claims.get(NAME).and_then(Value::as_str).unwrap_or(&caller.subject).to_owned()
}

/// Returns the plan of a caller.
fn plan_of<'p>(plan: &'p Plan, name: &str) -> Option<&'p CallerPlan> {
    plan.callers.iter().find(|caller| caller.name == name)
}

/// Returns whether the token of a caller is in the list of the configuration.
pub fn is_listed(plan: &Plan, name: &str) -> bool {
    plan_of(plan, name).is_none_or(|caller| caller.accepted == Accepted::Listed)
}

/// Returns the value of the header with the token of a caller.
pub fn bearer(plan: &Plan, name: &str) -> String {
    match plan_of(plan, name) {
        Some(caller) if caller.accepted == Accepted::Signed => format!("Bearer {}", signed(plan, caller)),
        _ => format!("Bearer {}", token(name)),
    }
}

fn claims(plan: &Plan, caller: &CallerPlan) -> Value {
    let subject = &plan.callers[0].name;
    json!({ "sub": subject, NAME: caller.name, "exp": EXPIRES, "scope": caller.scopes.join(" ") })
}

/// Returns a signed token.
fn signed(plan: &Plan, caller: &CallerPlan) -> String {
    let mut claims = claims(plan, caller);
    (claims["iss"], claims["aud"]) = (json!(ISSUER), json!(AUDIENCE));
    let header = json!({ "alg": "ES256", "typ": "at+jwt", "kid": "1" });
    let message = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
    let signature = URL_SAFE_NO_PAD.encode(signature(&key(1).0, message.as_bytes()));
    format!("{message}.{signature}")
}

/// Returns the two coordinates of a key. No curve has this point, because nobody calculates with it.
fn key(number: u8) -> ([u8; 32], [u8; 32]) {
    (Sha256::digest([number, 0]).into(), Sha256::digest([number, 1]).into())
}

fn signature(x: &[u8; 32], message: &[u8]) -> Vec<u8> {
    let half = |nth: u8| Sha256::digest([x, message, &[nth]].concat());
    [half(0), half(1)].concat()
}

/// Returns whether a key has signed a message.
pub fn is_signed(key: &PublicKey, message: &[u8], bytes: &[u8]) -> bool {
    matches!(key, PublicKey::Es256 { x, .. } if signature(x, message) == bytes)
}

/// Returns the validators of the program.
pub fn validators(plan: &Plan) -> AnyOf {
    let keys = Jwt::new(&format!("{ISSUER}/jwks"), ISSUER).expect("a URL").algorithms([Algorithm::Es256]);
    let asked = Introspection::new(&format!("{INTROSPECTION}/introspect")).expect("a URL").any_audience();
    AnyOf::new().or(tokens(plan)).or(keys.audience(AUDIENCE)).or(asked)
}

/// Returns whether the token of a caller is a signed one.
pub fn has_issuer(plan: &Plan) -> bool {
    plan.callers.iter().any(|caller| caller.accepted == Accepted::Signed)
}

/// Adds the two servers to the network, if a caller needs them.
pub fn add_services(world: &Rc<World>, plan: &Rc<Plan>) {
    if plan.callers.iter().any(|caller| caller.accepted != Accepted::Listed) {
        let issuer = Rc::new(Issuer { world: world.clone(), plan: plan.clone() });
        world.services.add(INTROSPECTION, issuer.clone());
        world.services.add(ISSUER, issuer);
    }
}

/// The authorization server, and the issuer.
struct Issuer {
    world: Rc<World>,
    plan: Rc<Plan>,
}

impl Issuer {
    fn introspection(&self, request: &Sent) -> Value {
        let sent = form_urlencoded::parse(&request.body).find(|(name, _)| name == "token");
        let sent = sent.map(|(_, token)| token.into_owned()).unwrap_or_default();
        let asked = self.plan.callers.iter().filter(|caller| caller.accepted == Accepted::Asked);
        let caller = asked.into_iter().find(|caller| token(&caller.name) == sent);
        let Some(caller) = caller else { return json!({ "active": false }) };
        let mut answer = claims(&self.plan, caller);
        answer["active"] = json!(self.world.schedule.now_ms() / 1000 < EXPIRES);
        answer
    }

    fn keys() -> Value {
        let keys = (0..KEYS).map(|number| {
            let (x, y) = key(number);
            let [x, y] = [x, y].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
            json!({ "kty": "EC", "crv": "P-256", "kid": number.to_string(), "x": x, "y": y })
        });
        json!({ "keys": keys.collect::<Vec<_>>() })
    }
}

impl Service for Issuer {
    fn serve(&self, request: Sent, to: oneshot::Sender<Head>) {
        if request.is_cut {
            return;
        }
        let callers = self.plan.callers.iter().filter(|caller| caller.accepted == Accepted::Asked);
        let callers: Vec<String> = callers.map(|caller| format!("{}-key", caller.name)).collect();
        let allowed: Vec<&str> = callers.iter().map(String::as_str).collect();
        self.world.ledger.scan(&request.body, &allowed, "an issuer");
        for (_, value) in &request.headers {
            self.world.ledger.scan(value.as_bytes(), &[], "an issuer");
        }
        let (status, body) = match request.url.rsplit('/').next() {
            _ if self.world.faults.at(Point::IssuerFails).is_some() => (500, Value::Null),
            Some("introspect") => (200, self.introspection(&request)),
            Some("jwks") => (200, Self::keys()),
            _ => {
                self.world.ledger.violate(Invariant::OneAnswer, format!("an issuer gets {}", request.url));
                (404, Value::Null)
            }
        };
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        answer(to, status, headers, vec![body.to_string().into_bytes()]);
    }
}
