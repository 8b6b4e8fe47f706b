//! A WebAssembly module that checks large values, as a Worker does. benches/schema.mjs measures it.

// A benchmark may panic.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unreachable)]

#[path = "../../../tests/schema/large.rs"]
#[allow(clippy::allow_attributes, unreachable_pub, dead_code)]
mod large;

use std::rc::Rc;

use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::schema::Schema;
use large::Large;
use wasm_bindgen::prelude::wasm_bindgen;

/// A schema with a value to check.
#[wasm_bindgen]
pub struct Case {
    name: String,
    schema: Rc<Schema>,
    value: String,
}

/// Returns the cases: first valid values that fill a body, then values that are hard to check.
#[wasm_bindgen]
pub fn cases() -> Vec<Case> {
    let case = |Large { name, schema, value }: Large| {
        let schema = Schema::of_value(&schema).expect("a schema");
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
