//! A WebAssembly module that checks large values, and compiles schemas of hostile servers, as a Worker does. benches/schema.mjs measures it.

// A benchmark may panic.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unreachable)]

#[path = "../../../crates/json-schema/tests/hostile.rs"]
#[allow(clippy::allow_attributes, unreachable_pub)]
mod hostile;
#[path = "../../../crates/json-schema/tests/large.rs"]
#[allow(clippy::allow_attributes, unreachable_pub, dead_code)]
mod large;

use std::cell::Cell;

use edge_json::{Document, JsonLimits};
use edge_json_schema::{NotEnforceable, Validator};
use hostile::Hostile;
use large::Large;
use wasm_bindgen::prelude::wasm_bindgen;

/// The number of steps that edge-mcp allows for a schema of another server.
const STEPS: u32 = 2_000_000;

/// A schema with a value to check.
#[wasm_bindgen]
pub struct Case {
    name: String,
    schema: Validator,
    value: String,
}

/// Returns the cases: first valid values that fill a body, then values that are hard to check.
#[wasm_bindgen]
pub fn cases() -> Vec<Case> {
    let case = |Large { name, schema, value }: Large| {
        let schema = Validator::new(schema).expect("a schema");
        Case { name, schema, value }
    };
    large::full().into_iter().chain(large::hard(usize::MAX)).map(case).collect()
}

#[wasm_bindgen]
impl Case {
    /// The name of the case.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The length of the value in bytes.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> usize {
        self.value.len()
    }

    /// Parses the value `times` times.
    pub fn read(&self, times: u32) {
        for _ in 0..times {
            self.document();
        }
    }

    /// Parses the value once and checks it `times` times. Returns the number of steps of one check.
    pub fn check(&self, times: u32) -> u32 {
        let document = self.document();
        (0..times).fold(0, |_, _| self.schema.steps(document.root()).0)
    }

    /// Returns the first mistake, or `None` if the value is valid.
    pub fn mistake(&self) -> Option<String> {
        self.schema.validate(self.document().root()).into_iter().next()
    }

    fn document(&self) -> Document<'_> {
        Document::parse(self.value.as_bytes(), JsonLimits::default()).expect("within the limits")
    }
}

/// A schema of another server.
#[wasm_bindgen]
pub struct Foreign {
    name: String,
    text: String,
}

/// Returns schemas that are as costly to compile as possible.
#[wasm_bindgen]
pub fn foreign_schemas() -> Vec<Foreign> {
    let foreign = |Hostile { name, schema }: Hostile| Foreign { name: name.to_owned(), text: schema };
    hostile::hostile().into_iter().map(foreign).collect()
}

#[wasm_bindgen]
impl Foreign {
    /// The name of the case.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The length of the schema in bytes.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Parses the schema once and compiles it. Returns the number of steps.
    pub fn compile(&self) -> u32 {
        let left = Cell::new(STEPS);
        // A schema that takes too long is measured too.
        let _: Result<Validator, NotEnforceable> = Validator::within(self.json(), &left);
        STEPS - left.get()
    }

    /// Parses the schema.
    pub fn read(&self) {
        self.json();
    }

    /// Whether the schema is enforced.
    pub fn is_enforced(&self) -> bool {
        Validator::within(self.json(), &Cell::new(STEPS)).is_ok()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).expect("JSON")
    }
}
