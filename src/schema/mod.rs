//! JSON Schema 2020-12: generated from Rust types, published, and enforced as published.
//!
//! | module | contents |
//! |---|---|
//! | `generate` | the schema of a Rust type |
//! | `compile`, `keyword_value` | the compiler, which rejects schemas that cannot be enforced |
//! | `sorted` | a sort with a small code size |
//! | `references`, `cycles` | the targets of `$ref`, and cycles among them |
//! | `program`, `types`, `alternatives` | the compiled schema, and data to exclude alternatives without a check |
//! | `pattern`, `format` | regular expressions, and the formats of forms |
//! | `check` | the check of a value |
//! | `check_object`, `check_unique`, `check_alternatives` | the parts of the check for members, equal items, `anyOf` and `oneOf` |
//! | `budget`, `memo` | the budget of a check, and its cache |
//! | `explain`, `mistake` | the text of mistakes |
//! | `strings` | prompt arguments, which are strings on the wire |
//! | `header_params` | arguments that a client repeats in headers |
//! | `form` | the schemas of elicitation forms |
//! | `wrap` | output schemas for clients that support only objects |
//!
//! The schema of a Rust type is compiled at the first use of the type, and cached for the life of the isolate. Schemas from JSON values are
//! in a bounded cache.
//!
//! # Cost
//!
//! Measured on 2026-11-20 on two shared cores, natively, in comparison with the `jsonschema` crate 0.60.2
//! (`cargo run --release -p edge-mcp-schema-tests --example bench`). Times are in microseconds, medians of one run:
//!
//! | schemas | compile | `jsonschema` | check of a valid value | `jsonschema` |
//! |---|--:|--:|--:|--:|
//! | the 29 schemas of the example with every feature | 92 | 101 | 1.6 | 0.5 |
//! | calendar tool | 187 | 342 | 7.6 | 1.0 |
//! | filter query (recursive) | 161 | 151 | 21.6 | 1.5 |
//! | HTTP operation | 152 | 174 | 9.1 | 2.4 |
//! | issue tool | 38 | 67 | 2.9 | 0.2 |
//! | package manifest | 131 | 216 | 13.4 | 2.1 |
//!
//! A check takes longer than with `jsonschema`. Each schema is compiled only once.

mod alternatives;
mod budget;
mod check;
mod check_alternatives;
mod check_object;
mod check_unique;
mod compile;
mod cycles;
mod error;
mod explain;
mod form;
mod format;
mod generate;
mod header_params;
mod keyword_value;
mod memo;
mod mistake;
mod pattern;
mod program;
mod references;
mod sorted;
mod strings;
mod types;
mod wrap;

use std::any::TypeId;
#[cfg(feature = "client")]
use std::cell::Cell;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde_json::value::RawValue;

pub(crate) use budget::CheckSteps;
use budget::Steps;
use check::Options;
pub use error::SchemaError;
pub use generate::HasJsonSchema;
#[cfg(feature = "client")]
pub(crate) use header_params::collect as header_params;
pub(crate) use header_params::{HeaderParam, is_header_name};
pub(crate) use mistake::describe_type_error;
use program::Program;
pub(crate) use types::Type;

use crate::bounded_cache::{BoundedCache, NEVER};
use crate::json::{Document, JsonLimits, Value, write};
#[cfg(feature = "client")]
use crate::limits::{CACHED_FOREIGN_STEPS, FOREIGN_SCHEMA_STEPS, FOREIGN_SCHEMAS};
use crate::limits::{CHECK_STEPS, EXPLANATION_STEPS, SCHEMAS};

/// A compiled JSON Schema: the schema as it is published, and the program that enforces it.
pub struct Schema {
    /// The schema as a tree. It is null if another server enforces the schema: a tree takes much more memory than the text.
    value: serde_json::Value,
    is_enforced: bool,
    json: Box<RawValue>,
    wrapped: OnceCell<Box<RawValue>>,
    header_params: Vec<HeaderParam>,
    program: Program,
    is_of_objects: bool,
}

thread_local! {
    static BY_TYPE: RefCell<FxHashMap<TypeId, Result<Rc<Schema>, SchemaError>>> = RefCell::default();
    static BY_TEXT: RefCell<BoundedCache<String, Result<Rc<Schema>, SchemaError>>> =
        const { RefCell::new(BoundedCache::new(SCHEMAS)) };
}

#[cfg(feature = "client")]
thread_local! {
    /// Schemas of other servers that take little memory.
    static OF_OTHER_SERVERS: RefCell<BoundedCache<String, Result<Rc<Schema>, SchemaError>>> =
        const { RefCell::new(BoundedCache::new(FOREIGN_SCHEMAS)) };
}

/// The reason why a schema of another server is not enforced.
#[cfg(feature = "client")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum NotEnforceable {
    /// The schema is not valid, or it uses a keyword that is not supported.
    Unsupported,
    /// The compilation takes too many steps.
    TooCostly,
}

/// The types of scalar values, which a string can represent and a form can request.
const SCALARS: [&str; 4] = ["string", "number", "integer", "boolean"];

impl Schema {
    /// Returns the schema of `T`.
    ///
    /// # Errors
    /// [`SchemaError`] if the schema uses a keyword that cannot be enforced.
    pub fn of<T: JsonSchema + 'static>() -> Result<Rc<Self>, SchemaError> {
        Self::of_type(TypeId::of::<T>(), generate::from_type::<T>)
    }

    /// Returns the schema of a type. This part of `of` does not depend on `T`, so the compiled module contains it only once.
    fn of_type(id: TypeId, value: fn() -> serde_json::Value) -> Result<Rc<Self>, SchemaError> {
        let known = BY_TYPE.with_borrow(|schemas| schemas.get(&id).cloned());
        known.unwrap_or_else(|| Self::compile_type(id, value))
    }

    /// Compiles the schema of a type and caches it. This large part runs only once per type. It is a separate function because the engine
    /// optimizes functions that are called often.
    #[cold]
    #[inline(never)]
    fn compile_type(id: TypeId, value: fn() -> serde_json::Value) -> Result<Rc<Self>, SchemaError> {
        let compiled = Self::of_program(value());
        BY_TYPE.with_borrow_mut(|schemas| schemas.insert(id, compiled.clone()));
        compiled
    }

    /// Compiles a schema that is given as a JSON value. It is published unchanged.
    ///
    /// # Errors
    /// [`SchemaError`] if the value is not a valid schema or uses a keyword that cannot be enforced.
    pub fn of_value(value: &serde_json::Value) -> Result<Rc<Self>, SchemaError> {
        let text = write::text(value);
        let known = BY_TEXT.with_borrow(|schemas| schemas.get(&text, 0).cloned());
        known.unwrap_or_else(|| {
            let compiled = Self::of_program(value.clone());
            BY_TEXT.with_borrow_mut(|schemas| schemas.insert(text, compiled.clone(), NEVER, 0));
            compiled
        })
    }

    /// Compiles a schema of another server from its text, in at most [`FOREIGN_SCHEMA_STEPS`] of the steps that are left for the request. A
    /// schema that took few steps is cached for the isolate.
    ///
    /// # Errors
    /// The schema cannot be enforced.
    #[cfg(feature = "client")]
    pub(crate) fn of_other_server(text: &str, left: &Cell<u32>) -> Result<Rc<Self>, NotEnforceable> {
        if let Some(Ok(known)) = OF_OTHER_SERVERS.with_borrow(|schemas| schemas.get(text, 0).cloned()) {
            return Ok(known);
        }
        let value = tree(text).ok_or(NotEnforceable::Unsupported)?;
        let before = left.get();
        let compiled = Self::of_form(value, left)?;
        // The number of steps bounds the size of a compiled schema. The length of its text does not.
        if before.saturating_sub(left.get()) <= CACHED_FOREIGN_STEPS {
            let (text, compiled) = (text.to_owned(), Ok(compiled.clone()));
            OF_OTHER_SERVERS.with_borrow_mut(|schemas| schemas.insert(text, compiled, NEVER, 0));
        }
        Ok(compiled)
    }

    /// Compiles the schema of a form like [`of_other_server`](Self::of_other_server), but does not cache it.
    ///
    /// # Errors
    /// As for `of_other_server`.
    #[cfg(feature = "client")]
    pub(crate) fn of_form(value: serde_json::Value, left: &Cell<u32>) -> Result<Rc<Self>, NotEnforceable> {
        let (compiled, taken) = Self::of_other_server_with_steps(value, FOREIGN_SCHEMA_STEPS.min(left.get()));
        left.set(left.get().saturating_sub(taken));
        compiled
    }

    /// Compiles a schema of another server in at most `most` steps. Returns the steps too. For tests and benchmarks.
    #[cfg(feature = "client")]
    #[doc(hidden)]
    pub fn of_other_server_with_steps(value: serde_json::Value, most: u32) -> (Result<Rc<Self>, NotEnforceable>, u32) {
        let mut steps = Steps::of(most);
        let compiled = Self::compile(value, &mut steps);
        let taken = most.saturating_sub(steps.left());
        let reason = if steps.are_exhausted() { NotEnforceable::TooCostly } else { NotEnforceable::Unsupported };
        (compiled.map(Rc::new).map_err(|_| reason), taken)
    }

    /// Returns a schema that is published unchanged and not enforced: another server enforces it.
    #[cfg(feature = "client")]
    pub(crate) fn unenforced(json: Box<RawValue>, is_of_objects: bool) -> Rc<Self> {
        Rc::new(Self {
            value: serde_json::Value::Null,
            is_enforced: false,
            json,
            wrapped: OnceCell::new(),
            header_params: Vec::new(),
            program: Program::default(),
            is_of_objects,
        })
    }

    /// Returns the schema of `T`, which must be an object schema.
    ///
    /// # Errors
    /// [`SchemaError`] as for [`of`](Self::of), or if `type` is not `"object"`.
    pub fn of_object<T: JsonSchema + 'static>() -> Result<Rc<Self>, SchemaError> {
        Self::of::<T>()?.require_objects()
    }

    /// Returns this schema, or an error if `type` is not `"object"`.
    pub(crate) fn require_objects(self: Rc<Self>) -> Result<Rc<Self>, SchemaError> {
        if self.is_of_objects() { Ok(self) } else { Err(*SchemaError::at("", "`type` must be \"object\"")) }
    }

    /// Compiles a schema of this program, without a limit on steps.
    fn of_program(value: serde_json::Value) -> Result<Rc<Self>, SchemaError> {
        let mut compiled = Self::compile(value, &mut Steps::unlimited()).map_err(|error| *error)?;
        compiled.header_params = header_params::collect(&compiled.value, usize::MAX).map_err(|error| *error)?;
        Ok(Rc::new(compiled))
    }

    fn compile(value: serde_json::Value, steps: &mut Steps) -> Result<Self, Box<SchemaError>> {
        let program = compile::compile(&value, steps)?;
        let json = write::to_raw_value(&value)
            .map_err(|error| SchemaError::at("", format!("the schema cannot be serialized: {error}")))?;
        let is_of_objects = value.get("type").and_then(serde_json::Value::as_str) == Some("object");
        Ok(Self {
            value,
            is_enforced: true,
            json,
            wrapped: OnceCell::new(),
            header_params: Vec::new(),
            program,
            is_of_objects,
        })
    }

    /// Returns the schema as JSON text.
    pub fn json(&self) -> &RawValue {
        &self.json
    }

    /// Returns the schema as a JSON value, or `None` if a number of it is out of the range of `f64`.
    pub(crate) fn to_value(&self) -> Option<serde_json::Value> {
        if self.is_enforced { Some(self.value.clone()) } else { tree(self.json.get()) }
    }

    /// Returns whether this program enforces the schema.
    pub(crate) fn is_enforced(&self) -> bool {
        self.is_enforced
    }

    /// Checks `value` and returns one line for each of the first ten mistakes, or nothing if the value is valid.
    ///
    /// A line has the path of the value and the problem, such as `` `limit` must be at most 50 (got 99) ``. Values are shortened. Values of
    /// properties that are named like a secret are not shown.
    ///
    /// The number of steps is [limited](crate::limits). A value that takes more steps is rejected, with one line.
    pub fn validate(&self, value: Value<'_>) -> Vec<String> {
        self.validate_within(value, &CheckSteps::default())
    }

    /// Checks `value` like [`validate`](Self::validate), with the steps that are left for several checks.
    pub(crate) fn validate_within(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        check::check(&self.program, value, Options::default(), steps)
    }

    /// Checks `value` like [`validate`](Self::validate), and enforces the formats of forms: `email`, `uri`, `date` and `date-time`.
    pub fn validate_with_formats(&self, value: Value<'_>) -> Vec<String> {
        self.validate_form(value, &CheckSteps::default())
    }

    /// Checks the answer to a form like [`validate_with_formats`](Self::validate_with_formats), with the steps that are left for several
    /// checks.
    pub(crate) fn validate_form(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        check::check(&self.program, value, Options { checks_formats: true, ..Options::default() }, steps)
    }

    /// Checks `value` like [`validate_within`](Self::validate_within), for the log: the lines do not show values.
    pub(crate) fn validate_for_log(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        check::check(&self.program, value, Options { hides_values: true, ..Options::default() }, steps)
    }

    /// Checks `value` like [`validate_with_formats`](Self::validate_with_formats), for the log: the lines do not show values.
    #[cfg(feature = "client")]
    pub(crate) fn validate_form_for_log(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        let options = Options { checks_formats: true, hides_values: true };
        check::check(&self.program, value, options, steps)
    }

    /// Returns the steps that a check of `value` takes, and the limit for every check. For tests and benchmarks.
    #[doc(hidden)]
    pub fn steps(&self, value: Value<'_>) -> (u32, u32) {
        let steps = CheckSteps::default();
        self.validate_within(value, &steps);
        (steps.taken(), CHECK_STEPS.saturating_add(EXPLANATION_STEPS))
    }

    /// Returns the arguments that a client repeats in headers.
    pub(crate) fn header_params(&self) -> &[HeaderParam] {
        &self.header_params
    }

    /// Returns the schemas of the properties.
    fn properties(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
        self.value.get("properties")?.as_object()
    }

    /// Returns whether `type` is `"object"`.
    pub(crate) fn is_of_objects(&self) -> bool {
        self.is_of_objects
    }
}

/// Reads the text of a schema.
fn tree(text: &str) -> Option<serde_json::Value> {
    Document::parse(text.as_bytes(), JsonLimits::MOST).ok()?.root().to_json()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Schemas of types and of values are cached. A full cache evicts a schema.
    #[test]
    fn schemas_are_compiled_once() {
        let (one, other) = (Schema::of::<Vec<u8>>().expect("a schema"), Schema::of::<Vec<u8>>().expect("a schema"));
        assert!(Rc::ptr_eq(&one, &other));
        let of = |most: usize| Schema::of_value(&json!({ "type": "array", "maxItems": most })).expect("a schema");
        assert!(Rc::ptr_eq(&of(1), &of(1)) && !Rc::ptr_eq(&of(1), &of(2)));
        for most in 0..2 * SCHEMAS {
            assert!(Rc::ptr_eq(&of(most), &of(most)), "a full cache holds the newest schema");
        }
    }

    /// The search takes most of the steps, so the explanation must not repeat the search.
    #[test]
    fn two_equal_items_are_found_among_hundreds_of_thousands() {
        let schema = Schema::of_value(&json!({ "uniqueItems": true })).expect("a schema");
        for (last, ending) in [("1", "([0] and [1] are equal)"), ("7,7", "([400000] and [400001] are equal)")] {
            let unique: Vec<_> = (10..400_010).map(|n| n.to_string()).collect();
            let items = if last == "1" { vec!["1".to_owned(); 400_000] } else { unique };
            let text = format!("[{},{last}]", items.join(","));
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("within the limits");
            assert!(schema.validate(document.root()).concat().ends_with(ending), "{ending}");
        }
    }
}
