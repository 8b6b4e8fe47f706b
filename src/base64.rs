//! Base64 (RFC 4648).

/// The standard alphabet, with padding.
pub(crate) const STANDARD: Base64 =
    Base64 { alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", is_padded: true };

/// The alphabet for URLs and file names, without padding.
pub(crate) const URL_SAFE: Base64 =
    Base64 { alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", is_padded: false };

/// A variant of base64.
pub(crate) struct Base64 {
    alphabet: &'static [u8; 64],
    is_padded: bool,
}

impl Base64 {
    pub(crate) fn encode(&self, bytes: impl AsRef<[u8]>) -> String {
        self.encode_bytes(bytes.as_ref())
    }

    fn encode_bytes(&self, bytes: &[u8]) -> String {
        let mut text = vec![b'='; bytes.len().div_ceil(3).saturating_mul(4)];
        for (digits, group) in text.chunks_exact_mut(4).zip(bytes.chunks(3)) {
            let bits = bits(group.iter().copied(), 8, 3);
            // One byte takes two digits, and three bytes take four. The rest is padding.
            let used = group.len().saturating_add(1);
            for (digit, shift) in digits.iter_mut().zip([18_u32, 12, 6, 0]).take(used) {
                *digit = self.alphabet.get((bits >> shift) as usize & 63).copied().unwrap_or_default();
            }
        }
        if !self.is_padded {
            text.truncate(bytes.len().saturating_mul(4).div_ceil(3));
        }
        // The digits are ASCII.
        String::from_utf8(text).unwrap_or_default()
    }

    /// Decodes `text`. Returns `None` if `text` is not the canonical form, which [`encode`](Self::encode) returns.
    pub(crate) fn decode(&self, text: &str) -> Option<Vec<u8>> {
        let mut values = [u8::MAX; 256];
        for (value, digit) in (0_u8..).zip(self.alphabet) {
            *values.get_mut(usize::from(*digit))? = value;
        }
        let digits = text.trim_end_matches('=').as_bytes();
        let whole = if self.is_padded { digits.len().next_multiple_of(4) } else { digits.len() };
        if text.len() != whole || digits.len() % 4 == 1 {
            return None;
        }
        let mut bytes = Vec::with_capacity(digits.len().div_ceil(4).saturating_mul(3));
        for group in digits.chunks(4) {
            let mut bits = 0;
            for (shift, digit) in [18_u32, 12, 6, 0].into_iter().zip(group) {
                let value = values.get(usize::from(*digit)).copied().filter(|value| *value < 64)?;
                bits |= u32::from(value) << shift;
            }
            let [_, decoded @ ..] = bits.to_be_bytes();
            let (decoded, rest) = decoded.split_at_checked(group.len().saturating_sub(1))?;
            if rest.iter().any(|byte| *byte != 0) {
                return None;
            }
            bytes.extend_from_slice(decoded);
        }
        Some(bytes)
    }
}

/// Joins `count` parts of `width` bits each, with the first part in the highest bits. Missing parts are 0.
fn bits(parts: impl Iterator<Item = u8>, width: u32, count: usize) -> u32 {
    parts.chain([0; 4]).take(count).fold(0, |bits, part| bits << width | u32::from(part))
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose;

    use super::*;

    #[test]
    fn all_lengths_are_encoded_and_decoded() {
        let bytes: Vec<u8> = (0..=255).rev().chain(0..100).collect();
        for length in 0..bytes.len() {
            let bytes = &bytes[..length];
            let (standard, url_safe) = (STANDARD.encode(bytes), URL_SAFE.encode(bytes));
            assert_eq!(standard, general_purpose::STANDARD.encode(bytes));
            assert_eq!(url_safe, general_purpose::URL_SAFE_NO_PAD.encode(bytes));
            assert_eq!(STANDARD.decode(&standard).as_deref(), Some(bytes));
            assert_eq!(URL_SAFE.decode(&url_safe).as_deref(), Some(bytes));
        }
    }

    #[test]
    fn only_the_canonical_form_is_decoded() {
        for text in [
            "A", "AA", "AAA", "AA=", "A===", "AAAA=", "AAAAA", "AB==", "AAB=", "AA==AA==", "=", "====", "A A=",
            "AAA\n", "-_==", "é==",
        ] {
            assert_eq!(STANDARD.decode(text), None, "{text:?}");
            assert!(general_purpose::STANDARD.decode(text).is_err(), "{text:?}");
        }
        for text in ["A", "AA==", "AB", "AAB", "AAAAA", "+/", "A A", "AAA=", "="] {
            assert_eq!(URL_SAFE.decode(text), None, "{text:?}");
            assert!(general_purpose::URL_SAFE_NO_PAD.decode(text).is_err(), "{text:?}");
        }
    }
}
