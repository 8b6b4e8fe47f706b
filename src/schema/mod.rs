//! The schemas of a server: compiled once, published and enforced, with what the protocol adds to JSON Schema.
//!
//! The crate [`edge_json_schema`] compiles and checks. This room caches its validators: those of Rust types for the life of the isolate, and
//! those of JSON values in bounded caches. It also has the arguments that a client repeats in headers, the schemas of forms, the arguments of
//! prompts, which are strings, and the output schemas of revisions that support only objects.

mod form;
mod header_params;
mod strings;
mod wrap;

use std::any::TypeId;
use std::cell::Cell;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value, write};
pub(crate) use edge_json_schema::NotEnforceable;
pub use edge_json_schema::SchemaError;
pub(crate) use edge_json_schema::{CheckSteps, Type, describe_type_error};
use edge_json_schema::{Options, Validator, from_type, portable};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde_json::value::RawValue;

pub(crate) use header_params::collect as header_params;
pub(crate) use header_params::{HeaderParam, is_header_name};

use crate::bounded_cache::{BoundedCache, NEVER};
use crate::limits::{CACHED_FOREIGN_STEPS, FOREIGN_SCHEMA_STEPS, FOREIGN_SCHEMAS, SCHEMAS};

/// A compiled schema, with the arguments that a client repeats in headers.
pub struct Schema {
    origin: SchemaOrigin,
    /// The schema as that of the member `result` of an object.
    wrapped: OnceCell<Box<RawValue>>,
    header_params: Vec<HeaderParam>,
}

/// The program that enforces a schema.
enum SchemaOrigin {
    Program(Validator),
    /// A tree would take much more memory than the text.
    OtherServer {
        json: Box<RawValue>,
        is_of_objects: bool,
    },
}

type Compiled = Result<Rc<Schema>, SchemaError>;

thread_local! {
    static BY_TYPE: RefCell<FxHashMap<TypeId, Compiled>> = RefCell::default();
    static BY_TEXT: RefCell<BoundedCache<String, Compiled>> = const { RefCell::new(BoundedCache::new(SCHEMAS)) };

    /// Schemas of other servers that take little memory.
    static OF_OTHER_SERVERS: RefCell<BoundedCache<String, Rc<Schema>>> =
        const { RefCell::new(BoundedCache::new(FOREIGN_SCHEMAS)) };
}

/// The types of scalar values, which a string can represent and a form can request.
const SCALARS: [&str; 4] = ["string", "number", "integer", "boolean"];

impl Schema {
    /// Returns the schema of `T`.
    ///
    /// # Errors
    /// [`SchemaError`] if the schema uses a keyword that cannot be enforced.
    pub fn of<T: JsonSchema + 'static>() -> Compiled {
        Self::of_type(TypeId::of::<T>(), from_type::<T>)
    }

    /// Returns the schema of a type. This part of `of` does not depend on `T`, so the wasm module contains it only once.
    fn of_type(id: TypeId, value: fn() -> serde_json::Value) -> Compiled {
        let known = BY_TYPE.with_borrow(|schemas| schemas.get(&id).cloned());
        known.unwrap_or_else(|| Self::compile_type(id, value))
    }

    /// Compiles the schema of a type and caches it. This large part runs only once per type. It is a separate function because the engine
    /// optimizes functions that are called often.
    #[cold]
    #[inline(never)]
    fn compile_type(id: TypeId, value: fn() -> serde_json::Value) -> Compiled {
        let compiled = Self::of_program(value());
        BY_TYPE.with_borrow_mut(|schemas| schemas.insert(id, compiled.clone()));
        compiled
    }

    /// Compiles a schema that is given as a JSON value. It is published in the form that [client libraries read](portable).
    ///
    /// # Errors
    /// [`SchemaError`] if the value is not a valid schema or uses a keyword that cannot be enforced.
    pub fn of_value(value: &serde_json::Value) -> Compiled {
        let text = write::text(value);
        let known = BY_TEXT.with_borrow(|schemas| schemas.get(&text, 0).cloned());
        known.unwrap_or_else(|| {
            let compiled = Self::of_program(portable(value.clone()));
            BY_TEXT.with_borrow_mut(|schemas| schemas.insert(text, compiled.clone(), NEVER, 0));
            compiled
        })
    }

    /// Compiles a schema of another server from its text, in at most [`FOREIGN_SCHEMA_STEPS`] of the steps that are left for the request. A
    /// schema that took few steps is cached for the isolate.
    ///
    /// # Errors
    /// The schema cannot be enforced.
    pub(crate) fn of_other_server(text: &str, left: &Cell<u32>) -> Result<Rc<Self>, NotEnforceable> {
        if let Some(known) = OF_OTHER_SERVERS.with_borrow(|schemas| schemas.get(text, 0).cloned()) {
            return Ok(known);
        }
        let out_of_range = || NotEnforceable::Invalid(SchemaError::at("", "a number is beyond the range of `f64`"));
        let value = tree(text).ok_or_else(out_of_range)?;
        let before = left.get();
        let compiled = Self::of_form(value, left)?;
        // The number of steps bounds the size of a compiled schema. The length of its text does not.
        if before.saturating_sub(left.get()) <= CACHED_FOREIGN_STEPS {
            let (text, compiled) = (text.to_owned(), compiled.clone());
            OF_OTHER_SERVERS.with_borrow_mut(|schemas| schemas.insert(text, compiled, NEVER, 0));
        }
        Ok(compiled)
    }

    /// Compiles the schema of a form like [`of_other_server`](Self::of_other_server), but does not cache it.
    ///
    /// # Errors
    /// As for `of_other_server`.
    pub(crate) fn of_form(value: serde_json::Value, left: &Cell<u32>) -> Result<Rc<Self>, NotEnforceable> {
        let steps = Cell::new(FOREIGN_SCHEMA_STEPS.min(left.get()));
        let before = steps.get();
        let compiled = Validator::within(value, &steps);
        left.set(left.get().saturating_sub(before.saturating_sub(steps.get())));
        compiled.map(|validator| Rc::new(Self::with(SchemaOrigin::Program(validator), Vec::new())))
    }

    /// Returns a schema that is published unchanged and not enforced: another server enforces it.
    pub(crate) fn unenforced(json: Box<RawValue>, is_of_objects: bool) -> Rc<Self> {
        Rc::new(Self::with(SchemaOrigin::OtherServer { json, is_of_objects }, Vec::new()))
    }

    /// Returns the schema of `T`, which must be an object schema.
    ///
    /// # Errors
    /// [`SchemaError`] as for [`of`](Self::of), or if `type` is not `"object"`.
    pub fn of_object<T: JsonSchema + 'static>() -> Compiled {
        Self::of::<T>()?.require_objects()
    }

    /// Returns this schema, or an error if `type` is not `"object"`.
    pub(crate) fn require_objects(self: Rc<Self>) -> Compiled {
        if self.is_of_objects() { Ok(self) } else { Err(*SchemaError::at("", "`type` must be \"object\"")) }
    }

    fn of_program(value: serde_json::Value) -> Compiled {
        let validator = Validator::new(value)?;
        let header_params = header_params::collect(validator.schema(), usize::MAX).map_err(|error| *error)?;
        Ok(Rc::new(Self::with(SchemaOrigin::Program(validator), header_params)))
    }

    fn with(origin: SchemaOrigin, header_params: Vec<HeaderParam>) -> Self {
        Self { origin, wrapped: OnceCell::new(), header_params }
    }

    /// Returns the schema as JSON text.
    pub fn json(&self) -> &RawValue {
        match &self.origin {
            SchemaOrigin::Program(validator) => validator.json(),
            SchemaOrigin::OtherServer { json, .. } => json,
        }
    }

    /// Returns the schema as a JSON value, or `None` if a number of it is out of the range of `f64`.
    pub(crate) fn to_value(&self) -> Option<serde_json::Value> {
        match &self.origin {
            SchemaOrigin::Program(validator) => Some(validator.schema().clone()),
            SchemaOrigin::OtherServer { json, .. } => tree(json.get()),
        }
    }

    /// Returns whether this program enforces the schema.
    pub(crate) fn is_enforced(&self) -> bool {
        matches!(self.origin, SchemaOrigin::Program(_))
    }

    /// Returns the schema as a JSON value, or null if another server enforces it.
    fn value(&self) -> &serde_json::Value {
        match &self.origin {
            SchemaOrigin::Program(validator) => validator.schema(),
            SchemaOrigin::OtherServer { .. } => &serde_json::Value::Null,
        }
    }

    fn check(&self, value: Value<'_>, options: Options, steps: &CheckSteps) -> Vec<String> {
        match &self.origin {
            SchemaOrigin::Program(validator) => validator.check(value, options, steps),
            SchemaOrigin::OtherServer { .. } => Vec::new(),
        }
    }

    /// Checks `value` like [`Validator::validate`], with the steps that are left for several checks.
    pub(crate) fn validate_within(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        self.check(value, Options::default(), steps)
    }

    /// Checks the answer to a form, of which the formats are enforced: `email`, `uri`, `date` and `date-time`.
    pub(crate) fn validate_form(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        self.check(value, Options { checks_formats: true, ..Options::default() }, steps)
    }

    /// Checks `value` like [`validate_within`](Self::validate_within), for the log: the lines do not show values.
    pub(crate) fn validate_for_log(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        self.check(value, Options { hides_values: true, ..Options::default() }, steps)
    }

    /// Checks `value` like [`validate_form`](Self::validate_form), for the log: the lines do not show values.
    pub(crate) fn validate_form_for_log(&self, value: Value<'_>, steps: &CheckSteps) -> Vec<String> {
        self.check(value, Options { checks_formats: true, hides_values: true }, steps)
    }

    /// Returns the arguments that a client repeats in headers.
    pub(crate) fn header_params(&self) -> &[HeaderParam] {
        &self.header_params
    }

    fn properties(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
        self.value().get("properties")?.as_object()
    }

    /// Returns whether `type` is `"object"`.
    pub(crate) fn is_of_objects(&self) -> bool {
        match &self.origin {
            SchemaOrigin::Program(validator) => validator.is_of_objects(),
            SchemaOrigin::OtherServer { is_of_objects, .. } => *is_of_objects,
        }
    }
}

fn tree(text: &str) -> Option<serde_json::Value> {
    Document::parse(text.as_bytes(), JsonLimits::MOST).ok()?.root().to_json()
}

/// A type with a JSON Schema: every type that implements [`JsonSchema`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    label = "the type must implement `schemars::JsonSchema`",
    note = "add `#[derive(schemars::JsonSchema)]` to the type, or enable the feature of schemars for its crate",
    note = "a handler takes its arguments and its `Context` by value"
)]
pub trait HasJsonSchema: JsonSchema {}

// With this attribute, the compiler error names `HasJsonSchema` and shows its message and notes.
#[diagnostic::do_not_recommend]
impl<T: JsonSchema> HasJsonSchema for T {}

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
}
