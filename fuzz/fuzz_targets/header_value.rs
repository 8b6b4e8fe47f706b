//! Fuzzes the decoder of header values. It never panics, and it decodes an encoded value to the original.
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
    // The decoder accepts only the canonical encoding, whatever the fuzzer does with the alphabet and the padding.
    let marked = format!("=?base64?{input}?=");
    for value in [input, &marked] {
        let trimmed = value.trim_matches([' ', '\t']);
        match decode(value) {
            Ok(decoded) => assert!(decoded == trimmed || encoded(&decoded) == trimmed, "{value:?} gave {decoded:?}"),
            Err(_) => assert!(trimmed.starts_with("=?base64?") && trimmed.ends_with("?="), "{value:?} is valid"),
        }
    }
});
