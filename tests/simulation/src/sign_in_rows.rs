//! The rows of the token store: each one is encrypted, and belongs to one person and one server.
//!
//! The keys and the encryption are repeated here. Rows outlive a version of the library, so both must not change.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

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
use crate::rogue;
use crate::sign_in::CALLBACK;
use crate::upstream;
use crate::world::World;

/// The keys that encrypt the rows, one after the other.
pub const KEY: &str = "0123456789abcdef0123456789abcdef";
pub const NEW_KEY: &str = "fedcba9876543210fedcba9876543210";
const TOKENS: &str = "edge-mcp sign-in, tokens";
const CLIENT: &str = "edge-mcp sign-in, client";
const FINISHED: &str = "edge-mcp sign-in, finished";
/// The longest times in seconds for which a row is kept: tokens and clients, and the mark of a sign-in that has ended.
const KEEP_TOKENS: u64 = 400 * 86_400;
const KEEP_MARK: u64 = 600;

/// The keys of the rows.
pub struct Rows {
    /// The persons and the servers that have rows with tokens.
    owners: Vec<(String, usize)>,
    /// The rows with tokens, and the persons and servers to which they belong.
    tokens: RefCell<BTreeMap<String, (String, usize)>>,
    /// The rows with client ids.
    clients: Vec<String>,
    /// The grant and the number of the access token in each row with tokens.
    last: RefCell<BTreeMap<String, (usize, u64)>>,
    /// The refresh token in each row with tokens.
    refresh: RefCell<BTreeMap<String, String>>,
    /// The access tokens that were stored at some time.
    stored: RefCell<BTreeSet<String>>,
    /// The values that have been checked.
    checked: RefCell<BTreeMap<String, String>>,
}

/// Returns the key of the row with the tokens of a person for a server.
pub fn key_of(world: &World, person: &str, server: usize) -> String {
    key_of_url(world, person, &upstream::url(server))
}

fn key_of_url(world: &World, person: &str, url: &str) -> String {
    let known = world.known.principal(person);
    let (issuer, subject) = known.map_or((None, person.to_owned()), |known| (known.issuer, known.subject));
    key(TOKENS, &[&key(TOKENS, &[&format!("{:?}", (&issuer, &subject))]), url])
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

/// Decrypts the value of a row. Returns also the key.
fn open(purpose: &str, key: &str, value: &[u8]) -> Option<(Value, &'static str)> {
    [KEY, NEW_KEY].into_iter().find_map(|by| Some((open_by(by, purpose, key, value)?, by)))
}

fn open_by(by: &str, purpose: &str, key: &str, value: &[u8]) -> Option<Value> {
    let (nonce, sealed) = value.split_first_chunk::<12>()?;
    let cipher = ChaCha20Poly1305::new_from_slice(&mac(by.as_bytes(), purpose.as_bytes())).ok()?;
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
        let servers =
            (0..servers).map(|server| (authorization::issuer(authorization::of_server(server)), upstream::url(server)));
        let clients = servers.map(|(issuer, url)| key(CLIENT, &[&issuer, CALLBACK, &url]));
        Self {
            owners: rows.collect(),
            tokens: RefCell::default(),
            clients: clients.collect(),
            last: RefCell::default(),
            refresh: RefCell::default(),
            stored: RefCell::default(),
            checked: RefCell::default(),
        }
    }

    /// Returns the person and the server to which a row with tokens belongs.
    fn owner_of(&self, world: &World, key: &str) -> Option<(String, usize)> {
        if let Some(owner) = self.tokens.borrow().get(key) {
            return Some(owner.clone());
        }
        // A person is known from the first request on.
        let owner = self.owners.iter().find(|(person, server)| key_of(world, person, *server) == key)?;
        self.tokens.borrow_mut().insert(key.to_owned(), owner.clone());
        Some(owner.clone())
    }

    /// Returns whether the program has tokens of a person for a server that it can use or refresh.
    pub fn is_usable(&self, world: &World, sqlite: &TestDatabase, person: &str, server: usize) -> bool {
        let of_person = key_of(world, person, server);
        let Some((key, value, _)) = rows(sqlite).into_iter().find(|(key, ..)| *key == of_person) else { return false };
        let opened = open(TOKENS, &key, &URL_SAFE_NO_PAD.decode(value).unwrap_or_default());
        opened.is_some_and(|(_, by)| world.deployments.can_open(by))
    }

    /// Returns whether an access token was stored at some time.
    pub fn was_stored(&self, token: &str) -> bool {
        self.stored.borrow().contains(token)
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
        let owner = self.owner_of(world, key);
        let (purpose, longest) = match &owner {
            Some(_) => (TOKENS, KEEP_TOKENS),
            None if self.clients.contains(key) => (CLIENT, KEEP_TOKENS),
            None => (FINISHED, KEEP_MARK),
        };
        let is_of_rogue = |person: &String| *key == key_of_url(world, person, rogue::URL);
        ledger.check(!world.callers.iter().any(is_of_rogue), Invariant::NoLeak, || {
            "the tokens of a person are stored for the hostile server".to_owned()
        });
        let now = world.schedule.now_ms() / 1000;
        ledger.check(*until <= now + longest, Invariant::NothingLeft, || {
            format!("the row {key} is kept until {until}, which is more than {longest} s after {now}")
        });
        let Some((opened, _)) = open(purpose, key, &bytes) else {
            return ledger.violate(Invariant::WholeBatch, format!("the row {key} of {owner:?} cannot be decrypted"));
        };
        let Some((person, server)) = &owner else { return };
        let access = format!("{person}-at-{}", upstream::name(*server));
        ledger.scan(opened["authorization"].to_string().as_bytes(), &[&access], &format!("the row of {access}"));
        let refresh = format!("{person}-refresh-{}", authorization::name(authorization::of_server(*server)));
        ledger.scan(opened["refresh_token"].to_string().as_bytes(), &[&refresh], &format!("the row of {refresh}"));
        self.check_order(world, key, &opened);
        self.check_refresh(world, key, &opened);
        let refresh = opened["refresh_token"].as_str().unwrap_or_default();
        let is_kept = opened["has_ended"] == true && world.sign_ins.was_never_out(person, *server);
        ledger.check(!is_kept || !world.sign_ins.grants.is_live(refresh), Invariant::NoLostEffect, || {
            format!("the access of {person} has ended, and nobody has removed it: its authorization server accepts {refresh}")
        });
    }

    /// Checks that a refresh token is not erased as long as its authorization server accepts it. A sign-in replaces it.
    fn check_refresh(&self, world: &World, key: &str, opened: &Value) {
        let mut refresh = self.refresh.borrow_mut();
        let Some(new) = opened["refresh_token"].as_str() else {
            let is_live = refresh.remove(key).is_some_and(|last| world.sign_ins.grants.is_live(&last));
            return world.ledger.check(!is_live, Invariant::NoLostEffect, || {
                format!("the refresh token of the row {key} is erased, and its authorization server accepts it")
            });
        };
        refresh.insert(key.to_owned(), new.to_owned());
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
        self.stored.borrow_mut().extend(token.map(str::to_owned));
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
        let owner = known.owner_of(world, &key);
        world.ledger.check(owner.is_none(), Invariant::NothingLeft, || format!("the tokens of {owner:?} are left"));
    }
}
