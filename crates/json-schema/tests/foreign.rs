//! The bounds of the compilation of a schema of another server, which chooses the schema. The allocator counts for the whole process, so
//! this file has only one test.

// A test may panic.
#![allow(clippy::expect_used, clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

#[path = "hostile.rs"]
#[allow(unreachable_pub, reason = "it is also a module of the benchmark")]
mod hostile;

use std::cell::Cell;

use edge_json_schema::Validator;
use hostile::hostile;
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The bytes that the compilation may have allocated at any time. They include the schema as a JSON value.
const MOST_BYTES: usize = 16 << 20;

/// The number of steps that edge-mcp allows for a schema of another server.
const LIMIT: u32 = 2_000_000;

/// The name of a kind of schemas, and the schema of this kind with a number of parts.
type Shape<'a> = (&'static str, &'a dyn Fn(usize) -> Value);

/// Compiles a schema of another server. Returns the steps, the largest number of allocated bytes, and whether the schema is enforced.
fn compile(schema: &Value) -> (u32, usize, bool) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let left = Cell::new(LIMIT);
    let compiled = Validator::within(schema.clone(), &left);
    (LIMIT - left.get(), MEMORY.peak_usage() - before, compiled.is_ok())
}

/// Every schema is compiled or rejected within the limits. Twice as many properties, dependencies or alternatives take twice the work.
#[test]
fn the_compilation_of_a_schema_is_bounded_and_takes_time_in_proportion() {
    for case in hostile() {
        let schema = serde_json::from_str(&case.schema).expect(case.name);
        let (steps, bytes, is_enforced) = compile(&schema);
        println!("  {}: {} bytes, {steps} steps, {bytes} bytes, enforced: {is_enforced}", case.name, case.schema.len());
        assert!(steps <= LIMIT, "{}: {steps} steps", case.name);
        assert!(bytes <= MOST_BYTES, "{}: {bytes} bytes", case.name);
        assert!(steps < LIMIT || !is_enforced, "{}", case.name);
    }
    let names = |count: usize| (0..count).map(|nth| format!("property-{nth}")).collect::<Vec<_>>();
    let by_name = |count: usize, value: &Value| -> Value {
        names(count).into_iter().map(|name| (name, value.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let shapes: [Shape<'_>; 4] = [
        ("properties", &|count| json!({ "properties": by_name(count, &json!({ "type": "string" })) })),
        ("dependencies", &|count| json!({ "dependentRequired": by_name(count, &json!(["a"])) })),
        ("required properties", &|count| json!({ "properties": by_name(count, &json!({})), "required": names(count) })),
        ("tags", &|count| {
            let tagged = |name| json!({ "properties": { "kind": { "const": name } } });
            json!({ "anyOf": names(count).into_iter().map(tagged).collect::<Vec<_>>() })
        }),
    ];
    for (name, shape) in shapes {
        let ((steps, bytes, _), (more_steps, more_bytes, is_enforced)) =
            (compile(&shape(2_000)), compile(&shape(4_000)));
        println!("  {name}: {steps} and {more_steps} steps, {bytes} and {more_bytes} bytes");
        assert!(is_enforced, "{name}: {more_steps} steps");
        assert!(more_steps <= steps / 8 * 17, "{name}: {steps} and {more_steps} steps");
        // Vectors and tables double their size, so the second one may be four times as large at its peak.
        assert!(more_bytes <= bytes / 2 * 5, "{name}: {bytes} and {more_bytes} bytes");
    }
}
