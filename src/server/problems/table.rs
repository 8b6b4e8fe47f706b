//! The rules of the check, in one table.
//!
//! Directories and libraries change. If a source no longer has a rule, remove the row. The page docs/check.md shows the table, and a test
//! compares the two.

use super::schemas::{self, Position};
use super::tools::{self, ListedTool, SizeLimits};
use super::whole::{self, CheckedServer};

/// A rule of the check.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// The name.
    pub name: &'static str,
    /// The requirement, as a sentence.
    pub requires: &'static str,
    /// The document that has the rule, in Markdown, or the libraries with which the end-to-end tests confirm it.
    pub source: &'static str,
    /// The date of the source, or the date on which it was read if it has none.
    pub date: &'static str,
    pub(super) test: RuleTest,
}

/// The function of a rule. It returns the problem and the remedy, as the predicate of a sentence.
#[derive(Debug)]
pub(super) enum RuleTest {
    /// About a tool.
    Tool(fn(&ListedTool<'_>, SizeLimits) -> Option<String>),
    /// About a place in the input schema of a tool. The subject of the sentence is the place.
    Schema(fn(&Position<'_>) -> Option<String>),
    /// About the server as a whole.
    Whole(fn(&CheckedServer<'_>) -> Vec<String>),
}

const CLAUDE_DIRECTORY: &str = "<https://claude.com/docs/connectors/building/review-criteria>";
const CHATGPT_DIRECTORY: &str =
    "<https://github.com/openai/plugins/blob/main/plugins/openai-developers/skills/chatgpt-app-submission/SKILL.md>";
const TOOL_SEARCH: &str = "<https://code.claude.com/docs/en/agent-sdk/tool-search>";
/// The date on which the converters of the page docs/compatibility.md were run.
const MEASURED: &str = "2026-11-28";
const LLAMA_INDEX: &str = "LlamaIndex";
const LLAMA_INDEX_AND_AI_SDK: &str = "LlamaIndex, AI SDK";

/// All rules.
pub const RULES: &[Rule] = &[
    Rule {
        name: "title",
        requires: "Each tool has a title.",
        source: CLAUDE_DIRECTORY,
        date: "2026-11-26",
        test: RuleTest::Tool(tools::title),
    },
    Rule {
        name: "effect",
        requires: "Each tool says whether it reads, adds, or may delete or overwrite (`readOnlyHint` and `destructiveHint`).",
        source: CLAUDE_DIRECTORY,
        date: "2026-11-26",
        test: RuleTest::Tool(tools::effect),
    },
    Rule {
        name: "open-world",
        requires: "Each tool says whether it interacts with systems outside the server (`openWorldHint`).",
        source: CHATGPT_DIRECTORY,
        date: "2026-10-02",
        test: RuleTest::Tool(tools::open_world),
    },
    Rule {
        name: "tool-name",
        requires: "The name of a tool has no `.`, because models accept only `A-Z a-z 0-9 _ -`.",
        source: "<https://platform.claude.com/docs/agents-and-tools/tool-use/define-tools>",
        date: "2026-11-26",
        test: RuleTest::Tool(tools::name),
    },
    Rule {
        name: "name-prefix",
        requires: "The name of a tool has at most 21 characters, because clients put up to 43 before it (`mcp__plugin_<plugin>_<server>__`), and models accept 64.",
        source: "<https://github.com/anthropics/claude-code/issues/23149>",
        date: "2026-02-04",
        test: RuleTest::Tool(tools::name_prefix),
    },
    Rule {
        name: "description",
        requires: "The description of a tool has at most 1024 characters.",
        source: "<https://github.com/getsentry/sentry-mcp/issues/106> (OpenAI)",
        date: "2025-04-25",
        test: RuleTest::Tool(tools::description),
    },
    Rule {
        name: "argument-description",
        requires: "Each argument has a description.",
        source: "<https://pypi.org/project/tdqs/> (Glama)",
        date: "2026-11-26",
        test: RuleTest::Tool(tools::argument_descriptions),
    },
    Rule {
        name: "argument-name",
        requires: "The name of an argument matches `^[a-zA-Z0-9_.-]{1,64}$`.",
        source: "<https://github.com/decocms/studio/pull/6874> (Anthropic)",
        date: "2026-09-02",
        test: RuleTest::Tool(tools::argument_names),
    },
    Rule {
        name: "python-name",
        requires: "No argument, and no property of a definition, is named like a private or reserved field of Pydantic.",
        source: LLAMA_INDEX,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::python_name),
    },
    Rule {
        name: "root",
        requires: "The arguments are in `properties`, and the root has no other condition: no `anyOf`, `oneOf`, `allOf`, `$ref`, `not`, `if`, `dependentRequired` or `dependentSchemas`.",
        source: "LlamaIndex, AI SDK; <https://github.com/langchain-ai/langchain/issues/39271> (Anthropic); <https://github.com/anthropics/claude-code/issues/95504>",
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::root),
    },
    Rule {
        name: "free-arguments",
        requires: "The root does not allow arguments that `properties` does not have.",
        source: LLAMA_INDEX_AND_AI_SDK,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::free_arguments),
    },
    Rule {
        name: "required",
        requires: "Each required argument is in `properties`.",
        source: LLAMA_INDEX_AND_AI_SDK,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::required),
    },
    Rule {
        name: "reference",
        requires: "Each `$ref` has the form `#/$defs/name`.",
        source: "LlamaIndex, LangChain",
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::reference),
    },
    Rule {
        name: "recursion",
        requires: "No definition refers to itself, directly or indirectly.",
        source: LLAMA_INDEX,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::recursion),
    },
    Rule {
        name: "referenced-type",
        requires: "The target of a `$ref` is an object, an array with `items`, or an `anyOf`.",
        source: LLAMA_INDEX,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::referenced_type),
    },
    Rule {
        name: "boolean-schema",
        requires: "A property, an item, a definition and a member of `anyOf` are objects, not `true` or `false`.",
        source: LLAMA_INDEX,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::boolean),
    },
    Rule {
        name: "untyped",
        requires: "A schema that does not accept strings has `type`, `anyOf`, `enum` or `$ref`. `oneOf`, `allOf`, `const`, and an `anyOf` in an `anyOf` do not count.",
        source: LLAMA_INDEX,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::untyped),
    },
    Rule {
        name: "type-list",
        requires: "A schema with `anyOf` has no list of types beside it. Other lists of types become `anyOf`.",
        source: "Semantic Kernel, AutoGen, DSPy",
        date: MEASURED,
        test: RuleTest::Schema(schemas::type_list),
    },
    Rule {
        name: "argument-type",
        requires: "A property has `type`, `anyOf`, `oneOf`, `allOf`, `enum` or `$ref`. `const` alone does not count.",
        source: "AutoGen",
        date: MEASURED,
        test: RuleTest::Schema(schemas::argument_type),
    },
    Rule {
        name: "array-items",
        requires: "An array has `items` or `prefixItems`.",
        source: "<https://github.com/rootlyhq/rootly-mcp-server/issues/82> (VS Code), <https://github.com/mark3labs/mcphost/issues/35> (OpenAI)",
        date: "2026-04-08",
        test: RuleTest::Schema(schemas::array_items),
    },
    Rule {
        name: "format",
        requires: "A `format` is `date-time`, `enum`, `int32`, `int64`, `float` or `double`.",
        source: "AutoGen (unknown ones); <https://github.com/google-gemini/gemini-cli/issues/2237>",
        date: MEASURED,
        test: RuleTest::Schema(schemas::format),
    },
    Rule {
        name: "enum-strings",
        requires: "The values of an `enum` are strings.",
        source: "<https://github.com/kensho-technologies/kfinance/pull/128> (Gemini)",
        date: "2026-05-21",
        test: RuleTest::Schema(schemas::enum_strings),
    },
    Rule {
        name: "dialect",
        requires: "A schema has no `$schema`. The default is 2020-12.",
        source: "<https://github.com/openclaw/openclaw/issues/70196>",
        date: "2026-04-22",
        test: RuleTest::Schema(schemas::dialect),
    },
    Rule {
        name: "empty-enum",
        requires: "An `enum` has a value.",
        source: LLAMA_INDEX,
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::empty_enum),
    },
    Rule {
        name: "depth",
        requires: "Objects and arrays of a schema are nested at most 100 levels deep.",
        source: "OpenAI Agents SDK",
        date: "2026-11-26",
        test: RuleTest::Schema(schemas::depth),
    },
    Rule {
        name: "tool-size",
        requires: "A tool has at most 1000 estimated tokens (`SizeLimits::tool_tokens`).",
        source: TOOL_SEARCH,
        date: "2026-11-26",
        test: RuleTest::Tool(tools::size),
    },
    Rule {
        name: "list-size",
        requires: "All tools together have at most 10 000 estimated tokens (`SizeLimits::tokens`).",
        source: TOOL_SEARCH,
        date: "2026-11-26",
        test: RuleTest::Whole(whole::size),
    },
    Rule {
        name: "server-json",
        requires: "The server has a description, and `/server.json` can contain each value of the server unchanged.",
        source: "<https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json>",
        date: "2025-12-11",
        test: RuleTest::Whole(whole::server_json),
    },
    Rule {
        name: "access",
        requires: "The endpoint has authentication, or it serves everyone on purpose: `auth` or `open_to_the_public`. `without_auth` is not enough.",
        source: CLAUDE_DIRECTORY,
        date: "2026-11-26",
        test: RuleTest::Whole(whole::access),
    },
    Rule {
        name: "scopes",
        requires: "If an item needs a scope, callers need a token, and the metadata of a server with authorization servers names scopes.",
        source: "<https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy>",
        date: "2025-11-25",
        test: RuleTest::Whole(whole::scopes),
    },
];
