//! Compiles the pages of `docs/`: what they show of Rust is tested with the documentation of the crate.
//!
//! Pages without Rust (`connect.md`, `knowledge-base.md`, `performance.md`) are not here.

#[doc = include_str!("../docs/concepts.md")]
struct Concepts;

#[doc = include_str!("../docs/your-own-server.md")]
struct YourOwnServer;

#[doc = include_str!("../docs/tools.md")]
struct Tools;

#[doc = include_str!("../docs/resources.md")]
struct Resources;

#[doc = include_str!("../docs/prompts.md")]
struct Prompts;

#[doc = include_str!("../docs/protocol.md")]
struct Protocol;

#[doc = include_str!("../docs/asking.md")]
struct Asking;

#[doc = include_str!("../docs/progress.md")]
struct Progress;

#[doc = include_str!("../docs/authorization.md")]
struct Authorization;

#[doc = include_str!("../docs/about.md")]
struct About;

#[doc = include_str!("../docs/agents.md")]
struct Agents;

#[doc = include_str!("../docs/workflows.md")]
struct Workflows;

#[doc = include_str!("../docs/hooks.md")]
struct Hooks;

#[doc = include_str!("../docs/testing.md")]
struct Testing;

#[doc = include_str!("../docs/page.md")]
struct Page;

#[doc = include_str!("../docs/from-mastra.md")]
struct FromMastra;

#[doc = include_str!("../docs/limits.md")]
struct Limits;

#[doc = include_str!("../docs/compared.md")]
struct Compared;

#[doc = include_str!("../docs/upgrading.md")]
struct Upgrading;
#[doc = include_str!("../docs/compiler-errors.md")]
struct CompilerErrors;
