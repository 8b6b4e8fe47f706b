//! Fuzzes the whole endpoint. The answer to any request is a JSON-RPC message, a stream of messages, or empty. It has the id of the
//! request, and its status is never a 5xx.
//!
//! The input is `POST /mcp`, a header on each following line, an empty line, and the body. The classifier, which determines the revision
//! of a message, is not public. Every body that is JSON reaches it through the endpoint.
#![no_main]

use edge_mcp_fuzz::specimen::RawRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    edge_mcp_fuzz::ask(RawRequest::parse(input));
});
