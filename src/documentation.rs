//! Compiles the Rust examples of the pages in `docs/` and of the skill in `skills/`, as documentation tests.
//!
//! Pages without Rust (`connect.md`, `decisions.md`, `hosts.md`, `knowledge-base.md`, `logging.md`, `performance.md`,
//! `performance-bounds.md`) are not in this list. The code of `tutorial.md` is in `examples/tutorial`, and that of `complete-server.md` in
//! `examples/expenses`.

macro_rules! pages {
    ($($(#[$condition:meta])? $name:ident = $path:literal;)*) => {$(
        $(#[$condition])?
        #[doc = include_str!($path)]
        mod $name {}
    )*};
}

pages! {
    concepts = "../docs/concepts.md";
    your_own_server = "../docs/your-own-server.md";
    storage = "../docs/storage.md";
    #[cfg(feature = "client")]
    sign_in = "../docs/sign-in.md";
    audit = "../docs/audit.md";
    tracing = "../docs/tracing.md";
    tools = "../docs/tools.md";
    tool_arguments = "../docs/tool-arguments.md";
    tool_results = "../docs/tool-results.md";
    resources = "../docs/resources.md";
    prompts = "../docs/prompts.md";
    protocol = "../docs/protocol.md";
    elicitation = "../docs/elicitation.md";
    steps = "../docs/steps.md";
    #[cfg(feature = "tasks")]
    tasks = "../docs/tasks.md";
    progress = "../docs/progress.md";
    authorization = "../docs/authorization.md";
    identity_providers = "../docs/identity-providers.md";
    check = "../docs/check.md";
    about = "../docs/about.md";
    agents = "../docs/agents.md";
    #[cfg(feature = "client")]
    client = "../docs/client.md";
    #[cfg(feature = "gateway")]
    gateway = "../docs/gateway.md";
    #[cfg(feature = "rag")]
    retrieval = "../docs/retrieval.md";
    workflows = "../docs/workflows.md";
    hooks = "../docs/hooks.md";
    extensions = "../docs/extensions.md";
    apps = "../docs/apps.md";
    skills = "../docs/skills.md";
    testing = "../docs/testing.md";
    page = "../docs/page.md";
    from_mastra = "../docs/from-mastra.md";
    from_mastra_tools = "../docs/from-mastra-tools.md";
    from_mastra_content = "../docs/from-mastra-content.md";
    from_mastra_auth = "../docs/from-mastra-auth.md";
    #[cfg(feature = "client")]
    from_mastra_client = "../docs/from-mastra-client.md";
    limits = "../docs/limits.md";
    compared = "../docs/compared.md";
    compiler_errors = "../docs/compiler-errors.md";
    skill_to_write_servers = "../skills/write-an-mcp-server/SKILL.md";
    skill_tools = "../skills/write-an-mcp-server/references/TOOLS.md";
    skill_testing = "../skills/write-an-mcp-server/references/TESTING.md";
    #[cfg(feature = "worker")]
    skill_deploy = "../skills/write-an-mcp-server/references/DEPLOY.md";
}
