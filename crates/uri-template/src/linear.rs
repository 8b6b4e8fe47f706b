//! A test of the cost of matching: the number of visited bytes is linear in the length of the template and the URI. The test counts these
//! bytes on inputs that make a matcher with backtracking slow.

#![allow(clippy::arithmetic_side_effects, clippy::expect_used)]

use super::UriTemplate;

/// The largest number of visits per byte of the template and the URI.
const VISITS_PER_BYTE: usize = 8;

/// A function that makes a template and a URI of about the given size.
type Adversary = fn(usize) -> (String, String);

const ADVERSARIES: [Adversary; 17] = [
    // A literal that almost matches, many times.
    |n| ("x:{a}.md".into(), format!("x:{}", ".m".repeat(n))),
    |n| ("x:{a}.md".into(), format!("x:{}", ".md".repeat(n))),
    |n| ("x:{a}.md/".into(), format!("x:{}", ".md".repeat(n))),
    |n| ("x:{+a}/info".into(), format!("x:{}", "/inf".repeat(n))),
    |n| ("x:{+a}/info".into(), format!("x:{}!", "/info".repeat(n))),
    |n| (format!("x:{{a}}{}c", "ab".repeat(n)), format!("x:{}", "ab".repeat(2 * n))),
    |n| (format!("x:{{a}}{}", "a".repeat(n)), format!("x:{}b", "a".repeat(2 * n))),
    // Many variables, of which the last does not match.
    |n| (format!("x:{}", names(n, "/{", "}")), format!("x:{}?", "/a".repeat(n))),
    |n| (format!("x:{{{}}}", names(n, "", ",").trim_end_matches(',')), format!("x:{}", "a,".repeat(n))),
    |n| (format!("x:{}", names(n, "/{", "}")), format!("x:/{}", "a".repeat(n))),
    // Many parameters, of which one is present, or whose names have a common prefix.
    |n| (format!("x:{{?{}z}}", names(n, "", ",")), "x:?z=1".into()),
    |n| (format!("x:{{?{}z}}", names(n, "", ",")), format!("x:?{}", "z=1&".repeat(n))),
    |n| (format!("x:{{;{}z}}", names(n, "", ",")), format!("x:{}", names(n, ";", ""))),
    |n| (format!("x:{{?{0}a,{0}b}}", "n".repeat(n)), format!("x:?{0}b=1&{0}a=1", "n".repeat(n))),
    // Escapes and path segments.
    |n| ("x:{a}".into(), format!("x:{}", "%25".repeat(n))),
    |n| ("x:{+a}".into(), format!("x:{}%", "%2F".repeat(n))),
    |n| ("x:{+a}".into(), format!("x:{}..", "a../".repeat(n))),
];

/// Returns `count` names, each between `before` and `after`.
fn names(count: usize, before: &str, after: &str) -> String {
    (0..count).map(|number| format!("{before}v{number}{after}")).collect::<Vec<_>>().concat()
}

#[test]
fn matching_is_linear() {
    for (number, adversary) in ADVERSARIES.iter().enumerate() {
        for size in [1, 10, 100, 1_000, 4_000] {
            let (template, uri) = adversary(size);
            let visits = UriTemplate::parse(&template).expect(&template).visits(&uri);
            let bytes = template.len() + uri.len();
            assert!(
                visits <= VISITS_PER_BYTE * bytes,
                "adversary {number}, size {size}: {visits} visits of {bytes} bytes"
            );
        }
    }
}
