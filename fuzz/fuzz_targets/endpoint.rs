//! Any request: the answer is a JSON-RPC message, a stream of them, or nothing; never a 5xx; with the id as it was sent.
//!
//! The input is `POST /mcp`, a header on each line that follows, an empty line, and the body. The classifier (which revision
//! a message is written in) is not public; it is reached from here, by every body that is JSON.
#![no_main]

use edge_mcp_fuzz::specimen::RawRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    edge_mcp_fuzz::ask(RawRequest::parse(input));
});
