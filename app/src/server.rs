//! The knowledge base as an MCP server: tools, documents as resources, and prompts.

use edge_mcp::registry::Repository;
use edge_mcp::{BuildError, McpServer, RequestInfo, Skills, Tool};

use crate::ingest::ingest;
use crate::librarian::Librarian;
use crate::prompts::{analyze_code, answer_from_documents};
use crate::reindex::reindex;
use crate::resources::documents;
use crate::scopes;
use crate::search::{related_passages, search_documents, search_passages};
use crate::search_settings::SearchSettings;
use crate::skill_store::StoredSkills;
use crate::skill_tools::{missing_skill_files, publish_skills, save_skill_files};
use crate::skills::SKILLS;
use crate::tools::{delete_document, list_set, read_document, save_document};
use crate::view::view;

/// Builds the server. Without a librarian, the server does not have the tool `ask_librarian`. Without an embedding model, it does not have
/// the tool `run_reindex`. It logs a warning about each of them.
pub(crate) fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    let [analyze_first, analyze_second] = analyze_code();
    let settings = request.state::<SearchSettings>()?;
    let ingest = Tool::of_workflow(ingest(&settings)).scopes([scopes::WRITE]).destructive().idempotent().closed_world();
    let view = view();
    let server = McpServer::builder("knowledge-base", env!("CARGO_PKG_VERSION"))
        .title("Knowledge base")
        .description("A knowledge base of Markdown documents.")
        .repository(Repository::new(env!("CARGO_PKG_REPOSITORY"), "github").subfolder("app"))
        .instructions(
            "A knowledge base of Markdown documents. Search it with search-passages before you answer. If the passages \
             do not suffice, read the documents that they come from. Name these documents in your answer. Save new \
             knowledge that is worth keeping as a separate document.",
        )
        .tool(search_passages(&settings, &view))
        .tool(related_passages(&settings, &view))
        .app(view)
        .tool(search_documents(&settings))
        .tool(read_document())
        .tool(save_document(&settings))
        .tool(delete_document())
        .tool(list_set())
        .tool(ingest)
        .tool(missing_skill_files())
        .tool(save_skill_files())
        .tool(publish_skills())
        .resource_template(documents())
        .skills(Skills::embedded(&SKILLS).scopes([scopes::READ]))
        .skills(Skills::new(StoredSkills).scopes([scopes::READ]))
        .prompt(answer_from_documents())
        .prompt(analyze_first)
        .prompt(analyze_second);
    let server = match settings.embedder {
        Some(_) => server.tool(reindex()),
        None => server.warn(SearchSettings::without_embedder()),
    };
    let server = match &*request.state::<Option<Librarian>>()? {
        Some(librarian) => server.tool(Tool::of_agent(librarian.agent()).scopes([scopes::READ])),
        None => server.warn(Librarian::missing()),
    };
    server.build()
}
