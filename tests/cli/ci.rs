//! The definitions for pre-commit and for GitHub say what they are meant to, and the commands in them work.

use std::path::Path;
use std::process::{Command, Stdio};

use saphyr::{LoadableYamlNode, Yaml};

use crate::common::{Ran, cotenant, finish};

fn yaml(path: &str) -> Yaml<'static> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let mut documents = Yaml::load_from_str(text.leak()).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(documents.len(), 1, "{path} is one document");
    documents.remove(0)
}

fn text<'a>(yaml: &'a Yaml<'_>, key: &str) -> &'a str {
    yaml[key].as_str().unwrap_or_else(|| panic!("`{key}` is a text in {yaml:?}"))
}

/// A hook, run as pre-commit runs it in a folder where these files have changed.
fn hook(id: &str, folder: &Path, files: &[&str]) -> Ran {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = hooks.as_vec().unwrap().iter().find(|hook| text(hook, "id") == id).unwrap();
    assert_eq!((text(hook, "language"), text(hook, "files")), ("rust", "\\.policy$"));
    let mut words: Vec<&str> = text(hook, "entry").split(' ').collect();
    assert_eq!(words.remove(0), "cotenant");
    if let Some(arguments) = hook.as_mapping_get("args").and_then(|it| it.as_vec()) {
        words.extend(arguments.iter().map(|it| it.as_str().unwrap()));
    }
    if hook.as_mapping_get("pass_filenames").and_then(|it| it.as_bool()).unwrap_or(true) {
        words.extend(files);
    }
    finish(cotenant(&words).current_dir(folder))
}

#[test]
fn hooks_check_and_lay_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("policies")).unwrap();
    let file = folder.path().join("policies/a.policy");
    std::fs::write(&file, "class a:match exe a").unwrap();
    assert_eq!(hook("cotenant-lint", folder.path(), &["policies/a.policy"]).code, Some(0));
    assert_eq!(hook("cotenant-fmt", folder.path(), &["policies/a.policy"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "class a: match exe a;\n");

    std::fs::write(&file, "class a: macth exe a").unwrap();
    for id in ["cotenant-lint", "cotenant-fmt"] {
        let broken = hook(id, folder.path(), &["policies/a.policy"]);
        assert_eq!(broken.code, Some(1));
        assert!(broken.stderr.contains("error[unknown-clause]"), "{}", broken.stderr);
    }
}

/// The action's steps, run as a runner runs them: `bash` with the inputs in the environment.
fn action(inputs: &[(&str, &str)]) -> Vec<Ran> {
    let action = yaml("packaging/ci/action.yml");
    assert_eq!(text(&action["runs"], "using"), "composite");
    let value = |expression: &str| {
        let name = expression.strip_prefix("${{ inputs.").and_then(|it| it.strip_suffix(" }}")).unwrap();
        let input = &action["inputs"][name];
        assert!(!text(input, "description").is_empty());
        let given = inputs.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
        given.unwrap_or_else(|| text(input, "default")).to_owned()
    };
    let step = |step: &Yaml<'_>| {
        let script = text(step, "run");
        assert!(!script.contains("${{"), "values come by the environment");
        let mut bash = Command::new(text(step, "shell"));
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
        for (name, expression) in step["env"].as_mapping().unwrap() {
            bash.env(name.as_str().unwrap(), value(expression.as_str().unwrap()));
        }
        finish(bash.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()))
    };
    action["runs"]["steps"].as_vec().unwrap().iter().map(step).collect()
}

#[test]
fn the_action_annotates_and_checks_the_layout() {
    let binary = ("binary", env!("CARGO_BIN_EXE_cotenant"));
    let fine = action(&[binary, ("policy", "policies"), ("topology", "tests/machines\npack:1 core:4 pu:2\n")]);
    assert_eq!(fine.iter().map(|ran| ran.code).collect::<Vec<_>>(), [Some(0), Some(0)], "{fine:#?}");
    let broken = action(&[binary, ("policy", "tests/ui/unused-name.policy\n"), ("deny", "warnings")]);
    assert_eq!(broken.iter().map(|ran| ran.code).collect::<Vec<_>>(), [Some(1), Some(1)], "{broken:#?}");
    assert!(broken[0].stdout.starts_with("::warning file=tests/ui/unused-name.policy,line=1,"), "{broken:#?}");
    assert_eq!(broken[1].stdout, "tests/ui/unused-name.policy\n");
}
