//! A file as it was read, in bytes: reading takes most of a short run, and a policy seldom changes.
//!
//! In: a [`File`] without errors. Out: bytes, and the file again together with the text that it was read from; but for
//! what no decision looks at: examples, groups, comments, the severities of lints.
//! Whether bytes belong to a text is for whoever keeps them to know: by the digest of the text and [`READER`].

#[cfg(feature = "cli")]
use super::File;
use crate::source::{Format, Source};
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

/// What names the reader: bytes that another one kept may say something else. A digest of acl's own sources.
#[cfg(feature = "cli")]
pub const READER: &str = env!("ACL_SOURCES");

thread_local! {
    /// The text that a file is being made again for.
    static SOURCE: RefCell<Option<Arc<Source>>> = const { RefCell::new(None) };
    /// The texts of patterns so far: the alternatives of one share theirs.
    static TEXTS: RefCell<Vec<Arc<str>>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of a file.
///
/// # Errors
/// A sentence; only where memory cannot be had.
#[cfg(feature = "cli")]
pub fn encode(file: &File) -> Result<Vec<u8>, String> {
    TEXTS.take();
    postcard::to_allocvec(file).map_err(|why| why.to_string())
}

/// The file that bytes stand for; none where they are no such bytes.
#[cfg(feature = "cli")]
pub fn decode(bytes: &[u8], source: &Arc<Source>) -> Option<File> {
    TEXTS.take();
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

/// A text that the alternatives of one pattern share: written once, then as how many texts ago that was.
pub(super) mod shared {
    use super::TEXTS;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    /// How far back a text is looked for: that of a command may have those of its program's paths behind it.
    const NEAR: usize = 8;

    pub fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        let ago = TEXTS.with_borrow(|texts| {
            let mut near = texts.iter().rev().take(NEAR);
            near.position(|near| Arc::ptr_eq(near, text))
        });
        match ago {
            Some(ago) => (ago + 1, "").serialize(to),
            None => {
                TEXTS.with_borrow_mut(|texts| texts.push(Arc::clone(text)));
                (0, &**text).serialize(to)
            }
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        let (ago, text) = <(usize, &str)>::deserialize(from)?;
        TEXTS.with_borrow_mut(|texts| {
            if ago == 0 {
                texts.push(text.into());
            }
            let found = texts.len().checked_sub(ago.max(1));
            let found = found.and_then(|at| texts.get(at));
            found
                .cloned()
                .ok_or_else(|| D::Error::custom("no such text"))
        })
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
