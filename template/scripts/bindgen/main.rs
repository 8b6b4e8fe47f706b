//! Generates the JavaScript of a wasm module, and removes the descriptions of its functions from the module: `bindgen MODULE FOLDER`.
//!
//! The program `wasm-bindgen` does the same. This one needs a quarter of its dependencies, because it has no test runner.

use std::{env, error::Error};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let (Some(module), Some(folder), None) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: bindgen MODULE FOLDER".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).module(true)?.out_name("index").typescript(false);
    // After a panic, entry.js starts a new instance of the module.
    bindgen.reset_state_function(true).force_enable_abort_handler(true);
    Ok(bindgen.generate(folder)?)
}
