use edge_mcp::protocol::description::{Annotations, Role};
use edge_mcp::{Content, ResourceContents, ResourceDescription};

pub async fn label() -> Vec<Content> {
    let receipt = ResourceContents::text("parcels://receipts/7", "Paid: 3.50").mime_type("text/plain");
    vec![
        Content::text("Print this label.").annotations(Annotations::new().audience(Role::User).priority(1.0)),
        Content::image(b"\x89PNG", "image/png"),
        Content::audio(b"RIFF", "audio/wav"),
        Content::resource(receipt),
        Content::link(ResourceDescription::new("parcels://tracking/7", "Tracking of parcel 7")),
    ]
}

