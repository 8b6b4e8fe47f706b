//! Matching takes a number of steps that grows with the length of the template and the URI, and no faster: counted, not
//! timed, on the inputs that make a matcher with backtracking slow.

use crate::assert_linear;

/// A template, and a URI, of about this size.
type Adversary = fn(usize) -> (String, String);

const ADVERSARIES: [Adversary; 17] = [
    // A literal that is almost there, again and again.
    |n| ("x:{a}.md".into(), format!("x:{}", ".m".repeat(n))),
    |n| ("x:{a}.md".into(), format!("x:{}", ".md".repeat(n))),
    |n| ("x:{a}.md/".into(), format!("x:{}", ".md".repeat(n))),
    |n| ("x:{+a}/info".into(), format!("x:{}", "/inf".repeat(n))),
    |n| ("x:{+a}/info".into(), format!("x:{}!", "/info".repeat(n))),
    |n| (format!("x:{{a}}{}c", "ab".repeat(n)), format!("x:{}", "ab".repeat(2 * n))),
    |n| (format!("x:{{a}}{}", "a".repeat(n)), format!("x:{}b", "a".repeat(2 * n))),
    // Many variables, of which the last does not fit.
    |n| (format!("x:{}", names(n, "/{", "}")), format!("x:{}?", "/a".repeat(n))),
    |n| (format!("x:{{{}}}", names(n, "", ",").trim_end_matches(',')), format!("x:{}", "a,".repeat(n))),
    |n| (format!("x:{}", names(n, "/{", "}")), format!("x:/{}", "a".repeat(n))),
    // Many parameters, of which one is there, or whose names nearly repeat.
    |n| (format!("x:{{?{}z}}", names(n, "", ",")), "x:?z=1".into()),
    |n| (format!("x:{{?{}z}}", names(n, "", ",")), format!("x:?{}", "z=1&".repeat(n))),
    |n| (format!("x:{{;{}z}}", names(n, "", ",")), format!("x:{}", names(n, ";", ""))),
    |n| (format!("x:{{?{0}a,{0}b}}", "n".repeat(n)), format!("x:?{0}b=1&{0}a=1", "n".repeat(n))),
    // Escapes and path segments.
    |n| ("x:{a}".into(), format!("x:{}", "%25".repeat(n))),
    |n| ("x:{+a}".into(), format!("x:{}%", "%2F".repeat(n))),
    |n| ("x:{+a}".into(), format!("x:{}..", "a../".repeat(n))),
];

/// `before`, a name, `after`, so many times.
fn names(count: usize, before: &str, after: &str) -> String {
    (0..count).map(|number| format!("{before}v{number}{after}")).collect::<Vec<_>>().concat()
}

#[test]
fn the_steps_grow_no_faster_than_the_input() {
    for (number, adversary) in ADVERSARIES.iter().enumerate() {
        for size in [1, 10, 100, 1_000, 4_000] {
            let (template, uri) = adversary(size);
            println!("adversary {number}, size {size}");
            assert_linear(&template, &uri);
        }
    }
}
