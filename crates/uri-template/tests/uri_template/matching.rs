//! The URIs that a template matches, and the variables in them.

use crate::{parsed, variables};

type Pairs = Option<&'static [(&'static str, &'static str)]>;

fn check(cases: &[(&str, &str, Pairs)]) {
    for (template, uri, expected) in cases {
        let expected = expected.map(|pairs| variables(pairs.iter().copied()));
        assert_eq!(parsed(template).matches(uri), expected, "{template} {uri}");
    }
}

#[test]
fn values_have_only_characters_that_the_operator_writes() {
    check(&[
        ("kb://documents/{slug}", "kb://documents/a", Some(&[("slug", "a")])),
        ("kb://documents/{slug}", "kb://documents/caf%C3%A9", Some(&[("slug", "café")])),
        ("kb://documents/{slug}", "kb://documents/caf%c3%a9", Some(&[("slug", "café")])),
        ("kb://documents/{slug}", "kb://documents/a-._~", Some(&[("slug", "a-._~")])),
        ("kb://documents/{slug}", "kb://documents/%61", Some(&[("slug", "a")])),
        ("kb://documents/{slug}", "kb://documents/", None),
        ("kb://documents/{slug}", "kb://documents", None),
        ("kb://documents/{slug}", "kb://documents/a/b", None),
        ("kb://documents/{slug}", "kb://documents/a?b", None),
        ("kb://documents/{slug}", "kb://other/a", None),
        ("kb://documents/{slug}", "KB://documents/a", None),
        ("x:{+path}", "x:/a/b?c#d", Some(&[("path", "/a/b?c#d")])),
        ("x:{+path}", "x:a b", None),
        ("x:{+path}", "x:é", None),
        ("x:a{#part}", "x:a#b/c", Some(&[("part", "b/c")])),
        ("x:a{#part}", "x:ab", None),
        ("x:a{.kind}", "x:a.tar.gz", Some(&[("kind", "tar.gz")])),
        ("x:{/a,b}", "x:/1/2", Some(&[("a", "1"), ("b", "2")])),
        ("x:{/a,b}", "x:/1", None),
        ("x:{/a,b}", "x:/1/", None),
        ("x:{/a,b}", "x://2", None),
        ("x:{a,b}", "x:1,2", Some(&[("a", "1"), ("b", "2")])),
        ("x:{a,b}", "x:1,2,3", None),
        ("x:{a,b}{/c}", "x:1,2/3", Some(&[("a", "1"), ("b", "2"), ("c", "3")])),
        ("a://fixed", "a://fixed", Some(&[])),
        ("a://fixed", "a://fixed2", None),
        ("a://café/{x}", "a://caf%C3%A9/1", Some(&[("x", "1")])),
        ("a://a%20b/{x.y}", "a://a%20b/1", Some(&[("x.y", "1")])),
    ]);
}

/// RFC 6570 §1.5 and §3.2.1: the characters that each operator does not encode.
#[test]
fn each_operator_percent_encodes_all_other_characters() {
    let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    let reserved = ":/?#[]@!$&'()*+,;=";
    for (operator, before, plain) in [
        ("", "", unreserved.to_owned()),
        ("+", "", format!("{unreserved}{reserved}")),
        ("#", "#", format!("{unreserved}{reserved}")),
        (".", ".", unreserved.to_owned()),
        ("/", "/", unreserved.to_owned()),
        (";", ";a=", unreserved.to_owned()),
        ("?", "?a=", unreserved.to_owned()),
        ("&", "&a=", unreserved.to_owned()),
    ] {
        let template = parsed(&format!("x:{{{operator}a}}"));
        for byte in 1..128_u8 {
            let character = char::from(byte);
            let value = format!("v{character}v");
            let encoded = if plain.contains(character) { value.clone() } else { format!("v%{byte:02X}v") };
            let uri = template.expand(&variables([("a", value.as_str())])).unwrap();
            assert_eq!(uri, format!("x:{before}{encoded}"));
            assert_eq!(template.matches(&uri).unwrap()["a"], value);
            let raw = template.matches(&format!("x:{before}{value}"));
            assert_eq!(raw.is_some(), plain.contains(character), "{operator} {value:?}");
        }
    }
}

#[test]
fn the_literal_after_a_variable_is_not_part_of_the_value() {
    check(&[
        ("test://template/{id}/data", "test://template/123/data", Some(&[("id", "123")])),
        ("a://{x}/data", "a://1/dat", None),
        ("a://{x}/data", "a://1/data/", None),
        ("a://{x}/{y}.md", "a://1/b.md", Some(&[("x", "1"), ("y", "b")])),
        ("a://{x}/{y}.json", "a://1.json/b.json.json", Some(&[("x", "1.json"), ("y", "b.json")])),
        ("x:{a}.md", "x:.md", None),
        ("x:{a}.md", "x:md", None),
        ("x:{a}.md", "x:a.mdx", None),
        ("x:{a}.md/{b}", "x:1.md/2", Some(&[("a", "1"), ("b", "2")])),
        ("x:{a}.md/{b}", "x:1.m/2", None),
        ("x:{a}.md{?q}", "x:1.md?q=2", Some(&[("a", "1"), ("q", "2")])),
        ("x:{a}.md{?q}", "x:1.md", Some(&[("a", "1")])),
        ("file:{+path}/info", "file:/info/info/info", Some(&[("path", "/info/info")])),
        ("file:{+path}/info", "file:/info", None),
        ("file:///{+path}", "file:///a/b.md", Some(&[("path", "a/b.md")])),
        // `%255` is the value `%` and the literal `5`. The escape `%25` is never split.
        ("x:{a}5", "x:%255", Some(&[("a", "%")])),
        ("x:{a}5", "x:%25", None),
        ("x:{a}25", "x:%25", None),
        ("x:{a}%20/", "x:1%20/", Some(&[("a", "1")])),
    ]);
}

#[test]
fn parameters_may_be_absent_or_empty() {
    check(&[
        ("r://{o}/{r}{/f}{?ref,page}", "r://1/2/3", Some(&[("o", "1"), ("r", "2"), ("f", "3")])),
        ("x:{?a,b,c}", "x:", Some(&[])),
        ("x:{?a,b,c}", "x:?b=2", Some(&[("b", "2")])),
        ("x:{?a,b,c}", "x:?a=1&c=3", Some(&[("a", "1"), ("c", "3")])),
        ("x:{?a,b,c}", "x:?c=3&a=1", None),
        ("x:{?a,b,c}", "x:?a=1&a=1", None),
        ("x:{?a,b,c}", "x:?a=1&d=4", None),
        ("x:{?a,b,c}", "x:?a=1&", None),
        ("x:{?a,b,c}", "x:?", None),
        ("x:{?a,b,c}", "x:&a=1", None),
        ("x:{?a,b,c}", "x:?a=1?b=2", None),
        ("x:{?a,ab}", "x:?ab=1", Some(&[("ab", "1")])),
        ("x:{?a,a.b}", "x:?a.b=1", Some(&[("a.b", "1")])),
        ("x:{?ab,a}", "x:?a=1", Some(&[("a", "1")])),
        ("x:{?a}", "x:?a=", Some(&[("a", "")])),
        ("x:{?a}", "x:?a", None),
        ("x:{?a}", "x:?a==", None),
        ("x:{;a,b}", "x:;a;b", Some(&[("a", ""), ("b", "")])),
        ("x:{;a,ab}", "x:;ab", Some(&[("ab", "")])),
        ("x:{;a}", "x:;a=", None),
        ("x:{;a}/b", "x:/b", Some(&[])),
        ("x:{;a}/b", "x:;a/b", Some(&[("a", "")])),
        ("x:?fixed=yes{&a}", "x:?fixed=yes&a=1", Some(&[("a", "1")])),
        ("x:{?a}{&b}{;c}{/d}", "x:/4", Some(&[("d", "4")])),
        ("x:{?a}{&b}{;c}{/d}", "x:?a=1&b=2;c/4", Some(&[("a", "1"), ("b", "2"), ("c", ""), ("d", "4")])),
        ("x:{?a}#end", "x:?a=1#end", Some(&[("a", "1")])),
        ("x:{?%61}", "x:?%61=1", Some(&[("%61", "1")])),
        ("x:{?%61}", "x:?a=1", None),
    ]);
}

#[test]
fn a_value_is_decoded_once() {
    check(&[
        ("x:{a}", "x:a%252Fb", Some(&[("a", "a%2Fb")])),
        ("x:{a}", "x:%25252e", Some(&[("a", "%252e")])),
        ("x:{a}", "x:a%2Fb%3F", Some(&[("a", "a/b?")])),
        ("x:{?a}", "x:?a=1%262", Some(&[("a", "1&2")])),
        ("x:{?a}", "x:?a=1+2", None),
        ("x:{+a}", "x:%2Fa%20b%25", Some(&[("a", "/a b%")])),
        // `{+a}` does not encode the value `a%20b`, so its expansion is never `a%2520b`.
        ("x:{+a}", "x:a%2520b", None),
    ]);
}

/// Rule 67: a value cannot lead to a resource outside of the template.
#[test]
fn unsafe_values_do_not_match() {
    let unsafe_values = [
        "..",
        ".",
        "%2e%2E",
        "%2E",
        ".%2e",
        "..%2Fx",
        "x%2F..",
        "x%2f.%2Fy",
        "..%5Cx",
        "x%5c%2e%2e",
        "a%00b",
        "%00",
        "a%",
        "a%4",
        "a%zz",
        "%ff",
        "%C3",
        "%C3%28",
        "%ED%A0%80",
        "a b",
        "é",
        "a\\b",
        "a\nb",
    ];
    for operator in ["", "+", "#", ".", "/", ";", "?", "&"] {
        let template = parsed(&format!("x:{{{operator}a}}"));
        let uri = |value: &str| template.expand(&variables([("a", "V")])).unwrap().replace('V', value);
        assert!(template.matches(&uri("...")).is_some(), "{operator}");
        for value in unsafe_values {
            assert_eq!(template.matches(&uri(value)), None, "{operator} {value}");
        }
    }
    for operator in ["+", "#"] {
        let template = parsed(&format!("x:{{{operator}a}}"));
        for value in ["../x", "x/../y", "x/..", "/./x"] {
            let first = operator.trim_start_matches('+');
            assert_eq!(template.matches(&format!("x:{first}{value}")), None, "{operator} {value}");
        }
    }
}
