//! A value of a header: nothing panics, and what was encoded is decoded to what it was.
#![no_main]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use edge_mcp::parsers::decode;
use libfuzzer_sys::fuzz_target;

fn encoded(value: &str) -> String {
    format!("=?base64?{}?=", STANDARD.encode(value))
}

fuzz_target!(|input: &str| {
    assert_eq!(decode(&encoded(input)).as_deref(), Ok(input));
    // Whatever the fuzzer makes of the alphabet and the padding: what is taken is the one way to write it.
    let marked = format!("=?base64?{input}?=");
    for value in [input, &marked] {
        let trimmed = value.trim_matches([' ', '\t']);
        match decode(value) {
            Ok(decoded) => assert!(decoded == trimmed || encoded(&decoded) == trimmed, "{value:?} gave {decoded:?}"),
            Err(_) => assert!(trimmed.starts_with("=?base64?") && trimmed.ends_with("?="), "{value:?} is literal"),
        }
    }
});
