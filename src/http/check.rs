//! The check of an endpoint before it is published.

use std::rc::Rc;

use super::authenticate::Authentication;
use super::endpoint::Endpoint;
use crate::call::client_extensions::ClientDetails;
use crate::server::build_error::BuildError;
use crate::server::problems::{CallerAccess, Check, SizeLimits};

impl Endpoint {
    /// Builds the server for a request without headers, and checks it as [`McpServer::check`](crate::McpServer::check) does. It also checks
    /// the authentication and the scopes.
    ///
    /// # Errors
    /// The server function, or a function of [`each`](Self::each), fails for a request without headers.
    ///
    /// ```
    /// use edge_mcp::check::SizeLimits;
    /// use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo, Tool};
    ///
    /// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    ///     let greet = Tool::new("greet", "Says hello.", || async { "Hello" }).title("Greet").read_only().closed_world();
    ///     McpServer::builder("greeter", "1.0.0").description("Greets.").tool(greet).build()
    /// }
    ///
    /// let check = Endpoint::new(server).open_to_the_public().check(SizeLimits::default())?;
    /// assert!(check.problems.is_empty(), "{check}");
    /// # Ok::<_, BuildError>(())
    /// ```
    pub fn check(&self, limits: SizeLimits) -> Result<Check, BuildError> {
        let head = Rc::new(http::Request::new(()).into_parts().0);
        let request = self.engine.request_info(head, None, ClientDetails::default());
        let server = self.engine.server_for_all(&request)?;
        let entry = match &*self.access.authentication {
            Authentication::Undecided | Authentication::Misconfigured(_) => CallerAccess::Closed,
            Authentication::Open { is_public: false } => CallerAccess::SameMachine,
            Authentication::Open { is_public: true } => CallerAccess::Public,
            Authentication::Token(_) => {
                let resource = &self.access.resource;
                let is_missing_scopes = !resource.authorization_servers.is_empty() && resource.scopes.is_empty();
                CallerAccess::Token { is_missing_scopes }
            }
        };
        Ok(server.check_with_access(limits, Some(entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{ProtectedResource, StaticTokens};
    use crate::call::request_info::RequestInfo;
    use crate::server::builder::McpServer;
    use crate::server::resource::Resource;
    use crate::server::tool::Tool;

    fn without_scopes(_: &RequestInfo) -> Result<McpServer, BuildError> {
        McpServer::builder("desks", "1.0.0").description("Books desks.").build()
    }

    fn with_scopes(_: &RequestInfo) -> Result<McpServer, BuildError> {
        let book = Tool::new("book", "Books a desk.", || async { "" }).title("Book").additive().closed_world();
        let desks = Resource::new("desks://all", || async { "" }).scopes(["desks:read"]);
        // The check sees the items of all callers.
        let book = book.visible_if(|request| request.caller().is_some()).scopes(["desks:write"]);
        McpServer::builder("desks", "1.0.0").description("Books desks.").tool(book).resource(desks).build()
    }

    fn problems(endpoint: &Endpoint) -> Vec<String> {
        let check = endpoint.check(SizeLimits::default()).expect("a server");
        check.problems.iter().map(ToString::to_string).collect()
    }

    fn tokens() -> StaticTokens {
        let tokens = r#"[{ "token": "of-ada", "subject": "ada", "scopes": [] }]"#;
        StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list")
    }

    fn resource() -> ProtectedResource {
        let resource = ProtectedResource::at("https://desks.example.com/mcp").expect("a URL");
        resource.authorization_server("https://auth.example.com").expect("a URL")
    }

    #[test]
    fn an_endpoint_needs_authentication_or_none_on_purpose() {
        let closed = problems(&Endpoint::new(without_scopes));
        assert!(closed.len() == 1 && closed[0].starts_with("Server has no authentication"), "{closed:?}");
        let local = problems(&Endpoint::new(without_scopes).without_auth());
        assert!(local.len() == 1 && local[0].ends_with("(rule `access`)"), "{local:?}");
        assert_eq!(problems(&Endpoint::new(without_scopes).open_to_the_public()), Vec::<String>::new());
        assert_eq!(problems(&Endpoint::new(without_scopes).auth(tokens())), Vec::<String>::new());
    }

    #[test]
    fn scopes_need_tokens_and_metadata() {
        let open = problems(&Endpoint::new(with_scopes).open_to_the_public());
        let text = "Server has the tool `book`, which needs a scope, but does not check it, because callers need no token: \
                    call `Endpoint::auth`, or remove the scopes (rule `scopes`)";
        assert_eq!(open, [text]);
        assert_eq!(problems(&Endpoint::new(with_scopes).auth(tokens())), Vec::<String>::new());
        let unnamed = problems(&Endpoint::new(with_scopes).auth(tokens()).resource(resource()));
        assert!(unnamed.len() == 1 && unnamed[0].contains("names no scopes in its metadata"), "{unnamed:?}");
        let named = resource().scopes(["desks:read"]).expect("scopes");
        assert_eq!(problems(&Endpoint::new(with_scopes).auth(tokens()).resource(named)), Vec::<String>::new());
        assert_eq!(problems(&Endpoint::new(without_scopes).auth(tokens()).resource(resource())), Vec::<String>::new());
    }
}
