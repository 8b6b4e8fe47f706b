//! JSON Schema 2020-12: made from Rust types once, published, and enforced as published.
//!
//! | module | what it holds |
//! |---|---|
//! | `generate` | from a Rust type to a schema |
//! | `compile` | from a schema to what can be checked; refuses what could not be |
//! | `references`, `cycles` | where references lead, and whether they come to an end |
//! | `program`, `alternatives` | what can be checked, and what tells alternatives apart |
//! | `pattern`, `format` | regular expressions, and the formats of forms |
//! | `check` | whether a value fits, and the mistakes in one that does not |
//! | `check_object`, `check_unique`, `check_alternatives` | the same for members, for equal items, and for `anyOf` and `oneOf` |
//! | `steps`, `memo` | how much work a check may take, and what it remembers meanwhile |
//! | `explain`, `mistake` | the words for a mistake, and its place |
//! | `strings` | arguments that are strings on the wire, as values of a schema |
//! | `header_params` | arguments that a client repeats in headers |
//! | `form` | schemas of forms that a person fills in |
//! | `wrap` | schemas for clients that know only objects |
//!
//! A schema is what a *type* determines: it is made at the first use of the type and kept as long as the isolate lives.
//!
//! # What it costs
//!
//! Measured on 2026-11-20 on two shared cores, natively, beside the `jsonschema` crate 0.60.2
//! (`cargo run --release -p edge-mcp-schema-tests --example bench`); microseconds, medians of one run:
//!
//! | schemas | compile | that crate | a value that fits | that crate |
//! |---|--:|--:|--:|--:|
//! | the 29 of the example with every feature | 92 | 101 | 1.6 | 0.5 |
//! | calendar tool | 187 | 342 | 7.6 | 1.0 |
//! | filter query, which contains itself | 161 | 151 | 21.6 | 1.5 |
//! | HTTP operation | 152 | 174 | 9.1 | 2.4 |
//! | issue tool | 38 | 67 | 2.9 | 0.2 |
//! | package manifest | 131 | 216 | 13.4 | 2.1 |
//!
//! A check is slower than that crate's, and a schema is compiled once.

mod alternatives;
mod check;
mod check_alternatives;
mod check_object;
mod check_unique;
mod compile;
mod cycles;
mod explain;
mod form;
mod format;
mod generate;
mod header_params;
mod memo;
mod mistake;
mod pattern;
mod program;

mod references;
mod steps;
mod strings;
mod wrap;

use std::any::TypeId;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde_json::value::RawValue;

pub use check::Checked;
use check::Manner;
pub use compile::SchemaError;
pub(crate) use header_params::HeaderParam;
pub(crate) use mistake::told;
use program::Program;
pub(crate) use program::Type;

use crate::json::Value;
use crate::limits::{CHECK_STEPS, EXPLANATION_STEPS, SCHEMAS};

/// A schema as it is published, with the program that enforces it.
pub struct Schema {
    value: serde_json::Value,
    json: Box<RawValue>,
    wrapped: OnceCell<Box<RawValue>>,
    header_params: Vec<HeaderParam>,
    program: Program,
    is_of_objects: bool,
}

thread_local! {
    static BY_TYPE: RefCell<FxHashMap<TypeId, Result<Rc<Schema>, SchemaError>>> = RefCell::default();
    static BY_TEXT: RefCell<HashMap<String, Result<Rc<Schema>, SchemaError>>> = RefCell::default();
}

/// The types of what has no parts: what a string can spell, and a form can ask for.
const SCALARS: [&str; 4] = ["string", "number", "integer", "boolean"];

impl Schema {
    /// The steps that a check takes at most, its explanation included: about 50 ms of WebAssembly.
    pub const MOST_STEPS: u32 = CHECK_STEPS + EXPLANATION_STEPS;

    /// The schema of `T`.
    ///
    /// # Errors
    /// [`SchemaError`], if `T` uses a keyword that is not enforced here.
    pub fn of<T: JsonSchema + 'static>() -> Result<Rc<Self>, SchemaError> {
        Self::of_type(TypeId::of::<T>(), generate::from_type::<T>)
    }

    /// What does not depend on the type, so that a module has it once.
    fn of_type(id: TypeId, value: fn() -> serde_json::Value) -> Result<Rc<Self>, SchemaError> {
        let known = BY_TYPE.with_borrow(|schemas| schemas.get(&id).cloned());
        known.unwrap_or_else(|| Self::made_of_type(id, value))
    }

    /// On its own, since an engine compiles what is often called anew, and this is much that is called once.
    #[cold]
    #[inline(never)]
    fn made_of_type(id: TypeId, value: fn() -> serde_json::Value) -> Result<Rc<Self>, SchemaError> {
        let made = Self::compile(value()).map(Rc::new);
        BY_TYPE.with_borrow_mut(|schemas| schemas.insert(id, made.clone()));
        made
    }

    /// The schema that is given as data. It is published as it is.
    ///
    /// # Errors
    /// [`SchemaError`], if it is none, or uses a keyword that is not enforced here.
    pub fn of_value(value: &serde_json::Value) -> Result<Rc<Self>, SchemaError> {
        let text = value.to_string();
        let known = BY_TEXT.with_borrow(|schemas| schemas.get(&text).cloned());
        known.unwrap_or_else(|| {
            let made = Self::compile(value.clone()).map(Rc::new);
            BY_TEXT.with_borrow_mut(|schemas| {
                if schemas.len() >= SCHEMAS {
                    schemas.clear();
                }
                schemas.insert(text, made.clone());
            });
            made
        })
    }

    /// The schema of `T`, whose values are objects.
    ///
    /// # Errors
    /// As for [`of`](Self::of), and if they are not.
    pub fn of_object<T: JsonSchema + 'static>() -> Result<Rc<Self>, SchemaError> {
        Self::of::<T>()?.checked_to_be_of_objects()
    }

    pub(crate) fn checked_to_be_of_objects(self: Rc<Self>) -> Result<Rc<Self>, SchemaError> {
        if self.is_of_objects() { Ok(self) } else { Err(SchemaError::not_an_object()) }
    }

    fn compile(value: serde_json::Value) -> Result<Self, SchemaError> {
        let program = compile::compile(&value)?;
        let json = serde_json::value::to_raw_value(&value).map_err(|error| SchemaError::unreadable(&error))?;
        let header_params = header_params::collect(&value)?;
        let is_of_objects = value.get("type").and_then(serde_json::Value::as_str) == Some("object");
        Ok(Self { value, json, wrapped: OnceCell::new(), header_params, program, is_of_objects })
    }

    /// The schema as JSON.
    pub fn json(&self) -> &RawValue {
        &self.json
    }

    /// The schema as a value.
    pub(crate) fn value(&self) -> &serde_json::Value {
        &self.value
    }

    /// What is wrong with `value`: a line for each of the first ten mistakes, or nothing. Values are shortened in it, and those of
    /// properties that are named like a secret are not shown.
    ///
    /// It takes at most [`MOST_STEPS`](Self::MOST_STEPS). A value that takes more is rejected, in one line.
    pub fn validate(&self, value: Value<'_>) -> Vec<String> {
        self.check(value).mistakes
    }

    /// The same, with `format` enforced where it is one that a form can have: `email`, `uri`, `date` and `date-time`.
    pub fn validate_with_formats(&self, value: Value<'_>) -> Vec<String> {
        check::check(&self.program, value, Manner { formats: true, ..Manner::default() }).mistakes
    }

    /// The same as [`validate`](Self::validate), with the number of steps that it took.
    pub fn check(&self, value: Value<'_>) -> Checked {
        check::check(&self.program, value, Manner::default())
    }

    /// The same as [`validate`](Self::validate) for the log: no value is shown.
    pub(crate) fn validate_for_log(&self, value: Value<'_>) -> Vec<String> {
        check::check(&self.program, value, Manner { hides_values: true, ..Manner::default() }).mistakes
    }

    /// The arguments that a client repeats in headers.
    pub(crate) fn header_params(&self) -> &[HeaderParam] {
        &self.header_params
    }

    /// The properties of an object, each with its schema.
    fn properties(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
        self.value.get("properties")?.as_object()
    }

    /// Whether only objects fit it.
    pub(crate) fn is_of_objects(&self) -> bool {
        self.is_of_objects
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::{Document, JsonLimits};

    /// A schema is compiled once, whether a type or a text says what it is; texts are kept to a limit.
    #[test]
    fn schemas_are_made_once() {
        let (one, other) = (Schema::of::<Vec<u8>>().expect("a schema"), Schema::of::<Vec<u8>>().expect("a schema"));
        assert!(Rc::ptr_eq(&one, &other));
        let of = |most: usize| Schema::of_value(&json!({ "type": "array", "maxItems": most })).expect("a schema");
        assert!(Rc::ptr_eq(&of(1), &of(1)) && !Rc::ptr_eq(&of(1), &of(2)));
        for most in 0..2 * SCHEMAS {
            of(most);
            assert!(BY_TEXT.with_borrow(HashMap::len) <= SCHEMAS);
        }
    }

    /// Finding them takes most of the steps, so they are not looked for again when the mistake is written.
    #[test]
    fn two_equal_items_are_named_among_hundreds_of_thousands() {
        let schema = Schema::of_value(&json!({ "uniqueItems": true })).expect("a schema");
        for (last, says) in [("1", "[0] and [1]"), ("7,7", "[400000] and [400001]")] {
            let unique: Vec<_> = (10..400_010).map(|n| n.to_string()).collect();
            let items = if last == "1" { vec!["1".to_owned(); 400_000] } else { unique };
            let text = format!("[{},{last}]", items.join(","));
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("within the limits");
            assert!(schema.validate(document.root()).concat().ends_with(says), "{says}");
        }
    }
}
