use std::rc::Rc;

use edge_mcp::protocol::json::{Document, JsonLimits};
use edge_mcp::schema::Schema;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
pub struct Checker(Rc<Schema>);

#[wasm_bindgen]
impl Checker {
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &str) -> Result<Checker, String> {
        let schema: serde_json::Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        Schema::of_value(&schema).map(Self).map_err(|error| error.to_string())
    }

    pub fn check(&self, value: &[u8]) -> Result<String, String> {
        let document = Document::parse(value, JsonLimits::default()).map_err(|error| error.to_string())?;
        Ok(self.0.validate(document.root()).join("\n"))
    }
    pub fn steps(&self, value: &[u8]) -> u32 {
        Document::parse(value, JsonLimits::default()).map_or(0, |document| self.0.check(document.root()).steps)
    }
    pub fn parse(&self, value: &[u8]) -> bool {
        Document::parse(value, JsonLimits::default()).is_ok()
    }
}
