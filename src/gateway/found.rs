//! The items of all servers of a gateway, as items of its own server.

use super::catalogue::Catalogue;
use super::servers::Gateway;
use super::{items, tools};
use crate::call::context::Context;
use crate::server::access::permits;
use crate::server::list::ListKind;
use crate::server::source::SourceItems;
use crate::server::tool::Tool;

/// Returns the items of all servers for a list. `is_listed` chooses the tools.
pub(super) async fn found(
    gateway: &Gateway,
    kind: ListKind,
    cx: &Context,
    is_listed: fn(&Catalogue, &Tool) -> bool,
) -> SourceItems {
    let mut found = SourceItems::default();
    for (mount, list) in gateway.lists(kind, cx).await {
        let list = match list {
            Ok(list) => list,
            Err(problem) => {
                // A caller who cannot use a server does not learn of it.
                let is_known = match kind {
                    ListKind::Tools => tools::may_use_one(&mount, cx),
                    _ => permits(cx.request(), &mount.settings.scopes),
                };
                if is_known {
                    found = found.missing(&*mount.name, problem);
                }
                continue;
            }
        };
        found = found.answered();
        let catalogue = mount.settings.catalogue.as_ref().unwrap_or(&gateway.0.catalogue);
        match kind {
            ListKind::Tools => {
                for (name, listed) in mount.tools(&list, cx) {
                    let tool = tools::listed_tool(&mount, name, listed, cx);
                    if is_listed(catalogue, &tool) {
                        found = found.tool(tool);
                    }
                }
            }
            ListKind::Resources => {
                for resource in list.items.iter().filter_map(|listed| items::listed_resource(&mount, listed, cx)) {
                    found = found.resource(resource);
                }
            }
            ListKind::ResourceTemplates => {
                for template in list.items.iter().filter_map(|listed| items::listed_template(&mount, listed)) {
                    found = found.resource_template(template);
                }
            }
            ListKind::Prompts => {
                for (name, listed) in mount.prompts(&list) {
                    if let Some(prompt) = items::listed_prompt(&mount, name, listed) {
                        found = found.prompt(prompt);
                    }
                }
            }
        }
    }
    found
}
