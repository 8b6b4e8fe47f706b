//! The rows of the token store: each one is encrypted, and belongs to one person and one server.
//!
//! The keys and the encryption are repeated here. Rows outlive a version of the library, so both must not change.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, Payload};
use edge_mcp::testing::TestDatabase;
use futures::FutureExt;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::authorization;
use crate::ledger::Invariant;
use crate::sign_in::CALLBACK;
use crate::upstream;
use crate::world::World;

/// The key that encrypts the rows.
pub const KEY: &str = "0123456789abcdef0123456789abcdef";
const TOKENS: &str = "edge-mcp sign-in, tokens";
const CLIENT: &str = "edge-mcp sign-in, client";
const FINISHED: &str = "edge-mcp sign-in, finished";
/// The longest times in seconds for which a row is kept: tokens and clients, and the mark of a sign-in that has ended.
const KEEP_TOKENS: u64 = 400 * 86_400;
const KEEP_MARK: u64 = 600;

/// The keys of the rows.
pub struct Rows {
    /// The rows with tokens, and the persons and servers to which they belong.
    tokens: BTreeMap<String, (String, usize)>,
    /// The rows with client ids.
    clients: Vec<String>,
    /// The grant and the number of the access token in each row with tokens.
    last: RefCell<BTreeMap<String, (usize, u64)>>,
    /// The values that have been checked.
    checked: RefCell<BTreeMap<String, String>>,
}

/// Returns the key of the row with the tokens of a person for a server.
pub fn key_of(person: &str, server: usize) -> String {
    key(TOKENS, &[&key(TOKENS, &["", person]), &upstream::url(server)])
}

fn key(purpose: &str, parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in [&[purpose], parts].concat() {
        digest.update(u64::try_from(part.len()).expect("a length").to_le_bytes());
        digest.update(part);
    }
    URL_SAFE_NO_PAD.encode(digest.finalize())
}

fn mac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// Decrypts the value of a row.
fn open(purpose: &str, key: &str, value: &[u8]) -> Option<Value> {
    let (nonce, sealed) = value.split_first_chunk::<12>()?;
    let cipher = ChaCha20Poly1305::new_from_slice(&mac(KEY.as_bytes(), purpose.as_bytes())).ok()?;
    let opened = cipher.decrypt(&(*nonce).into(), Payload { msg: sealed, aad: key.as_bytes() }).ok()?;
    serde_json::from_slice(&opened).ok()
}

/// A row.
type Row = (String, String, u64);

fn rows(sqlite: &TestDatabase) -> Vec<Row> {
    let rows = sqlite.database().query("SELECT key, value, until FROM oauth_tokens").all::<Row>();
    rows.now_or_never().expect("SQLite does not wait").expect("rows")
}

impl Rows {
    pub fn new(persons: &[String], servers: usize) -> Self {
        let rows = persons.iter().flat_map(|person| (0..servers).map(move |server| (person.clone(), server)));
        let tokens = rows.map(|(person, server)| (key_of(&person, server), (person, server))).collect();
        let servers =
            (0..servers).map(|server| (authorization::issuer(authorization::of_server(server)), upstream::url(server)));
        let clients = servers.map(|(issuer, url)| key(CLIENT, &[&issuer, CALLBACK, &url]));
        Self { tokens, clients: clients.collect(), last: RefCell::default(), checked: RefCell::default() }
    }

    /// Checks all rows.
    pub fn check(&self, world: &World, sqlite: &TestDatabase) {
        let rows = rows(sqlite);
        self.last.borrow_mut().retain(|key, _| rows.iter().any(|(known, ..)| known == key));
        for row in rows {
            // Most operations change no row.
            let is_new =
                self.checked.borrow_mut().insert(row.0.clone(), row.1.clone()).is_none_or(|last| last != row.1);
            if is_new {
                self.check_row(world, &row);
            }
        }
    }

    fn check_row(&self, world: &World, (key, value, until): &Row) {
        let ledger = &world.ledger;
        for cell in [key, value] {
            ledger.scan(cell.as_bytes(), &[], "the token store");
        }
        let bytes = URL_SAFE_NO_PAD.decode(value).unwrap_or_default();
        let owner = self.tokens.get(key);
        let (purpose, longest) = match owner {
            Some(_) => (TOKENS, KEEP_TOKENS),
            None if self.clients.contains(key) => (CLIENT, KEEP_TOKENS),
            None => (FINISHED, KEEP_MARK),
        };
        let now = world.schedule.now_ms() / 1000;
        ledger.check(*until <= now + longest, Invariant::NothingLeft, || {
            format!("the row {key} is kept until {until}, which is more than {longest} s after {now}")
        });
        let Some(opened) = open(purpose, key, &bytes) else {
            return ledger.violate(Invariant::WholeBatch, format!("the row {key} of {owner:?} cannot be decrypted"));
        };
        let Some((person, server)) = owner else { return };
        let access = format!("{person}-at-{}", upstream::name(*server));
        ledger.scan(opened["authorization"].to_string().as_bytes(), &[&access], &format!("the row of {access}"));
        let refresh = format!("{person}-refresh-{}", authorization::name(authorization::of_server(*server)));
        ledger.scan(opened["refresh_token"].to_string().as_bytes(), &[&refresh], &format!("the row of {refresh}"));
        self.check_order(world, key, &opened);
    }

    /// Checks that newer tokens are not replaced by older ones. Only a sign-in replaces the tokens of another one, and only a refresh replaces
    /// tokens by others of the same grant.
    fn check_order(&self, world: &World, key: &str, opened: &Value) {
        let token = opened["authorization"].as_str().and_then(|header| header.strip_prefix("Bearer "));
        let Some((grant, number, is_first)) = token.and_then(|token| world.sign_ins.grants.of_access_token(token))
        else {
            return world
                .ledger
                .violate(Invariant::NoLostEffect, format!("the row {key} has an unknown token: {token:?}"));
        };
        let last = self.last.borrow_mut().insert(key.to_owned(), (grant, number));
        let is_in_order = match last {
            Some((of, last)) if of == grant => last <= number,
            _ => is_first && opened["has_ended"] == false,
        };
        world.ledger.check(is_in_order, Invariant::NoLostEffect, || {
            format!("the row {key} has the token {number} of the grant {grant} after {last:?}")
        });
    }
}

/// Checks that nothing is left after everybody has removed their accesses: no tokens, and no mark that does not expire. The check of each
/// row has compared the time of its removal.
pub fn check_end(world: &World) {
    let Some((sqlite, known)) = world.sign_ins.database.get() else { return };
    for (key, ..) in rows(sqlite) {
        let owner = known.tokens.get(&key);
        world.ledger.check(owner.is_none(), Invariant::NothingLeft, || format!("the tokens of {owner:?} are left"));
    }
}
