//! Nothing is outside: `outside = "allow"` without `roots`, while a tool for files is allowed.
//!
//! Without `roots` the workspace is the policy's folder or the call's; then `outside` is the only border.

use super::Room;
use crate::finding::Finding;
use crate::call::tools::Holds;
use crate::policy::rule::Verdict;

const CODE: &str = "no-workspace";

/// Looks at `[workspace]`.
pub fn check(room: &Room<'_>) -> Vec<Finding> {
    let (verdict, place) = &room.matcher.outside;
    let (Verdict::Allow, Some(place), None) = (verdict, place, &room.matcher.roots) else {
        return Vec::new();
    };
    let tools = room.tools_that(&[Holds::Read, Holds::Write, Holds::Patch]);
    let Some((tool, _)) = tools.iter().find(|(_, tier)| *tier == Verdict::Allow) else {
        return Vec::new();
    };
    vec![
        Finding::lint(
            CODE,
            format!("`{tool}` may go anywhere: no folder is named, and all that is outside is allowed"),
            &place.source,
            place.span,
        )
        .label("everything outside is allowed")
        .help("name the folders, `roots = [\".\"]`, and say `outside = \"ask\"`"),
    ]
}
