//! Compiles the Rust examples of the pages in `docs/` and of the skill in `skills/`, as documentation tests.
//!
//! Pages without Rust (`connect.md`, `decisions.md`, `hosts.md`, `knowledge-base.md`, `logging.md`, `performance.md`,
//! `performance-bounds.md`) are not in this list. The code of `tutorial.md` is in `examples/tutorial`, and that of `complete-server.md` in
//! `examples/expenses`.

#[doc = include_str!("../docs/concepts.md")]
struct Concepts;

#[doc = include_str!("../docs/your-own-server.md")]
struct YourOwnServer;

#[doc = include_str!("../docs/storage.md")]
struct Storage;

#[cfg(feature = "client")]
#[doc = include_str!("../docs/sign-in.md")]
struct SignIn;

#[doc = include_str!("../docs/audit.md")]
struct Audit;

#[doc = include_str!("../docs/tracing.md")]
struct Tracing;

#[doc = include_str!("../docs/tools.md")]
struct Tools;

#[doc = include_str!("../docs/tool-arguments.md")]
struct ToolArguments;

#[doc = include_str!("../docs/tool-results.md")]
struct ToolResults;

#[doc = include_str!("../docs/resources.md")]
struct Resources;

#[doc = include_str!("../docs/prompts.md")]
struct Prompts;

#[doc = include_str!("../docs/protocol.md")]
struct Protocol;

#[doc = include_str!("../docs/elicitation.md")]
struct Elicitation;

#[doc = include_str!("../docs/steps.md")]
struct Steps;

#[cfg(feature = "tasks")]
#[doc = include_str!("../docs/tasks.md")]
struct Tasks;

#[doc = include_str!("../docs/progress.md")]
struct Progress;

#[doc = include_str!("../docs/authorization.md")]
struct Authorization;

#[doc = include_str!("../docs/identity-providers.md")]
struct IdentityProviders;

#[doc = include_str!("../docs/check.md")]
struct Check;

#[doc = include_str!("../docs/about.md")]
struct About;

#[doc = include_str!("../docs/agents.md")]
struct Agents;

#[cfg(feature = "client")]
#[doc = include_str!("../docs/client.md")]
struct Client;

#[cfg(feature = "gateway")]
#[doc = include_str!("../docs/gateway.md")]
struct Gateway;

#[cfg(feature = "rag")]
#[doc = include_str!("../docs/retrieval.md")]
struct Retrieval;

#[doc = include_str!("../docs/workflows.md")]
struct Workflows;

#[doc = include_str!("../docs/hooks.md")]
struct Hooks;

#[doc = include_str!("../docs/extensions.md")]
struct Extensions;

#[doc = include_str!("../docs/apps.md")]
struct Apps;

#[doc = include_str!("../docs/skills.md")]
struct Skills;

#[doc = include_str!("../docs/testing.md")]
struct Testing;

#[doc = include_str!("../docs/page.md")]
struct Page;

#[doc = include_str!("../docs/from-mastra.md")]
struct FromMastra;

#[doc = include_str!("../docs/from-mastra-tools.md")]
struct FromMastraTools;

#[doc = include_str!("../docs/from-mastra-content.md")]
struct FromMastraContent;

#[doc = include_str!("../docs/from-mastra-auth.md")]
struct FromMastraAuth;

#[cfg(feature = "client")]
#[doc = include_str!("../docs/from-mastra-client.md")]
struct FromMastraClient;

#[doc = include_str!("../docs/limits.md")]
struct Limits;

#[doc = include_str!("../docs/compared.md")]
struct Compared;

#[doc = include_str!("../docs/compiler-errors.md")]
struct CompilerErrors;

#[doc = include_str!("../skills/write-an-mcp-server/SKILL.md")]
struct SkillToWriteServers;

#[doc = include_str!("../skills/write-an-mcp-server/references/TOOLS.md")]
struct SkillTools;

#[doc = include_str!("../skills/write-an-mcp-server/references/TESTING.md")]
struct SkillTesting;

#[cfg(feature = "worker")]
#[doc = include_str!("../skills/write-an-mcp-server/references/DEPLOY.md")]
struct SkillDeploy;
