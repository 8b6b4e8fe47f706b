//! The server of the embedding model.

use std::rc::Rc;

use edge_mcp_test_support::random::Random;
use futures::FutureExt;
use futures::channel::oneshot;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::faults::Point;
use crate::ledger::{Invariant, mark};
use crate::network::{Head, Sent, Service, answer};
use crate::schedule::Owner;
use crate::world::World;

pub const URL: &str = "https://models.example/v1";
const DIMENSIONS: usize = 12;
/// The word of a text that the model refuses.
pub const POISON: &str = "poison";

/// Returns whether the model refuses a text, whenever it gets it.
pub fn is_refused(text: &str) -> bool {
    text.split_whitespace().any(|word| word == POISON)
}

pub fn key() -> String {
    mark("models", "key")
}

/// The server.
pub struct Embeddings {
    world: Rc<World>,
}

impl Embeddings {
    pub fn new(world: &Rc<World>) -> Rc<Self> {
        Rc::new(Self { world: world.clone() })
    }

    /// Checks that a request has only texts of one caller.
    fn check(&self, request: &Sent) {
        let ledger = &self.world.ledger;
        let is_known = request.value("authorization") == Some(&format!("Bearer {}", key()));
        ledger.check(is_known || request.is_cut, Invariant::OneAnswer, || "the embedding model has no key".to_owned());
        let others = request.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
        others.for_each(|(_, value)| ledger.scan(value.as_bytes(), &[], "the embedding model"));
        let of = |caller: &&String| {
            let beginning = mark(caller, "passage");
            crate::ledger::positions(&request.body, beginning.as_bytes()).next().is_some()
        };
        let callers: Vec<&str> = self.world.callers.iter().filter(of).map(String::as_str).collect();
        ledger.check(callers.len() < 2, Invariant::NoLeak, || format!("a request has texts of {callers:?}"));
        ledger.scan(&request.body, &callers, "the embedding model");
    }

    /// Returns the status and the body of an answer, or `None` if the server never answers.
    fn answer(&self, request: &Sent) -> Option<(u16, Value)> {
        let World { faults, .. } = &*self.world;
        self.check(request);
        if faults.at(Point::EmbeddingIsSilent).is_some() {
            return None;
        }
        if let Some(fault) = faults.at(Point::EmbeddingFails) {
            return Some(([429, 500, 503][fault.size(3)], json!({ "error": "no" })));
        }
        let request: Value = serde_json::from_slice(&request.body).ok()?;
        let texts = request["input"].as_array()?.iter().filter_map(Value::as_str);
        if texts.clone().any(is_refused) {
            return Some((400, json!({ "error": { "message": "no" } })));
        }
        let item = |(nth, text): (usize, &str)| json!({ "index": nth, "embedding": vector(text) });
        let mut data: Vec<Value> = texts.enumerate().map(item).collect();
        // The order of the answer is any one.
        let by = self.world.below(data.len().max(1));
        data.rotate_left(by);
        if let Some(fault) = faults.at(Point::EmbeddingIsWrong) {
            match fault.size(4) {
                0 => drop(data.pop()),
                1 => data[0]["index"] = json!(data.len()),
                2 => data[0]["embedding"] = json!(vec![0.0; DIMENSIONS]),
                _ => data[0]["embedding"][0] = Value::Null,
            }
        }
        Some((200, json!({ "data": data })))
    }
}

impl Service for Embeddings {
    fn serve(&self, request: Sent, to: oneshot::Sender<Head>) {
        if request.is_cut {
            return;
        }
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if let Some((status, body)) = self.answer(&request) {
            return answer(to, status, headers, vec![body.to_string().into_bytes()]);
        }
        let schedule = self.world.schedule.clone();
        let silence = async move {
            schedule.sleep(600_000).await;
            drop(to);
        };
        self.world.schedule.spawn(Owner::World, silence.boxed_local());
    }
}

/// Returns the vector of a text: the sum of a common vector and of one for each word.
fn vector(text: &str) -> Vec<f64> {
    let mut sum = vec![1.5; DIMENSIONS];
    for word in text.split_whitespace() {
        let seed = word.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut random = Random::new(seed);
        for value in &mut sum {
            *value += f64::from(random.byte()) / 128.0 - 1.0;
        }
    }
    sum
}

/// Returns whether a vector has the direction of that of a text.
pub fn is_of(text: &str, of_text: &[f32]) -> bool {
    let expected = vector(text);
    let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>();
    let found: Vec<f64> = of_text.iter().map(|value| f64::from(*value)).collect();
    let lengths = (dot(&expected, &expected) * dot(&found, &found)).sqrt();
    found.len() == expected.len() && dot(&expected, &found) > 0.999 * lengths
}

/// Checks that a stored vector is that of a text, and that its code is relative to the centre of all codes.
pub fn check(text: &str, stored: &str, code: &str, centre: &str) -> Result<(), String> {
    let expected = vector(text);
    let stored = decoded(stored).ok_or("is not base64")?;
    let greatest = expected.iter().fold(0.0_f64, |greatest, value| value.abs().max(greatest));
    let rounded = expected.iter().map(|value| value * 127.0 / greatest);
    let is_near = |(stored, rounded): (&u8, f64)| (f64::from(stored.cast_signed()) - rounded).abs() < 1.5;
    if stored.len() != expected.len() || !stored.iter().zip(rounded).all(is_near) {
        return Err(format!("is {stored:?}, and not that of {expected:?}"));
    }
    let centre = decoded(centre).ok_or("has a centre that is not base64")?;
    let centre = centre.chunks(4).map(|bytes| bytes.try_into().map_or(f32::NAN, f32::from_le_bytes));
    let length = expected.iter().map(|value| value * value).sum::<f64>().sqrt();
    for ((nth, value), centre) in expected.iter().enumerate().zip(centre.chain(std::iter::repeat(0.0))) {
        let distance = value / length - f64::from(centre);
        let sign = code.as_bytes().get(nth / 5).map(|letter| (letter >> (4 - nth % 5)) & 1);
        // The code of a vector that was read from the database is rounded.
        if distance.abs() > 0.02 && sign != Some(u8::from(distance > 0.0)) {
            return Err(format!("has the code {code}, whose sign {nth} is not that of {distance}"));
        }
    }
    Ok(())
}

/// Reads base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        bits = (bits << 6) | u32::try_from(LETTERS.iter().position(|known| *known == letter)?).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xFF).ok()?);
        }
    }
    Some(bytes)
}
