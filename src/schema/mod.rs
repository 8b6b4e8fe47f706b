//! JSON Schema 2020-12: made from Rust types once, published, and enforced as published.
//!
//! | module | what it holds |
//! |---|---|
//! | `generate` | from a Rust type to a schema |
//! | `compile` | from a schema to what can be checked; refuses what could not be |
//! | `validate` | from a value to the list of what is wrong with it |
//!
//! A schema is what a *type* determines: it is made at the first use of the type and kept as long as the isolate lives.

mod compile;
mod generate;
mod validate;

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use schemars::JsonSchema;
use serde_json::value::RawValue;

use compile::Program;
pub use compile::SchemaError;

use crate::protocol::json::Value;

/// A schema as it is published, with the program that enforces it.
pub struct Schema {
    json: Box<RawValue>,
    program: Program,
}

thread_local! {
    static BY_TYPE: RefCell<HashMap<TypeId, Result<Rc<Schema>, SchemaError>>> = RefCell::default();
}

impl Schema {
    /// The schema of `T`, whose values are objects.
    ///
    /// # Errors
    /// [`SchemaError`], if `T` is no object, or uses a keyword that is not enforced here.
    pub fn of<T: JsonSchema + 'static>() -> Result<Rc<Self>, SchemaError> {
        let known = BY_TYPE.with_borrow(|schemas| schemas.get(&TypeId::of::<T>()).cloned());
        known.unwrap_or_else(|| {
            let made = Self::compile(&generate::from_type::<T>()).map(Rc::new);
            BY_TYPE.with_borrow_mut(|schemas| schemas.insert(TypeId::of::<T>(), made.clone()));
            made
        })
    }

    fn compile(schema: &serde_json::Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(serde_json::Value::as_str) != Some("object") {
            return Err(SchemaError::not_an_object());
        }
        let program = Program::compile(schema)?;
        let json = serde_json::value::to_raw_value(schema).map_err(|error| SchemaError::unreadable(&error))?;
        Ok(Self { json, program })
    }

    /// The schema as JSON.
    pub fn json(&self) -> &RawValue {
        &self.json
    }

    /// What is wrong with `value`: a line for each of the first ten mistakes, or nothing.
    pub fn validate(&self, value: Value<'_>) -> Vec<String> {
        validate::mistakes(&self.program, value)
    }
}
