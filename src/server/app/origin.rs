//! The origins that the page of an app may use.
//!
//! A client joins them into a header (`Content-Security-Policy`), so nothing but an origin may pass.

/// A list of origins in the settings of an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Connect,
    Resource,
    Frame,
    BaseUri,
}

impl List {
    pub(crate) const ALL: [Self; 4] = [Self::Connect, Self::Resource, Self::Frame, Self::BaseUri];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connectDomains",
            Self::Resource => "resourceDomains",
            Self::Frame => "frameDomains",
            Self::BaseUri => "baseUriDomains",
        }
    }
}

/// Returns the problem with an origin, as the predicate of a sentence.
pub(crate) fn origin_problem(list: List, origin: &str, is_for_development: bool) -> Option<String> {
    let rest = origin.strip_prefix("https://");
    let rest = rest.or_else(|| origin.strip_prefix("wss://").filter(|_| list == List::Connect));
    let is_local = origin.strip_prefix("http://localhost:").is_some_and(is_port);
    let fits = rest.is_some_and(is_host_with_port) || (is_for_development && is_local);
    let form = "is not an origin such as `https://api.example.com`, in ASCII and without a path";
    (!fits).then(|| format!("has `{}` among its {}, which {form}", crate::text::shortened(origin), list.name()))
}

fn is_port(port: &str) -> bool {
    port.len() <= 5 && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Returns whether `text` is a host name of at least two labels, optionally with `*.` before it and a port after it.
fn is_host_with_port(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let host = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.contains('.') && host.len() <= 253 && host.split('.').all(is_label) && port.is_none_or(is_port)
}
