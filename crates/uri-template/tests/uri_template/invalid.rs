//! Invalid templates and variables.

use edge_uri_template::{ExpandError, InvalidVariable, UriTemplate, UriTemplateError as E};

use crate::{parsed, variables};

fn ambiguous(variable: &str, next: &str) -> E {
    E::Ambiguous { variable: variable.into(), next: next.into() }
}

#[test]
fn invalid_templates_are_rejected() {
    for (template, error) in [
        ("", E::Scheme),
        ("{slug}", E::Scheme),
        ("{+uri}", E::Scheme),
        ("documents/{slug}", E::Scheme),
        ("{scheme}://{slug}", E::Scheme),
        ("kb://{slug", E::Brace),
        ("kb://slug}", E::Brace),
        ("kb://{a}b}", E::Brace),
        ("kb://{a{b}}", E::Brace),
        ("kb://a b/{slug}", E::Literal(' ')),
        ("kb://<{slug}>", E::Literal('<')),
        ("kb://{slug}\\", E::Literal('\\')),
        ("kb://{slug}\0", E::Literal('\0')),
        ("kb://\u{85}", E::Literal('\u{85}')),
        ("kb://100%/{slug}", E::Literal('%')),
        ("kb://%4", E::Literal('%')),
        ("kb://%%41", E::Literal('%')),
        ("kb://{=slug}", E::Operator('=')),
        ("kb://{,slug}", E::Operator(',')),
        ("kb://{!slug}", E::Operator('!')),
        ("kb://{@slug}", E::Operator('@')),
        ("kb://{|slug}", E::Operator('|')),
        ("kb://{}", E::Name(String::new())),
        ("kb://{+}", E::Name(String::new())),
        ("kb://{a,}", E::Name(String::new())),
        ("kb://{a-b}", E::Name("a-b".into())),
        ("kb://{a, b}", E::Name(" b".into())),
        ("kb://{$a}", E::Name("$a".into())),
        ("kb://{??a}", E::Name("?a".into())),
        ("kb://{a+}", E::Name("a+".into())),
        ("kb://{.}", E::Name(String::new())),
        ("kb://{..a}", E::Name(".a".into())),
        ("kb://{a.}", E::Name("a.".into())),
        ("kb://{a..b}", E::Name("a..b".into())),
        ("kb://{a%4}", E::Name("a%4".into())),
        ("kb://{é}", E::Name("é".into())),
        ("kb://{path*}", E::Modifier("path*".into())),
        ("kb://{/a,path*}", E::Modifier("path*".into())),
        ("kb://{name:3}", E::Modifier("name:3".into())),
        ("kb://{a}/{a}", E::Repeated("a".into())),
        ("kb://{?a,a}", E::Repeated("a".into())),
    ] {
        assert_eq!(UriTemplate::parse(template), Err(error), "{template}");
    }
}

#[test]
fn templates_with_ambiguous_ends_are_rejected() {
    for (template, error) in [
        ("kb://{a}{b}", ambiguous("a", "{b}")),
        ("kb://{a}-{b}", ambiguous("a", "-{b}")),
        ("kb://{a}.{b}.md", ambiguous("a", ".{b}")),
        ("kb://{a}%2F{b}", ambiguous("a", "%2F{b}")),
        ("kb://{a}{+b}", ambiguous("a", "{+b}")),
        ("kb://{a}{.b}", ambiguous("a", "{.b}")),
        ("kb://{a}/{b,c}d{e}", ambiguous("c", "d{e}")),
        ("kb://{+a}/{b}", ambiguous("a", "/{b}")),
        ("kb://{+a}{/b}", ambiguous("a", "{/b}")),
        ("kb://{+a}{?q}", ambiguous("a", "{?q}")),
        ("kb://{+a}/info{?q}", ambiguous("a", "/info{?q}")),
        ("kb://{+a}{#b}", ambiguous("a", "{#b}")),
        ("kb://{#a}{?b}", ambiguous("a", "{?b}")),
        ("kb://{+x,y}", ambiguous("x", ",")),
        ("kb://{#x,y}", ambiguous("x", ",")),
        ("kb://{.x,y}", ambiguous("x", ".")),
        // An optional expression may be absent. Then the part after it follows the variable directly.
        ("kb://{a}{?q}x", ambiguous("a", "{?q}x")),
        ("kb://{a}{?q}{b}", ambiguous("a", "{?q}{b}")),
        ("kb://{a}b{;c}{.d}", ambiguous("a", "b{;c}{.d}")),
        // A parameter may be absent.
        ("kb://{?a}?b", ambiguous("a", "?b")),
        ("kb://{?a}.md", ambiguous("a", ".md")),
        ("kb://{?a}{b}", ambiguous("a", "{b}")),
        ("kb://{;a}{;b}", ambiguous("a", "{;b}")),
        ("kb://{;a}=b", ambiguous("a", "=b")),
        ("kb://{?a,b}{&c}", ambiguous("b", "{&c}")),
        ("kb://{?a,b}&c=1", ambiguous("b", "&c=1")),
        ("kb://{?a}{&b}{?c}", ambiguous("a", "{&b}{?c}")),
    ] {
        assert_eq!(UriTemplate::parse(template), Err(error), "{template}");
    }
}

#[test]
fn valid_names_of_variables_are_accepted() {
    for name in ["a", "A9_", "_", "9", "a.b.c", "%C3%A9", "a%2eb"] {
        assert!(parsed(&format!("kb://{{{name}}}")).variables().eq([name]), "{name}");
    }
}

#[test]
fn variables_that_would_not_match_again_are_rejected() {
    for (template, pairs, variable, reason) in [
        ("x:{a}", &[][..], "a", InvalidVariable::Missing),
        ("x:{/a,b}", &[("a", "1")], "b", InvalidVariable::Missing),
        ("x:{a}{?b}", &[("b", "1")], "a", InvalidVariable::Missing),
        ("x:{a}", &[("a", "1"), ("b", "2")], "b", InvalidVariable::Unknown),
        ("x:{a}", &[("a", "")], "a", InvalidVariable::Empty),
        ("x:{#a}", &[("a", "")], "a", InvalidVariable::Empty),
        ("x:{a}", &[("a", "b\0")], "a", InvalidVariable::Nul),
        ("x:{?a}", &[("a", "\0")], "a", InvalidVariable::Nul),
        ("x:{a}", &[("a", "..")], "a", InvalidVariable::DotSegment),
        ("x:{+a}", &[("a", "/b/../c")], "a", InvalidVariable::DotSegment),
        ("x:{/a}", &[("a", "b/.")], "a", InvalidVariable::DotSegment),
        ("x:{?a}", &[("a", "..\\b")], "a", InvalidVariable::DotSegment),
        ("x:{+a}", &[("a", "b%20c")], "a", InvalidVariable::Escape),
        ("x:{#a}", &[("a", "%fF")], "a", InvalidVariable::Escape),
    ] {
        let error = ExpandError { variable: variable.to_owned(), reason };
        assert_eq!(parsed(template).expand(&variables(pairs.iter().copied())), Err(error), "{template}");
    }
}

#[test]
fn errors_name_the_variable_and_the_problem() {
    let text = |template| UriTemplate::parse(template).unwrap_err().to_string();
    let text_has = |template, parts: &[&str]| parts.iter().all(|part| text(template).contains(part));
    assert!(text_has("kb://{a}-{b}", &["`a`", "`-{b}`", "`/`"]), "{}", text("kb://{a}-{b}"));
    assert!(text_has("kb://{path*}", &["`path*`", "level 4"]), "{}", text("kb://{path*}"));
    assert!(text_has("kb://a b", &["' '", "percent-encode"]), "{}", text("kb://a b"));
    assert!(text_has("kb://%", &["`%25`"]), "{}", text("kb://%"));
    assert!(text_has("kb://{", &["brace"]), "{}", text("kb://{"));
    let rejected = parsed("x:{a}").expand(&variables([("a", "..")])).unwrap_err();
    assert_eq!(rejected.to_string(), "the variable `a` contains a path segment `.` or `..`");
}
