//! The examples of RFC 6570 with string values and of levels 1 to 3 (§1.2 and §3.2.2 to §3.2.9), expanded and matched. Each template
//! has the prefix `x:`, because templates in this library begin with a scheme.

use Relation::{Ambiguous, Both, Rejected, Repeated};
use edge_uri_template::{InvalidVariable, UriTemplate, UriTemplateError};

use crate::variables;

/// The values of §1.2 and §3.2. `undef` and `bar` are undefined there.
const VALUES: [(&str, &str); 11] = [
    ("dub", "me/too"),
    ("hello", "Hello World!"),
    ("half", "50%"),
    ("var", "value"),
    ("who", "fred"),
    ("base", "http://example.com/home/"),
    ("path", "/foo/bar"),
    ("v", "6"),
    ("x", "1024"),
    ("y", "768"),
    ("empty", ""),
];

enum Relation {
    /// The variables expand to the expansion, and the expansion matches with these variables.
    Both,
    /// A value of this variable can contain the part after it, so the expansion does not determine its end.
    Ambiguous(&'static str),
    /// This variable occurs twice, so a URI could have two values for it.
    Repeated(&'static str),
    /// The library rejects this variable, and does not match the expansion.
    Rejected(&'static str, InvalidVariable),
}

const EMPTY: Relation = Rejected("empty", InvalidVariable::Empty);
const UNDEFINED: Relation = Rejected("undef", InvalidVariable::Missing);

const LEVEL_1: &[(&str, &str, Relation)] = &[("{var}", "value", Both), ("{hello}", "Hello%20World%21", Both)];

const LEVEL_2: &[(&str, &str, Relation)] = &[
    ("{+var}", "value", Both),
    ("{+hello}", "Hello%20World!", Both),
    ("{+path}/here", "/foo/bar/here", Both),
    ("here?ref={+path}", "here?ref=/foo/bar", Both),
    ("X{#var}", "X#value", Both),
    ("X{#hello}", "X#Hello%20World!", Both),
];

const LEVEL_3: &[(&str, &str, Relation)] = &[
    ("map?{x,y}", "map?1024,768", Both),
    ("{x,hello,y}", "1024,Hello%20World%21,768", Both),
    ("{+x,hello,y}", "1024,Hello%20World!,768", Ambiguous("x")),
    ("{+path,x}/here", "/foo/bar,1024/here", Ambiguous("path")),
    ("{#x,hello,y}", "#1024,Hello%20World!,768", Ambiguous("x")),
    ("{#path,x}/here", "#/foo/bar,1024/here", Ambiguous("path")),
    ("X{.var}", "X.value", Both),
    ("X{.x,y}", "X.1024.768", Ambiguous("x")),
    ("{/var}", "/value", Both),
    ("{/var,x}/here", "/value/1024/here", Both),
    ("{;x,y}", ";x=1024;y=768", Both),
    ("{;x,y,empty}", ";x=1024;y=768;empty", Both),
    ("{?x,y}", "?x=1024&y=768", Both),
    ("{?x,y,empty}", "?x=1024&y=768&empty=", Both),
    ("?fixed=yes{&x}", "?fixed=yes&x=1024", Both),
    ("{&x,y,empty}", "&x=1024&y=768&empty=", Both),
];

const SIMPLE: &[(&str, &str, Relation)] = &[
    ("{var}", "value", Both),
    ("{hello}", "Hello%20World%21", Both),
    ("{half}", "50%25", Both),
    ("O{empty}X", "OX", EMPTY),
    ("O{undef}X", "OX", UNDEFINED),
    ("{x,y}", "1024,768", Both),
    ("{x,hello,y}", "1024,Hello%20World%21,768", Both),
    ("?{x,empty}", "?1024,", EMPTY),
    ("?{x,undef}", "?1024", UNDEFINED),
    ("?{undef,y}", "?768", UNDEFINED),
];

const RESERVED: &[(&str, &str, Relation)] = &[
    ("{+var}", "value", Both),
    ("{+hello}", "Hello%20World!", Both),
    ("{+half}", "50%25", Both),
    ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex", Both),
    ("{+base}index", "http://example.com/home/index", Both),
    ("O{+empty}X", "OX", EMPTY),
    ("O{+undef}X", "OX", UNDEFINED),
    ("{+path}/here", "/foo/bar/here", Both),
    ("here?ref={+path}", "here?ref=/foo/bar", Both),
    ("up{+path}{var}/here", "up/foo/barvalue/here", Ambiguous("path")),
    ("{+x,hello,y}", "1024,Hello%20World!,768", Ambiguous("x")),
    ("{+path,x}/here", "/foo/bar,1024/here", Ambiguous("path")),
];

const FRAGMENT: &[(&str, &str, Relation)] = &[
    ("{#var}", "#value", Both),
    ("{#hello}", "#Hello%20World!", Both),
    ("{#half}", "#50%25", Both),
    ("foo{#empty}", "foo#", EMPTY),
    ("foo{#undef}", "foo", UNDEFINED),
    ("{#x,hello,y}", "#1024,Hello%20World!,768", Ambiguous("x")),
    ("{#path,x}/here", "#/foo/bar,1024/here", Ambiguous("path")),
];

const LABEL: &[(&str, &str, Relation)] = &[
    ("{.who}", ".fred", Both),
    // The template is also ambiguous, but repeated names are reported first.
    ("{.who,who}", ".fred.fred", Repeated("who")),
    ("{.half,who}", ".50%25.fred", Ambiguous("half")),
    ("X{.var}", "X.value", Both),
    ("X{.empty}", "X.", EMPTY),
    ("X{.undef}", "X", UNDEFINED),
];

const PATH_SEGMENT: &[(&str, &str, Relation)] = &[
    ("{/who}", "/fred", Both),
    ("{/who,who}", "/fred/fred", Repeated("who")),
    ("{/half,who}", "/50%25/fred", Both),
    ("{/who,dub}", "/fred/me%2Ftoo", Both),
    ("{/var}", "/value", Both),
    ("{/var,empty}", "/value/", EMPTY),
    ("{/var,undef}", "/value", UNDEFINED),
    ("{/var,x}/here", "/value/1024/here", Both),
];

const PATH_PARAMETER: &[(&str, &str, Relation)] = &[
    ("{;who}", ";who=fred", Both),
    ("{;half}", ";half=50%25", Both),
    ("{;empty}", ";empty", Both),
    ("{;v,empty,who}", ";v=6;empty;who=fred", Both),
    ("{;v,bar,who}", ";v=6;who=fred", Both),
    ("{;x,y}", ";x=1024;y=768", Both),
    ("{;x,y,empty}", ";x=1024;y=768;empty", Both),
    ("{;x,y,undef}", ";x=1024;y=768", Both),
];

const QUERY: &[(&str, &str, Relation)] = &[
    ("{?who}", "?who=fred", Both),
    ("{?half}", "?half=50%25", Both),
    ("{?x,y}", "?x=1024&y=768", Both),
    ("{?x,y,empty}", "?x=1024&y=768&empty=", Both),
    ("{?x,y,undef}", "?x=1024&y=768", Both),
];

const CONTINUATION: &[(&str, &str, Relation)] = &[
    ("{&who}", "&who=fred", Both),
    ("{&half}", "&half=50%25", Both),
    ("?fixed=yes{&x}", "?fixed=yes&x=1024", Both),
    ("{&x,y,empty}", "&x=1024&y=768&empty=", Both),
    ("{&x,y,undef}", "&x=1024&y=768", Both),
];

fn check(examples: &[(&str, &str, Relation)]) {
    for (template, expansion, outcome) in examples {
        let (template, expansion) = (format!("x:{template}"), format!("x:{expansion}"));
        let parsed = UriTemplate::parse(&template);
        let defined = |template: &UriTemplate| {
            variables(VALUES.into_iter().filter(|(name, _)| template.variables().any(|known| known == *name)))
        };
        match (outcome, parsed) {
            (Both, Ok(parsed)) => {
                assert_eq!(parsed.expand(&defined(&parsed)).as_ref(), Ok(&expansion), "{template}");
                assert_eq!(parsed.matches(&expansion), Some(defined(&parsed)), "{template}");
            }
            (Rejected(variable, reason), Ok(parsed)) => {
                let error = parsed.expand(&defined(&parsed)).expect_err(&template);
                assert_eq!((error.variable.as_str(), error.reason), (*variable, *reason), "{template}");
                assert_eq!(parsed.matches(&expansion), None, "{template}");
            }
            (Ambiguous(expected), Err(UriTemplateError::Ambiguous { variable, .. }))
            | (Repeated(expected), Err(UriTemplateError::Repeated(variable))) => {
                assert_eq!(variable, *expected, "{template}");
            }
            (_, parsed) => panic!("{template}: {parsed:?}"),
        }
    }
}

#[test]
fn section_1_2_levels_1_to_3() {
    check(LEVEL_1);
    check(LEVEL_2);
    check(LEVEL_3);
}

#[test]
fn section_3_2_2_simple_string_expansion() {
    check(SIMPLE);
}

#[test]
fn section_3_2_3_reserved_expansion() {
    check(RESERVED);
}

#[test]
fn section_3_2_4_fragment_expansion() {
    check(FRAGMENT);
}

#[test]
fn section_3_2_5_label_expansion_with_dot_prefix() {
    check(LABEL);
}

#[test]
fn section_3_2_6_path_segment_expansion() {
    check(PATH_SEGMENT);
}

#[test]
fn section_3_2_7_path_style_parameter_expansion() {
    check(PATH_PARAMETER);
}

#[test]
fn section_3_2_8_form_style_query_expansion() {
    check(QUERY);
}

#[test]
fn section_3_2_9_form_style_query_continuation() {
    check(CONTINUATION);
}
