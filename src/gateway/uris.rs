//! The URIs of mounted resources.
//!
//! A URI is `<mount>+<uri>`: a scheme can have a `+`. The schemes of apps and skills are part of their extensions, so there the mount is the
//! first part instead: `ui://<mount>/…`.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use super::mounted::Mounted;
use crate::limits::GATEWAY_URI_BYTES;
use crate::protocol::ui;
use crate::text::{has_uri_characters, has_uri_scheme, is_plain};

/// The beginning of the URIs of skills and their files.
pub(super) const SKILLS: &str = "skill://";
/// The schemes that clients compare as strings.
pub(super) const EXTENSIONS: [&str; 2] = [ui::SCHEME, SKILLS];

impl Mounted {
    /// Returns the URI by which callers know a URI of the server.
    pub(super) fn shown_uri<'u>(&self, uri: &'u str) -> Cow<'u, str> {
        if !self.settings.has_prefix {
            return Cow::Borrowed(uri);
        }
        let of_extension = EXTENSIONS.into_iter().find_map(|scheme| Some((scheme, uri.strip_prefix(scheme)?)));
        Cow::Owned(match of_extension {
            Some((scheme, rest)) => format!("{scheme}{}/{rest}", self.name),
            None => format!("{}+{uri}", self.name),
        })
    }

    /// Returns the URI at the server, if callers know a URI of this server as `shown`.
    pub(super) fn own_uri<'u>(&self, shown: &'u str) -> Option<Cow<'u, str>> {
        if !self.settings.has_prefix {
            return Some(Cow::Borrowed(shown));
        }
        if let Some((scheme, rest)) =
            EXTENSIONS.into_iter().find_map(|scheme| Some((scheme, shown.strip_prefix(scheme)?)))
        {
            let (mount, rest) = rest.split_once('/')?;
            return (*mount == *self.name).then(|| Cow::Owned(format!("{scheme}{rest}")));
        }
        // A client may write a scheme in lower case.
        let (mount, uri) = shown.split_once('+')?;
        // A resource has one URI here. With two, the checks of an app could be avoided.
        let is_own =
            mount.eq_ignore_ascii_case(&self.name) && !EXTENSIONS.iter().any(|scheme| has_uri_scheme(uri, scheme));
        is_own.then_some(Cow::Borrowed(uri))
    }
}

/// Returns whether a URI can be sent to a server. Many servers have URIs with spaces or characters of other scripts, which RFC 3986 does not allow.
/// They are passed on as they are, except in the scheme and the authority, which decide where a URI leads.
pub(super) fn is_sendable(uri: &str) -> bool {
    let (scheme, authority) = scheme_and_authority(uri);
    let is_valid = has_uri_characters(scheme.unwrap_or(uri)) && has_uri_characters(authority.unwrap_or_default());
    uri.len() <= GATEWAY_URI_BYTES && is_plain(uri) && is_valid
}

fn scheme_and_authority(uri: &str) -> (Option<&str>, Option<&str>) {
    let Some((scheme, rest)) = uri.split_once(':') else { return (None, None) };
    (Some(scheme), rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?', '#']).next()))
}

/// Returns whether a URI is a URL. Strict clients reject a whole list because of one URI without a scheme, or with an invalid host or port.
pub(super) fn is_url(uri: &str) -> bool {
    let (Some(scheme), authority) = scheme_and_authority(uri) else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme && authority.is_none_or(is_authority)
}

/// Returns whether a text is empty, or a host with an optional user and an optional port.
fn is_authority(authority: &str) -> bool {
    let (_, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    // The colons of an IPv6 address are in brackets.
    let (host, port) = match place.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((host, port))) if host.parse::<Ipv6Addr>().is_ok() => (host, port),
        Some(_) => return false,
        None => place.split_at(place.find(':').unwrap_or(place.len())),
    };
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok());
    let has_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    authority.is_empty() || (!host.is_empty() && !host.contains(['[', ']']) && has_port)
}
