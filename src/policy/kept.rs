//! A file as it was read, in bytes: reading takes most of a short run, and a policy seldom changes.
//!
//! In: a [`File`] without errors. Out: bytes, and the file again together with the text that it was read from; but for
//! what no decision looks at: examples, groups, comments, the severities of lints.
//! Whether bytes belong to a text is for whoever keeps them to know: by the digest of the text and [`READER`].

use super::File;
use crate::source::{Format, Source};
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

/// What names the reader: bytes that another one kept may say something else. A digest of acl's own sources.
pub const READER: &str = env!("ACL_SOURCES");

thread_local! {
    /// The text that a file is being made again for.
    static SOURCE: RefCell<Option<Arc<Source>>> = const { RefCell::new(None) };
    /// The text of the last pattern: alternatives of one share theirs.
    static LAST: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// The bytes of a file.
///
/// # Errors
/// A sentence; only where memory cannot be had.
pub fn encode(file: &File) -> Result<Vec<u8>, String> {
    LAST.set(None);
    postcard::to_allocvec(file).map_err(|why| why.to_string())
}

/// The file that bytes stand for; none where they are no such bytes.
pub fn decode(bytes: &[u8], source: &Arc<Source>) -> Option<File> {
    LAST.set(None);
    SOURCE.set(Some(Arc::clone(source)));
    let file = postcard::take_from_bytes(bytes).ok();
    SOURCE.set(None);
    file.and_then(|(file, rest)| rest.is_empty().then_some(file))
}

/// The text that a place is in.
pub(super) fn source() -> Arc<Source> {
    static NONE: LazyLock<Arc<Source>> =
        LazyLock::new(|| Arc::new(Source::of(String::new(), String::new(), Format::Toml)));
    let known = SOURCE.with_borrow(Clone::clone);
    known.unwrap_or_else(|| Arc::clone(&NONE))
}

/// A text that the alternatives of one pattern share: written once, empty where it is the one before.
pub(super) mod shared {
    use super::LAST;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        let last = LAST.replace(Some(Arc::clone(text)));
        match last.is_some_and(|last| Arc::ptr_eq(&last, text)) {
            true => to.serialize_str(""),
            false => to.serialize_str(text),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        let text = <&str>::deserialize(from)?;
        let last = LAST.take().filter(|_| text.is_empty());
        let text = last.unwrap_or_else(|| text.into());
        LAST.set(Some(Arc::clone(&text)));
        Ok(text)
    }
}

/// A JSON value, as its text: it has no fixed shape.
pub(super) mod json {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Serialize, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&serde_json::to_string(value).map_err(S::Error::custom)?)
    }

    pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        serde_json::from_str(<&str>::deserialize(from)?).map_err(D::Error::custom)
    }
}
