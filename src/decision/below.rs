//! What lies below a folder, as far as a decision looks: bounded, and without what the tool itself skips.
//!
//! In: a view of the files, a folder, what the tool skips. Out: a [`Listing`], which says whether it is complete.
//! Files that `.gitignore` names are skipped where the tool heeds them (`git add`, `rg`, formatters), and what
//! `.dockerignore` names where an image is built.

use super::tracked::Tracked;
use crate::call::access::Reach;
use crate::call::files::{Entry, FileView};
use crate::call::path;
use crate::call::word::Word;
use crate::matcher::located::{Folder, Frame, Located};
use crate::matcher::paths::{self, Stance};
use crate::matcher::quick::HashMap;
use crate::policy::glob::{Fit, Glob};
use crate::policy::patterns::{self, Anchor, PathPattern};
use crate::source::Span;
use std::cell::OnceCell;

/// So many entries are looked at in one call; what lies beyond may be anything.
pub const MOST_ENTRIES: usize = 40_000;

/// What a tool skips by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skips {
    /// Names with a leading dot.
    pub hidden: bool,
    /// What `.gitignore` names, and `.git` itself.
    pub ignored: bool,
    /// But not what the last commit may have all the same.
    pub head: bool,
    /// What the `.dockerignore` of the folder names.
    pub docker: bool,
    /// Links.
    pub links: bool,
}

/// The entries below a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// The folder.
    pub folder: String,
    /// Their paths, in the order of names.
    pub paths: Vec<(String, Entry)>,
    /// The links among them.
    pub links: Vec<String>,
    /// Nothing was left out for being too much or unreadable.
    pub complete: bool,
    pub(super) names: OnceCell<Names>,
}

/// The entries of a listing by their names.
#[derive(Debug, Default)]
pub struct Names {
    /// By the last component, folded.
    own: HashMap<String, Vec<usize>>,
    /// The links, which may lead to any name.
    pub links: Vec<usize>,
}

impl Names {
    /// Visits the entries whose last component a glob may match.
    pub fn of(&self, glob: &Glob, mut visit: impl FnMut(&[usize])) {
        match glob.as_literal() {
            Some(name) => visit(
                self.own
                    .get(&*paths::folded(name))
                    .map_or(&[], Vec::as_slice),
            ),
            None => {
                let own = self
                    .own
                    .iter()
                    .filter(|(name, _)| glob.matches_text(name, true));
                own.for_each(|(_, entries)| visit(entries));
            }
        }
    }
}

impl Listing {
    /// Looks below a folder, at no more entries than are left for this call.
    pub fn of(view: &FileView, folder: &str, skips: Skips, left: &mut usize) -> Self {
        let mut listing = Self {
            complete: true,
            ..Self::default()
        };
        match view.entry(folder) {
            None | Some(Entry::File) => return listing,
            Some(Entry::Folder | Entry::Link) => {}
        }
        let start = folder.trim_end_matches('/').to_owned();
        listing.folder.clone_from(&start);
        let mut ignored = if skips.ignored {
            above(view, &start, skips.hidden)
        } else if skips.docker {
            Ignored::docker(view, &start).into_iter().collect()
        } else {
            Vec::new()
        };
        // Outside of one, nobody heeds git's files.
        let repository = skips.ignored && is_in_repository(view, &start);
        let mut tracked = None;
        // A folder, and whether it lies in one that is left out but for what git tracks.
        let mut todo = vec![(start.clone(), false)];
        while let Some((at, within)) = todo.pop() {
            if *left == 0 {
                listing.complete = false;
                return listing;
            }
            *left -= 1;
            let Some(names) = view.list(if at.is_empty() { "/" } else { &at }) else {
                listing.complete = false;
                continue;
            };
            if skips.ignored {
                let is_there = |name: &str| {
                    let first = name.split('/').next().unwrap_or(name);
                    names
                        .binary_search_by(|(own, _)| own.as_str().cmp(first))
                        .is_ok()
                };
                let own = Ignored::read(view, &at, skips.hidden, is_there);
                ignored.extend(own.into_iter().filter(|own| repository || own.own));
            }
            for (name, entry) in names {
                let path = format!("{at}/{name}");
                if (skips.links && entry == Entry::Link) || (skips.ignored && name == ".git") {
                    continue;
                }
                // What such a file names with `!` is searched, a leading dot or not.
                let named = match skips.ignored || skips.docker {
                    true if within => Some(true),
                    true => is_ignored(&ignored, &path, entry),
                    false => None,
                };
                let hidden = skips.hidden && name.starts_with('.');
                // Git goes on with what it tracks. Who leaves out hidden names is no git.
                let kept = repository && !skips.hidden && named == Some(true) && {
                    let tracked = tracked.get_or_insert_with(|| Tracked::around(view, &start));
                    entry != Entry::Link && tracked.has(&path, entry == Entry::Folder, skips.head)
                };
                if named.unwrap_or(hidden) && !kept {
                    continue;
                }
                if *left == 0 {
                    listing.complete = false;
                    return listing;
                }
                *left -= 1;
                match entry {
                    Entry::Folder => todo.push((path.clone(), kept)),
                    Entry::Link => listing.links.push(path.clone()),
                    Entry::File => {}
                }
                listing.paths.push((path, entry));
            }
        }
        listing
    }

    /// Its entries by their names.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for (at, (path, entry)) in self.paths.iter().enumerate() {
                let name = paths::folded(path::last(path)).into_owned();
                names.own.entry(name).or_default().push(at);
                if *entry == Entry::Link {
                    names.links.push(at);
                }
            }
            names
        })
    }
}

/// The rules of one `.gitignore`, from the folder it stands in.
struct Ignored {
    folder: String,
    rules: Vec<(bool, PathPattern)>,
    /// A search tool's own: it lets in what git's leave out, wherever either stands.
    own: bool,
}

/// The search tools' own files, which count more than git's.
const OWN: &[&str] = &[".ignore", ".rgignore", ".fdignore"];

impl Ignored {
    /// Those of git, and the search tools' own: the later count more. Whether the tool is one of them is not known where
    /// it reaches hidden names too: then only what its own let in counts.
    fn read(
        view: &FileView,
        folder: &str,
        searches: bool,
        is_there: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let names = [".git/info/exclude", ".gitignore"].iter().chain(OWN);
        let names = names.filter(|name| is_there(name));
        let spell = |pattern: &str| {
            // From the top of this folder: the patterns of a policy spell that `./`.
            match pattern.strip_prefix('/') {
                Some(rest) => format!("./{rest}"),
                None => pattern.to_owned(),
            }
        };
        let read = |name: &&str| {
            let mut all = Self::of(view, folder, name, spell)?;
            all.own = OWN.contains(name);
            if all.own && !searches {
                all.rules.retain(|(ignores, _)| !ignores);
            }
            Some(all)
        };
        names.filter_map(read).collect()
    }

    /// Docker's patterns all start at the top.
    fn docker(view: &FileView, folder: &str) -> Option<Self> {
        // One beside the Dockerfile counts instead.
        if view
            .entry(&format!("{folder}/Dockerfile.dockerignore"))
            .is_some()
        {
            return None;
        }
        Self::of(view, folder, ".dockerignore", |pattern| {
            format!("./{}", pattern.trim_start_matches('/'))
        })
    }

    fn of(
        view: &FileView,
        folder: &str,
        name: &str,
        spell: impl Fn(&str) -> String,
    ) -> Option<Self> {
        let text = view.text(&format!("{folder}/{name}"))?;
        let rules = text
            .lines()
            .map(|line| line.trim_end())
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .filter_map(|line| {
                let (ignores, pattern) = match line.strip_prefix('!') {
                    Some(rest) => (false, rest),
                    None => (true, line),
                };
                // Braces are literal in such a file; a line that cannot be read skips nothing.
                let spelled = spell(pattern).replace('{', "\\{").replace('}', "\\}");
                let mut read = patterns::paths(&spelled).ok()?;
                Some((ignores, read.pop()?))
            })
            .filter(|(_, pattern)| matches!(pattern.anchor, Anchor::Name | Anchor::Root))
            .collect();
        Some(Self {
            folder: folder.to_owned(),
            rules,
            own: false,
        })
    }
}

/// Whether a folder is the top of a repository.
fn is_top(view: &FileView, folder: &str) -> bool {
    view.entry(&format!("{folder}/.git")).is_some()
}

fn is_in_repository(view: &FileView, folder: &str) -> bool {
    let mut at = folder;
    loop {
        match (is_top(view, at), at.rsplit_once('/')) {
            (true, _) => return true,
            (false, Some((parent, _))) => at = parent,
            (false, None) => return false,
        }
    }
}

/// The rules of the folders above: git's up to the repository's own, those of search tools up to the top.
fn above(view: &FileView, start: &str, searches: bool) -> Vec<Ignored> {
    let mut out = Vec::new();
    let mut at = start;
    let is_top = |at: &str| is_top(view, at);
    let mut inside = !is_top(at);
    while let Some((parent, _)) = at.rsplit_once('/') {
        at = parent;
        let mut all = Ignored::read(view, at, searches, |_| true);
        all.retain(|ignored| inside || ignored.own);
        inside &= !is_top(at);
        out.push(all);
    }
    out.into_iter().rev().flatten().collect()
}

/// Whether the last rule that fits ignores the path itself, unless a search tool's own file lets it in; none where none fits.
fn is_ignored(all: &[Ignored], path: &str, entry: Entry) -> Option<bool> {
    let (mut ignored, mut let_in) = (None, false);
    for own in all.iter().filter(|own| {
        path.strip_prefix(&own.folder)
            .is_some_and(|rest| rest.starts_with('/'))
    }) {
        let folder = Folder {
            lexical: own.folder.clone(),
            resolved: own.folder.clone(),
        };
        let frame = Frame {
            roots: vec![folder],
            ..Frame::default()
        };
        let mut located = Located::locate(
            &Word::known(path, Span::default()),
            None,
            Reach::Itself,
            &frame,
        );
        located.folder = Some(entry == Entry::Folder);
        for (ignores, pattern) in &own.rules {
            let fits = located.spellings.iter().any(|spelling| {
                paths::any(
                    std::slice::from_ref(pattern),
                    spelling,
                    &located,
                    Stance::Loosens,
                    true,
                ) == Fit::Must
            });
            if fits {
                ignored = Some(*ignores);
                let_in |= own.own && !ignores;
            }
        }
    }
    match let_in {
        true => Some(false),
        false => ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_ignores_is_skipped() {
        let top = std::env::temp_dir().join(format!("acl-below-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = top.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".git/config", "");
        write(".gitignore", "# secrets\n.env\n/build/\n*.log\n!keep.log\n");
        for name in [
            ".env",
            "a.rs",
            "build/x",
            "sub/build/x",
            "sub/.env",
            "sub/a.log",
            "keep.log",
        ] {
            write(name, "");
        }
        write("sub/.gitignore", "local\n");
        write("sub/local", "");
        let base = top.to_string_lossy().into_owned();
        let names = |folder: &str, skips: Skips| {
            let listing = Listing::of(&FileView::Real, folder, skips, &mut { MOST_ENTRIES });
            assert!(listing.complete);
            let mut names: Vec<String> = listing
                .paths
                .into_iter()
                .map(|(path, _)| path.replacen(&base, "", 1))
                .collect();
            names.sort();
            names
        };
        let git = Skips {
            hidden: false,
            ignored: true,
            head: false,
            docker: false,
            links: true,
        };
        assert_eq!(
            names(&base, git),
            [
                "/.gitignore",
                "/a.rs",
                "/keep.log",
                "/sub",
                "/sub/.gitignore",
                "/sub/build",
                "/sub/build/x"
            ]
        );
        assert_eq!(
            names(&format!("{base}/sub"), git),
            ["/sub/.gitignore", "/sub/build", "/sub/build/x"]
        );
        assert!(
            names(
                &base,
                Skips {
                    hidden: false,
                    ignored: false,
                    head: false,
                    docker: false,
                    links: false,
                }
            )
            .contains(&"/.env".to_owned())
        );
        // What a search tool is told to look at it looks at, whatever git leaves out.
        let hidden = Skips {
            hidden: true,
            ..git
        };
        for name in [".ignore", "sub/.rgignore"] {
            write(name, "!.env\n");
            for skips in [git, hidden] {
                assert!(
                    names(&base, skips).contains(&"/sub/.env".to_owned()),
                    "{name}"
                );
                assert!(
                    names(&format!("{base}/sub"), skips).contains(&"/sub/.env".to_owned()),
                    "{name}"
                );
            }
            std::fs::remove_file(top.join(name)).unwrap();
            assert!(
                !names(&base, hidden).contains(&"/sub/.env".to_owned()),
                "{name}"
            );
        }
        // That a folder is left out counts for those who come to it from above.
        assert_eq!(names(&format!("{base}/build"), git), ["/build/x"]);
        std::fs::remove_dir_all(top).unwrap();
    }
}
