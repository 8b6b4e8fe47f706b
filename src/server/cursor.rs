//! Cursors of lists.
//!
//! A cursor contains the position of the next page, and a checksum of the list's name and the position. A cursor that is damaged or
//! belongs to another list is rejected. A caller can read the position, so it must not be something that is hidden from them. The server stores
//! no cursors.
//!
//! Source: all revisions, server/utilities/pagination.

use sha2::{Digest, Sha256};

use crate::base64::URL_SAFE;

/// The text of the error for a cursor that [`position`] rejects.
pub(crate) const INVALID: &str =
    "`params.cursor` is not a cursor of this list; omit it to read the list from its beginning";

/// Returns the cursor of `position` in the list `list`.
pub(crate) fn at(list: &str, position: &[u8]) -> String {
    URL_SAFE.encode([&checksum(list, position), position].concat())
}

/// Returns the position of a cursor of the list `list`, or `None` for another text.
pub(crate) fn position(list: &str, cursor: &str) -> Option<Vec<u8>> {
    let bytes = URL_SAFE.decode(cursor)?;
    let (sum, position) = bytes.split_first_chunk::<4>()?;
    (*sum == checksum(list, position)).then(|| position.to_vec())
}

fn checksum(list: &str, position: &[u8]) -> [u8; 4] {
    let digest: [u8; 32] = Sha256::new().chain_update(list).chain_update(position).finalize().into();
    digest.first_chunk().copied().unwrap_or_default()
}
