//! Types with a JSON Schema, in the errors of the compiler.

use schemars::JsonSchema;

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
