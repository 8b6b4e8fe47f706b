use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use serde::Deserialize;
use serde::de::{Error, IgnoredAny};
use serde_json::value::RawValue;

use super::*;

fn with_document<T>(text: &str, act: impl FnOnce(Value<'_>) -> T) -> T {
    act(Document::parse(text.as_bytes(), JsonLimits::MOST).expect("JSON").root())
}

fn of_text<T: DeserializeOwned>(text: &str) -> Result<T, TypeError> {
    with_document(text, |value| read(value))
}

#[derive(Debug, PartialEq, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Deserialize)]
struct Newtype(u8);

#[derive(Debug, PartialEq, Deserialize)]
struct Tuple(u8, String);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: i32,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Loose {
    a: Option<u8>,
    #[serde(default)]
    b: Vec<f64>,
    c: Option<Box<Loose>>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Plain {
    Unit,
    Newtype(u8),
    Tuple(u8, bool),
    Struct { a: u8 },
    Optional(Option<u8>),
    Empty(()),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    A,
    B,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "t")]
enum Internal {
    A { n: u8, x: Option<f64> },
    B(Loose),
    C,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A(u8),
    B { s: String },
    C,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Untagged>),
    Struct { a: u8 },
    Nothing,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    #[serde(flatten)]
    strict: Inner,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Inner {
    a: u8,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
struct Even(String);

impl TryFrom<String> for Even {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.len().is_multiple_of(2) { Ok(Self(text)) } else { Err(format!("{text} is odd")) }
    }
}

/// Bytes, from a string or an array.
#[derive(Debug, PartialEq)]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = items.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Visit)
    }
}

/// Reads the first item or member and ignores the others.
#[derive(Debug, PartialEq)]
struct First(Option<u8>);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = First;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or an object")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<First, A::Error> {
                items.next_element().map(First)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<First, A::Error> {
                Ok(First(members.next_entry::<String, u8>()?.map(|(_, value)| value)))
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

/// Values of every kind: alone, in arrays, as members, and in the shapes of the types above.
fn texts() -> Vec<String> {
    const SCALARS: [&str; 44] = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1",
        "7",
        "127",
        "128",
        "-128",
        "-129",
        "255",
        "256",
        "65535",
        "65536",
        "2147483647",
        "-2147483649",
        "4294967296",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "0.5",
        "-1.25",
        "1e-3",
        "1.7e308",
        "5e-324",
        "123456789.123456789",
        "340282350000000000000000000000000000000",
        "\"\"",
        "\"a\"",
        "\"A\"",
        "\"b\"",
        "\"ab\"",
        "\"é\"",
        r#""\n\u00e9\ud83d\ude00""#,
        "\"7\"",
        "\"true\"",
        "\"Unit\"",
        "\"C\"",
    ];
    const SHAPES: [&str; 16] = [
        "[]",
        "{}",
        "[#]",
        "[#,#]",
        "[1,#]",
        "[#,\"x\"]",
        "{\"a\":#}",
        "{\"a\":1,\"b\":[#],\"x\":2}",
        "{\"a\":1,\"c\":{\"a\":#}}",
        "{\"Newtype\":#}",
        "{\"Tuple\":[1,#]}",
        "{\"Struct\":{\"a\":#}}",
        "{\"t\":\"A\",\"n\":#,\"x\":null,\"c\":#}",
        "{\"t\":\"B\",\"a\":#,\"c\":{\"s\":#}}",
        "{\"t\":#}",
        "[[#],[#,1]]",
    ];
    const OTHERS: [&str; 22] = [
        r#"{"Unit":null}"#,
        r#"{"Unit":1}"#,
        r#"{"Optional":null}"#,
        r#"{"Optional":3}"#,
        r#"{"Empty":null}"#,
        r#"{"Struct":[1]}"#,
        r#"{"Struct":[1,2]}"#,
        r#"{"Newtype":1,"Unit":null}"#,
        r#"{"Tuple":[1,true]}"#,
        r#"{"Tuple":[1]}"#,
        r#"{"Tuple":{"a":1}}"#,
        r#"{"t":"C"}"#,
        r#"{"t":"C","c":null}"#,
        r#"{"n":1,"t":"A"}"#,
        r#"{"1":"x","2":"y"}"#,
        r#"{"-1":"x","1.5":"y"}"#,
        r#"{"true":1,"false":2}"#,
        r#"{"a":1,"\u0062":2}"#,
        r#"{" 1":1}"#,
        r#""127.0.0.1""#,
        r#"{"secs":1,"nanos":2}"#,
        r#"{"a":{"$serde_json::private::RawValue":"1"}}"#,
    ];
    let mut texts: Vec<String> = SCALARS.iter().chain(&OTHERS).map(|text| (*text).to_owned()).collect();
    for shape in SHAPES {
        texts.extend(SCALARS.iter().chain(&OTHERS).map(|scalar| shape.replace('#', scalar)));
    }
    texts
}

/// Checks that the result is the same as that of serde_json for every text. Returns the numbers of accepted and rejected texts.
fn compare<T: DeserializeOwned + Debug>() -> (usize, usize) {
    let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
    for text in texts() {
        let (ours, theirs) = (of_text::<T>(&text), serde_json::from_str::<T>(&text));
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{text}");
                accepted.push(text);
            }
            (Err(_), Err(_)) => rejected.push(text),
            // Here `-0` is an integer.
            (Ok(_), Err(_)) if text.contains("-0") => {}
            // Without a feature that another crate may enable, serde_json reads numbers that an `f32` cannot hold as infinity.
            (Err(_), Ok(theirs)) if format!("{theirs:?}").contains("inf") => rejected.push(text),
            // Here an array is not a struct.
            (Err(error), Ok(_)) if error.to_string().starts_with("expected struct ") => rejected.push(text),
            (ours, theirs) => panic!("{} of {text}: {ours:?}, not {theirs:?}", std::any::type_name::<T>()),
        }
    }
    (accepted.len(), rejected.len())
}

#[test]
fn types_are_read_as_serde_json_reads_them() {
    macro_rules! agree {
        ($($kind:ty),* $(,)?) => {$(
            let (accepted, rejected) = compare::<$kind>();
            assert!(accepted > 0 && rejected > 0, "{}: {accepted} accepted, {rejected} rejected", stringify!($kind));
        )*};
    }
    agree!(bool, u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64, char, String, ());
    agree!(
        Unit, Newtype, Tuple, Strict, Loose, Plain, Name, Internal, Adjacent, Untagged, Flat, Inner, Even, Bytes, First
    );
    agree!(Vec<u8>, Vec<f32>, Vec<Plain>, Vec<Option<i64>>, (u8, u8), (u8, String), [u8; 1], Box<[String]>);
    agree!(BTreeMap<String, u8>, BTreeMap<u8, String>, BTreeMap<i64, String>, BTreeMap<bool, u8>, BTreeMap<Name, u8>);
    agree!(BTreeMap<u128, String>, BTreeMap<Option<i8>, String>, BTreeMap<char, serde_json::Value>);
    agree!(BTreeMap<String, BTreeMap<String, Vec<Loose>>>, std::num::NonZeroU8, std::time::Duration, std::net::IpAddr);
    for total in [compare::<serde_json::Value>(), compare::<Option<serde_json::Value>>(), compare::<IgnoredAny>()] {
        assert_eq!(total.1, 0, "every value is accepted");
    }
    assert_eq!(compare::<Box<RawValue>>().1, 0);
    assert!(compare::<BTreeMap<String, Box<RawValue>>>().0 > 0);
    assert!(compare::<Vec<Box<RawValue>>>().0 > 0);
    assert!(compare::<Option<u8>>().0 > 0);
}

/// Source: JSON Schema 2020-12, Core, §4.2.3 and Validation, §6.1.1: a number without fraction is an integer.
#[test]
fn whole_numbers_are_integers() {
    for text in ["7", "7.0", "7e0", "70e-1", "0.7e1"] {
        assert_eq!(of_text::<u8>(text).ok(), Some(7), "{text}");
        assert_eq!(of_text::<i64>(text).ok(), Some(7), "{text}");
        assert_eq!(of_text::<u128>(text).ok(), Some(7), "{text}");
        assert_eq!(of_text::<f64>(text).ok(), Some(7.0), "{text}");
        assert_eq!(
            of_text::<Internal>(&format!(r#"{{"t":"A","n":{text}}}"#)).ok(),
            Some(Internal::A { n: 7, x: None })
        );
        assert_eq!(of_text::<Flat>(&format!(r#"{{"a":{text}}}"#)).ok().map(|flat| flat.strict.a), Some(7), "{text}");
    }
    assert_eq!(of_text::<i8>("-7.0").ok(), Some(-7));
    assert_eq!(of_text::<i64>("-9007199254740991.0").ok(), Some(-9_007_199_254_740_991));
    assert_eq!(of_text::<u64>("18446744073709551615").ok(), Some(u64::MAX));
    assert_eq!(of_text::<i128>("-170141183460469231731687303715884105728").ok(), Some(i128::MIN));
    for text in ["7.5", "256", "256.0", "-1", "-1.0", "1e400", "9007199254740993.0", "\"7\""] {
        assert!(of_text::<u8>(text).is_err(), "{text}");
    }
    assert_eq!(of_text::<u64>("9007199254740993.0").ok(), Some(9_007_199_254_740_993), "numbers are not rounded");
    assert_eq!(of_text::<u64>("1.8446744073709551615e19").ok(), Some(u64::MAX));
    assert!(of_text::<u64>("1.8446744073709551616e19").is_err());
    assert!(of_text::<BTreeMap<u8, u8>>(r#"{"7.0":1}"#).is_err(), "keys are not JSON numbers");
    assert_eq!(
        of_text::<serde_json::Value>("7.0").ok(),
        Some(serde_json::json!(7.0)),
        "a number without a type stays a float"
    );
    assert_eq!(of_text::<Untagged>("7.0").ok(), Some(Untagged::Float(7.0)));
}

/// A string without escapes is borrowed. A raw value is the source text.
#[test]
fn strings_are_borrowed() {
    with_document(r#"{"a":"x","b":"\u0078"}"#, |value| {
        let borrowed: BTreeMap<&str, Cow<'_, str>> = read(value).expect("strings");
        assert_eq!(borrowed.get("b").map(AsRef::as_ref), Some("x"));
        assert!(read::<Vec<&str>>(value.get("b").expect("there")).is_err());
        assert!(read::<&str>(value.get("b").expect("there")).is_err(), "a string with escapes cannot be borrowed");
        assert_eq!(read::<&str>(value.get("a").expect("there")).ok(), Some("x"));
        assert_eq!(read::<&RawValue>(value).expect("raw").get(), value.text());
    });
    let numbers: Vec<Box<RawValue>> = of_text("[1e400, 1.0 ,{ \"a\" :1}]").expect("raw");
    assert_eq!(numbers.iter().map(|raw| raw.get()).collect::<Vec<_>>(), ["1e400", "1.0", "{ \"a\" :1}"]);
}

#[test]
fn type_errors_have_a_path() {
    fn message<T: DeserializeOwned + Debug>(text: &str) -> String {
        let error = of_text::<T>(text).expect_err("rejected");
        let segment = |segment: &PathSegment| match segment {
            PathSegment::Member(name) => format!(".{name}"),
            PathSegment::Item(index) => format!("[{index}]"),
        };
        format!("{} {error}", error.path().map(segment).collect::<String>())
    }
    assert_eq!(
        message::<BTreeMap<String, Vec<Loose>>>(r#"{"documents":[{"a":1},{"a":"s3cret"}]}"#),
        ".documents[1].a expected u8"
    );
    assert_eq!(message::<Loose>(r#"{"a":1,"c":{"a":2,"c":{"b":[1,2,"x"]}}}"#), ".c.c.b[2] expected f64");
    assert_eq!(message::<Loose>(r#"{"a":256}"#), ".a expected u8");
    assert_eq!(message::<Loose>(r#"{"b":[1e400]}"#), ".b[0] the number is out of range");
    assert_eq!(message::<Plain>(r#"{"Struct":{"a":[]}}"#), ".Struct.a expected u8");
    assert_eq!(message::<Inner>("{}"), " missing field `a`");
    assert_eq!(message::<BTreeMap<u8, u8>>(r#"{"x":1}"#), ".x expected u8");
    assert_eq!(message::<Vec<Even>>(r#"["ab","abc"]"#), "[1] abc is odd");
    assert_eq!(message::<Plain>(r#"{"Unit":null,"Empty":null}"#), " expected a string, or an object with one member");
    assert_eq!(message::<Plain>("\"Newtype\""), " expected a variant with content: an object with one member");
}
