//! Files that are made from the key table and checked in, so that editors and readers find them without a build.

use crate::reference;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// The README with what acl answers to the call of its first picture.
fn with_example(readme: &str) -> String {
    const LINE: &str = "cargo test 2>&1 | tail -3 && bash -c 'git push origin +main'";
    let policy = "policies/recommended.toml";
    let typed = format!("$ acl explain --policy {policy} --command \"{LINE}\"\n");
    let (before, rest) = readme.split_once(&typed).expect("the first picture");
    let (_, after) = rest.split_once("```").expect("its end");
    let answer = Command::new(env!("CARGO_BIN_EXE_acl"))
        .args(["explain", "--policy", policy, "--command", LINE])
        .current_dir(at("."))
        .output()
        .unwrap();
    let answer = String::from_utf8(answer.stdout).unwrap();
    format!("{before}{typed}{answer}```{after}")
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
    let readme = with_example(&readme);
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
