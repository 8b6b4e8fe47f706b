//! Fuzzes the answers of another server to calls with an effect. A client sends a call again only if the answer proves that the server did
//! not execute it. The error says that the call was not executed only if each answer says so.
//!
//! The first bytes select the kind of the server, its honesty, and the settings of the client. The others are the choices of a script:
//! statuses, bodies, effects, and the kind of server that follows. `tests/client/scripted.rs` has the server and the rules.
#![no_main]
#![allow(dead_code, unreachable_pub, reason = "the tests of the client use more of these files")]

#[path = "../../tests/client/peer.rs"]
mod peer;
#[path = "../../tests/client/scripted.rs"]
mod scripted;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| scripted::run(input));
