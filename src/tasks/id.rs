//! The ids of tasks. An id has a MAC, so an id that was guessed, or that belongs to another caller or server, never reaches an object.

use sha2::{Digest, Sha256};

use crate::auth::{Principal, StateKeys};
use crate::base64::URL_SAFE;
use crate::call::context::Context;
use crate::host::NoRandomness;

/// The version of the format.
const PREFIX: &str = "t1.";
/// The number of random bytes, and of the bytes of the MAC.
const HALF: usize = 16;

/// The part of a request that its tasks belong to: the server and the caller.
pub(super) struct Owner(String);

impl Owner {
    /// Returns the owner of the tasks that the request of `cx` creates.
    pub(super) fn of(cx: &Context) -> Self {
        let caller = cx.request().caller().map(Principal::identity);
        let server = (cx.tools().map(|tools| tools.name()), cx.resource());
        Self(format!("{server:?}\0{caller:?}"))
    }

    /// Returns a digest that does not reveal the caller.
    pub(super) fn digest(&self) -> String {
        URL_SAFE.encode(Sha256::digest(&self.0))
    }

    fn mac(&self, key: &StateKeys, random: &[u8]) -> Vec<[u8; 32]> {
        key.macs("edge-mcp task id", &[random, self.0.as_bytes()].concat())
    }
}

/// The id of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    pub text: String,
    /// The name of the object.
    pub object: String,
}

impl TaskId {
    /// Creates the id of a new task. Calls with the same `key` get the same id.
    pub(super) fn new(key: Option<&str>, owner: &Owner, keys: &StateKeys, cx: &Context) -> Result<Self, NoRandomness> {
        let mut random = [0; HALF];
        let of_key = |key: &str| keys.macs("edge-mcp task key", format!("{}\0{key}", owner.0).as_bytes());
        match key.map(of_key) {
            None => cx.host().fill_random(&mut random)?,
            Some(macs) => random = first_half(macs)?,
        }
        let bytes = [random, first_half(owner.mac(keys, &random))?].concat();
        Ok(Self { text: format!("{PREFIX}{}", URL_SAFE.encode(bytes)), object: name(&random) })
    }

    /// Reads the id of a task of this owner. Returns `None` for every other text.
    pub(super) fn read(text: &str, owner: &Owner, keys: &StateKeys) -> Option<Self> {
        let bytes = URL_SAFE.decode(text.strip_prefix(PREFIX).filter(|rest| rest.len() < 64)?)?;
        let (random, mac) = bytes.split_first_chunk::<HALF>().filter(|(_, mac)| mac.len() == HALF)?;
        let is_own = |own: [u8; 32]| {
            own.first_chunk::<HALF>().is_some_and(|own| subtle::ConstantTimeEq::ct_eq(own.as_slice(), mac).into())
        };
        owner.mac(keys, random).into_iter().any(is_own).then(|| Self { text: text.to_owned(), object: name(random) })
    }
}

/// Returns the first half of the first MAC. There is a MAC for each key, and at least one key.
fn first_half(macs: Vec<[u8; 32]>) -> Result<[u8; HALF], NoRandomness> {
    macs.first().and_then(|mac| mac.first_chunk().copied()).ok_or(NoRandomness)
}

/// Returns the name of the object. It does not reveal the id.
fn name(random: &[u8]) -> String {
    URL_SAFE.encode(Sha256::digest([b"edge-mcp task object".as_slice(), random].concat()))
}
