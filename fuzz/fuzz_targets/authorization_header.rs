//! Fuzzes the `Authorization` header. A token is found only if the whole header consists of the scheme and this token.
#![no_main]

use edge_mcp::parsers::{is_in_query, is_token, token};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    for header in [input, &format!("Bearer {input}")] {
        let Ok(Some(found)) = token(Some(header)) else { continue };
        assert!(is_token(found) && !found.contains([' ', ',', '\t']), "{header:?} gave {found:?}");
        let before = header.trim_end_matches([' ', '\t']).strip_suffix(found).expect("the token is at the end");
        assert!(before.trim_matches([' ', '\t']).eq_ignore_ascii_case("bearer"), "{header:?} gave {found:?}");
        assert_eq!(token(Some(&format!("Bearer {found}"))), Ok(Some(found)));
        assert_eq!(token(Some(&format!("Bearer {found}, Bearer {found}"))).ok(), None, "two tokens are rejected");
    }
    // A token in a query is found, whatever precedes it.
    let hidden = format!("https://example.com/mcp?{}&access_token=x", input.replace('#', ""));
    assert!(is_in_query(&hidden), "{hidden}");
    let name = format!("https://example.com/mcp?{}", input.replace(['%', '&', '+', '#', '='], ""));
    assert_eq!(is_in_query(&name), name == "https://example.com/mcp?access_token", "{name}");
});
