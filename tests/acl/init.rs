//! `acl init` in scratch homes: what becomes of the agents' files, and that it takes itself back to the byte.

use acl::agents::Agent;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A home and a project.
fn scratch(name: &str) -> PathBuf {
    let top = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("init")
        .join(name);
    let _ = fs::remove_dir_all(&top);
    for folder in ["home", "project"] {
        fs::create_dir_all(top.join(folder)).unwrap();
    }
    fs::canonicalize(&top).unwrap()
}

fn acl(top: &Path, line: &str) -> (Option<i32>, String) {
    on_path(top, "/usr/bin:/bin", line)
}

fn on_path(top: &Path, path: &str, line: &str) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_acl"))
        .args(line.split_whitespace())
        .current_dir(top.join("project"))
        .env_clear()
        .env("HOME", top.join("home"))
        .env("PATH", path)
        .output()
        .unwrap();
    let told = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(told).unwrap())
}

/// What lies below a scratch folder, acl's own state apart.
fn files(top: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut todo = vec![top.to_path_buf()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            let found = fs::symlink_metadata(&path).unwrap();
            let what = if found.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else if found.is_dir() {
                if name != "home/.local" {
                    todo.push(path);
                }
                String::new()
            } else {
                fs::read_to_string(&path).unwrap()
            };
            out.insert(name, what);
        }
    }
    out.remove("home/.local");
    out
}

fn done(told: &(Option<i32>, String)) {
    assert_eq!(told.0, Some(0), "{}", told.1);
}

#[test]
fn each_agent_there_and_back() {
    let each = Agent::all().map(|agent| {
        std::thread::spawn(move || {
            let terms = agent.terms();
            for user in ["", "--user"] {
                let top = scratch(&format!("each-{}{user}", terms.name));
                let before = files(&top);
                let line = format!("init --agent {} {user}", terms.name);
                let shown = acl(&top, &line);
                assert_eq!(shown.0, Some(3), "{}", shown.1);
                assert_eq!(files(&top), before, "nothing was agreed to");
                done(&acl(&top, &format!("{line} --yes")));
                let made = files(&top);
                let (root, file) = match user {
                    "" => ("project", terms.settings.project),
                    _ => ("home", terms.settings.user),
                };
                let text = &made[&format!("{root}/{file}")];
                assert!(text.contains(env!("CARGO_BIN_EXE_acl")), "{text}");
                let again = acl(&top, &format!("{line} --yes"));
                done(&again);
                assert!(
                    again.1.contains("everything is there already"),
                    "{}",
                    again.1
                );
                assert_eq!(files(&top), made);
                let place = acl(&top, "where").1;
                assert!(
                    place.contains(&format!("hook of {}", terms.title)),
                    "{place}"
                );
                done(&acl(&top, &format!("init {user} --remove --yes")));
                assert_eq!(files(&top), before, "{}", terms.name);
            }
        })
    });
    let each: Vec<_> = each.collect();
    for one in each {
        one.join().unwrap();
    }
}

const OTHERS: &str = r#"{
	"permissions": { "allow": ["Bash(git diff:*)"] },
	"hooks": {
		"PreToolUse": [
			{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "./mine.sh" } ] }
		],
		"Stop": []
	},
	"model": "x"
}
"#;

/// A project with settings of Claude Code.
fn settled(name: &str, text: &str) -> PathBuf {
    let top = scratch(name);
    fs::create_dir(top.join("project/.claude")).unwrap();
    fs::write(top.join("project/.claude/settings.json"), text).unwrap();
    top
}

const SETTINGS: &str = "project/.claude/settings.json";

#[test]
fn what_a_user_has_stays() {
    let top = settled("others", OTHERS);
    let before = files(&top);
    done(&acl(&top, "init --yes"));
    let made = fs::read_to_string(top.join(SETTINGS)).unwrap();
    assert!(
        made.contains("./mine.sh") && made.contains("acl hook claude-code"),
        "{made}"
    );
    done(&acl(&top, "init --remove --yes"));
    assert_eq!(files(&top), before);
    // The user goes on in between.
    done(&acl(&top, "init --yes"));
    let text = fs::read_to_string(top.join(SETTINGS)).unwrap();
    fs::write(top.join(SETTINGS), text.replace("\"x\"", "\"y\"")).unwrap();
    let policy = top.join("project/acl.toml");
    let own = fs::read_to_string(&policy).unwrap() + "# mine\n";
    fs::write(&policy, &own).unwrap();
    done(&acl(&top, "init --remove --yes"));
    let left = fs::read_to_string(top.join(SETTINGS)).unwrap();
    assert_eq!(left, OTHERS.replace("\"x\"", "\"y\""));
    assert_eq!(fs::read_to_string(&policy).unwrap(), own);
}

#[test]
fn comments_stay_where_the_agent_takes_them() {
    let top = scratch("comments");
    fs::create_dir(top.join("project/.gemini")).unwrap();
    let file = top.join("project/.gemini/settings.json");
    let text = "// mine\n{\n  \"hooks\": {\n    // none yet\n  }, // so far\n}\n";
    fs::write(&file, text).unwrap();
    done(&acl(&top, "init --yes"));
    let made = fs::read_to_string(&file).unwrap();
    for comment in ["// mine\n", "    // none yet\n", "// so far\n"] {
        assert!(made.contains(comment), "{made}");
    }
    done(&acl(&top, "init --remove --yes"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn what_cannot_be_changed_keeps_all_from_being_changed() {
    for (name, text, why) in [
        ("broken", "{\"hooks\": [", "it ends too early"),
        ("commented", "{\n  // mine\n}\n", "line 2: a comment"),
        (
            "other",
            "{\"hooks\": {\"PreToolUse\": 1}}",
            "`hooks.PreToolUse` is no list",
        ),
    ] {
        let top = settled(name, text);
        fs::create_dir(top.join("project/.codex")).unwrap();
        let before = files(&top);
        let (code, told) = acl(&top, "init --yes");
        assert_eq!(code, Some(2), "{told}");
        assert!(
            told.contains(why) && told.contains("nothing was changed"),
            "{told}"
        );
        assert_eq!(files(&top), before);
    }
    let top = scratch("plugin");
    fs::create_dir_all(top.join("project/.opencode/plugin")).unwrap();
    fs::write(
        top.join("project/.opencode/plugin/acl.js"),
        "export const A = 1\n",
    )
    .unwrap();
    let (code, told) = acl(&top, "init --yes");
    assert_eq!(code, Some(2), "{told}");
    assert!(!top.join("project/acl.toml").exists());
}

#[cfg(unix)]
#[test]
fn links_and_modes_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let top = settled("links", "{}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let real = top.join("home/dotfiles.json");
    fs::write(&real, OTHERS).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(top.join(SETTINGS)).unwrap();
    symlink(&real, top.join(SETTINGS)).unwrap();
    let before = files(&top);
    done(&acl(&top, "init --yes"));
    assert!(
        fs::symlink_metadata(top.join(SETTINGS))
            .unwrap()
            .is_symlink()
    );
    assert!(fs::read_to_string(&real).unwrap().contains("acl hook"));
    assert_eq!(mode(&real), 0o600);
    done(&acl(&top, "init --remove --yes"));
    assert_eq!(files(&top), before);
    // It leads nowhere.
    fs::remove_file(&real).unwrap();
    let (code, told) = acl(&top, "init --yes");
    assert_eq!(code, Some(2), "{told}");
    // Read-only.
    let top = settled("read-only", OTHERS);
    fs::set_permissions(top.join(SETTINGS), fs::Permissions::from_mode(0o444)).unwrap();
    let before = files(&top);
    let (code, told) = acl(&top, "init --yes");
    assert!(code == Some(2) && told.contains("is read-only"), "{told}");
    assert_eq!(files(&top), before);
}

#[test]
fn the_agents_in_use_are_found() {
    let top = scratch("found");
    fs::create_dir(top.join("home/.codex")).unwrap();
    fs::create_dir(top.join("project/.cursor")).unwrap();
    done(&acl(&top, "init --yes"));
    let made = files(&top);
    assert!(made.contains_key("project/.codex/hooks.json"));
    assert!(made.contains_key("project/.cursor/hooks.json"));
    assert!(!made.contains_key("project/.claude"));
}

#[test]
fn no_agent_may_change_what_was_installed() {
    let top = scratch("guarded");
    for agent in Agent::all() {
        let settings = &agent.terms().settings;
        let user = top.join("home").join(settings.user);
        for path in [settings.project, user.to_str().unwrap()] {
            let line = format!("explain --policy acl:recommended --write {path}");
            let (code, told) = acl(&top, &line);
            assert_eq!(code, Some(1), "{path}: {told}");
        }
    }
}

#[test]
fn the_policy_is_right_and_trusted() {
    for preset in acl::presets::names() {
        let top = scratch(&format!("preset-{preset}"));
        done(&acl(&top, &format!("init --yes --preset {preset}")));
        let (code, told) = acl(&top, "check acl.toml");
        assert!(
            code == Some(0) && !told.contains("warn"),
            "{preset}: {told}"
        );
        let place = acl(&top, "where").1;
        assert!(place.contains("acl.toml, trusted as it stands"), "{place}");
    }
    // One that is there is the user's to trust.
    let top = scratch("own-policy");
    let own = "version = 1\ncommands = { allow = [\"ls\"] }\n";
    fs::write(top.join("project/acl.toml"), own).unwrap();
    let told = acl(&top, "init --agent crush --yes");
    done(&told);
    assert!(told.1.contains("acl trust"), "{}", told.1);
    assert_eq!(
        fs::read_to_string(top.join("project/acl.toml")).unwrap(),
        own
    );
    assert!(acl(&top, "where").1.contains("not trusted"));
}

#[test]
fn a_program_on_the_path_goes_by_its_name() {
    let top = scratch("path");
    let folder = Path::new(env!("CARGO_BIN_EXE_acl")).parent().unwrap();
    let path = format!("/usr/bin:/bin:{}", folder.display());
    done(&on_path(&top, &path, "init --agent claude-code --yes"));
    let made = fs::read_to_string(top.join(SETTINGS)).unwrap();
    assert!(
        made.contains("\"acl hook claude-code --audit default || sh -c "),
        "{made}"
    );
    // Where it is no longer found, the hook is installed anew.
    assert!(acl(&top, "where").1.contains("NOT THERE"));
    done(&acl(&top, "init --agent claude-code --yes"));
    let made = fs::read_to_string(top.join(SETTINGS)).unwrap();
    assert_eq!(made.matches("acl hook").count(), 1, "{made}");
    assert!(made.contains(env!("CARGO_BIN_EXE_acl")), "{made}");
}

#[test]
fn a_hook_of_acl_keeps_its_options() {
    let top = scratch("options");
    let file = top.join("project/.claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let program = env!("CARGO_BIN_EXE_acl");
    let hooks = |event: &str, rest: &str, command: &str| {
        format!(
            "{{\"hooks\": {{\"{event}\": [{{{rest}\"hooks\": [{{\"type\": \"command\", \"command\": \"{command}\"}}]}}]}}}}"
        )
    };
    let own = format!("{program} hook claude-code --policy strict.toml --mode non-interactive");
    fs::write(
        &file,
        hooks(
            "PreToolUse",
            "\"matcher\": \"Edit\", ",
            &format!("{own} || true"),
        ),
    )
    .unwrap();
    let place = acl(&top, "where").1;
    assert!(place.contains("it is asked only about `Edit`"), "{place}");
    assert!(place.contains("`|| true` behind it"), "{place}");
    done(&acl(&top, "init --agent claude-code --yes"));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(&own) && !text.contains("|| true"), "{text}");
    let place = acl(&top, "where").1;
    assert!(!place.contains("may not be asked"), "{place}");
    // Another program's words are no hook of acl.
    fs::write(&file, hooks("PreToolUse", "", "echo acl hook claude-code")).unwrap();
    assert!(acl(&top, "where").1.contains("hooks: none here"));
    for (text, doubt) in [
        (
            hooks("PostToolUse", "", &own),
            "there is none under `PreToolUse`",
        ),
        (
            hooks("PreToolUse", "", &own).replacen('{', "{\"disableAllHooks\": true, ", 1),
            "no hook runs",
        ),
        (
            hooks("PreToolUse", "", &own)
                .replace("\"type\"", "\"async\": true, \"timeout\": 1, \"type\""),
            "nobody waits",
        ),
        (
            hooks("PreToolUse", "", &format!("{own} >/dev/null")),
            "`>/dev/null` behind it",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let place = acl(&top, "where").1;
        assert!(place.contains(doubt), "{doubt}: {place}");
    }
    // A switch in another file turns it off as well.
    fs::write(&file, hooks("PreToolUse", "", &own)).unwrap();
    fs::write(
        file.with_file_name("settings.local.json"),
        "{\"disableAllHooks\": true}",
    )
    .unwrap();
    let place = acl(&top, "where").1;
    assert!(
        place.contains("settings.local.json`: no hook runs"),
        "{place}"
    );
}
