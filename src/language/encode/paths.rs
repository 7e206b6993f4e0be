//! A path pattern → the paths that it takes, by their components.

use super::super::shape::Shape;
use super::Folders;
use super::globs::word;
use crate::policy::patterns::{Anchor, PathPattern, WordPattern};

/// The components of a folder.
pub fn components_of(folder: &[String]) -> Shape {
    let components = folder.iter();
    Shape::Seq(
        components
            .flat_map(|name| [Shape::Break, Shape::text(name)])
            .collect(),
    )
}

/// The paths that a pattern takes.
pub fn path(
    own: &PathPattern,
    tightens: bool,
    exact: bool,
    sure: bool,
    folders: &Folders,
) -> Option<Shape> {
    let mut components = own.components.as_slice();
    // What a pattern covers goes on below it: `**` at its end says nothing more.
    if let ([rest @ .., WordPattern::Any], false) = (components, exact || own.directory) {
        components = rest;
    }
    let mut body = Vec::new();
    for component in components {
        body.push(match component {
            WordPattern::Any => Shape::parts(),
            WordPattern::Word(glob) => word(glob, tightens)?,
        });
    }
    let below = Shape::Seq(vec![Shape::Break, Shape::char().many(), Shape::parts()]);
    body.push(match (exact, own.directory, sure) {
        (false, false, _) | (false, true, false) => Shape::parts(),
        (false, true, true) => below,
        (true, true, true) => Shape::Any(Vec::new()),
        (true, _, _) => Shape::Seq(Vec::new()),
    });
    let body = Shape::Seq(body);
    let from = |folder: &Vec<String>, between: Option<Shape>| {
        let mut all = vec![components_of(folder)];
        all.extend(between);
        all.push(body.clone());
        Shape::Seq(all)
    };
    let roots = folders.roots.iter();
    Some(match own.anchor {
        Anchor::Absolute => body,
        Anchor::Home => from(&folders.home, None),
        Anchor::Root => Shape::Any(roots.map(|root| from(root, None)).collect()),
        Anchor::Name => {
            let inside: Vec<Shape> = roots.map(|root| from(root, Some(Shape::parts()))).collect();
            let anywhere = Shape::Seq(vec![Shape::parts(), body.clone()]);
            // A name outside the roots counts for what tightens; one in the way to a root does not count inside it.
            let in_the_way = folders.roots.iter().flatten().any(|name| match components {
                [WordPattern::Word(glob), ..] => glob.matches_text(name, tightens),
                _ => true,
            });
            match (tightens, sure && in_the_way) {
                (true, false) => anywhere,
                _ => Shape::Any(inside),
            }
        }
    })
}

/// What an allow of a pattern takes below the roots, itself and not what lies below it.
pub fn name(own: &PathPattern, folders: &Folders) -> Option<Shape> {
    path(own, false, true, false, folders)
}

/// A path as it is compared: no empty component, no `.` or `..`.
pub fn plain_path() -> Shape {
    let but = |chars: &[char]| Shape::One {
        negated: true,
        chars: chars.to_vec(),
    };
    let name = Shape::Any(vec![
        Shape::Seq(vec![but(&['.', '/']), but(&['/']).many()]),
        Shape::Seq(vec![Shape::text("."), but(&['.', '/']), but(&['/']).many()]),
        Shape::Seq(vec![Shape::text(".."), but(&['/']), but(&['/']).many()]),
    ]);
    Shape::Seq(vec![Shape::Break, name]).many()
}
