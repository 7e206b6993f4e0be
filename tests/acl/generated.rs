//! Files that are made from the key table and checked in, so that editors and readers find them without a build.

use crate::reference;
use std::path::{Path, PathBuf};

/// The path of a file of this repository.
pub fn at(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Its text.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(at(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// Fails where the file is not what it should be; with `ACL_BLESS=1` writes it.
fn current(name: &str, want: &str) {
    if std::env::var_os("ACL_BLESS").is_some_and(|bless| bless == "1") {
        return std::fs::write(at(name), want).unwrap();
    }
    // A checkout may have turned line ends.
    if text(name).replace("\r\n", "\n") != want {
        panic!(
            "{name} is out of date; run `ACL_BLESS=1 cargo test --test acl generated` and look at the difference"
        );
    }
}

#[test]
fn the_schema_is_current() {
    let schema = format!("{:#}\n", acl::report::schema::policy());
    current("schema/acl-policy.schema.json", &schema);
}

#[test]
fn the_reference_is_current() {
    let (start, end) = ("<!-- reference -->\n", "<!-- /reference -->");
    let readme = text("README.md").replace("\r\n", "\n");
    let (before, rest) = readme
        .split_once(start)
        .expect("a mark where the reference starts");
    let (_, after) = rest
        .split_once(end)
        .expect("a mark where the reference ends");
    current(
        "README.md",
        &format!("{before}{start}{}{end}{after}", reference::tables()),
    );
}
