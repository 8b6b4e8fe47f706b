//! The limits on schemas, and on checks of values.

/// The steps of the checks that share [`CheckSteps`](crate::CheckSteps), of about 10 ns each in WebAssembly.
pub const CHECK_STEPS: u32 = 4_600_000;
/// The steps of the search for the closest alternative, in addition to the steps of the checks.
pub const EXPLANATION_STEPS: u32 = 400_000;
/// The nesting depth of the schemas that a check applies.
pub const NESTED_SCHEMAS: u32 = 400;
/// The mistakes that are listed.
pub const MISTAKES: usize = 10;
/// The values of an `enum` that a mistake lists.
pub const LISTED_VALUES: usize = 50;
/// The results that a check caches, of 8 bytes each.
pub const CACHED_RESULTS: usize = 1 << 15;
/// The states of the automaton of a `pattern`.
pub const PATTERN_STATES: usize = 5_000;
/// The states of all patterns of a schema.
pub const PATTERNS_STATES: usize = 50_000;
/// The character classes that a `pattern` distinguishes.
pub const PATTERN_CLASSES: usize = 2_000;
/// The nesting depth of groups in a `pattern`.
pub const PATTERN_GROUPS: usize = 64;
/// The bytes of the cached states of all patterns in a check. The current pattern may use as much again.
pub const PATTERN_CACHE: usize = 1 << 20;
/// The nesting depth of a schema.
pub const SCHEMA_DEPTH: usize = 128;
/// The schemas that refer to one another for the same value.
pub const SCHEMA_CHAIN: usize = 64;
/// The schemas that the definitions of a schema may have after each of them is written in place of the references to it.
pub const INLINED_SCHEMAS: usize = 200;
