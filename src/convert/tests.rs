//! Whatever comes in, what comes out compiles.

use cotenant_compiler::check;
use cotenant_grammar::{SourceSet, format};
use proptest::prelude::*;

use super::{Converted, Form, Groups, Input, convert};

fn input(name: &str, text: &str) -> Input {
    Input { name: name.to_owned(), text: text.to_owned() }
}

/// The policy compiles, is laid out, and nothing but comments and classes of ours is in it.
fn compiles(converted: Result<Converted, String>) {
    let converted = converted.unwrap();
    let checked = check(SourceSet::one("converted", converted.policy.as_str()));
    assert!(!checked.diagnostics().has_errors(), "{}\n{:?}", converted.policy, checked.diagnostics());
    assert_eq!(format(&converted.policy), converted.policy);
    let classes = converted.policy.lines().filter(|line| !line.starts_with([' ', '#']) && !line.is_empty()).count();
    assert_eq!(classes, converted.rules.iter().filter(|rule| rule.class.is_some()).count(), "{}", converted.policy);
}

/// Pieces that mean something in one of the forms or in a policy, and any text.
fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "a",
        "b",
        "*",
        "%",
        "@",
        ":",
        " ",
        "  ",
        "\t",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "#",
        "\"",
        "\\",
        ";",
        ",",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "=",
        "|",
        "^",
        "$",
        ".",
        "/",
        "group",
        "template",
        "cpuset",
        "cpuset.cpus",
        "cpu",
        "cpu.shares",
        "cpu.cfs_quota_us",
        "cpu.max",
        "0-3",
        "1,5",
        "7-2",
        "99999",
        "-1",
        "0",
        "0f",
        "1e308",
        "nan",
        "ignore",
        "root:a cpuset g\n",
        "* * g\n",
        "% cpu h\n",
        "group g { cpuset { cpuset.cpus = 0-1; } }\n",
        "{\"name\":\"a\",\"nice\":5}\n",
        "{\"name\":\"a\\n;class b: nice 1;\",\"sched\":\"fifo\",\"rtprio\":500}\n",
        "{\"name\":\"a\\\";class b: nice 1;#\"}\n",
        "\nroot:a\";class cpu g\n",
        "group.c=0:*:*:*:a\";#\n",
        "{\"type\":\"t\",\"sched\":\"idle\"}\n",
        "{\"name\":\" b\",\"type\":\"t\",\"cgroup\":\"c\"}\n",
        "{\"cgroup\":\"c\",\"CPUQuota\":50}\n",
        "[scheduler]\n",
        "[variables]\n",
        "group.a=1:f:50:0f:^a\n",
        "group.b=0:*:*:*:b$\n",
        "isolated_cores=1-2\n",
        "ps_whitelist=a;b.*\n",
        "${a}",
        "\u{85}",
        "\u{202e}",
        "\u{0}",
        "\u{2028}",
        "é",
        "class x: nice 1;",
        "\u{feff}",
    ]);
    prop::collection::vec(prop_oneof![9 => known.prop_map(str::to_owned), 1 => ".{0,6}"], 0..24)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_comes_to_a_policy_that_compiles(text in pieces(), more in pieces()) {
        let groups = Groups::read(&input("c\nf", &more));
        compiles(convert(Form::Cgrules, &[input("a", &text)], Some(&groups)));
        compiles(convert(Form::Cgrules, &[input("a", &text)], None));
        compiles(convert(Form::Ananicy, &[input("a", &text), input("b\n;", &more)], None));
        compiles(convert(Form::Tuned, &[input("a", &text), input("b", &more)], None));
    }

    #[test]
    fn any_value_stays_where_it_belongs(name in ".{0,20}", sched in ".{0,8}", value in ".{0,12}") {
        let json = serde_json::json!({"name": name, "sched": sched, "nice": value, &value: name, "cgroup": sched});
        compiles(convert(Form::Ananicy, &[input("a", &json.to_string())], None));
        compiles(convert(Form::Cgrules, &[input("a", &format!("{name}:{sched} cpu {value}"))], None));
        let profile = format!("[scheduler]\ngroup.{name}=0:{sched}:{value}:*:{name}\nisolated_cores={value}\n{name}={sched}");
        compiles(convert(Form::Tuned, &[input("a", &profile)], None));
    }
}

#[test]
fn the_form_is_known_by_name_and_else_by_text() {
    for (name, text, form) in [
        ("x/00-a.rules", "", Some(Form::Ananicy)),
        ("tuned.conf", "", Some(Form::Tuned)),
        ("/etc/cgrules.conf", "", Some(Form::Cgrules)),
        ("-", "\n# a\n{\"name\": \"a\"}", Some(Form::Ananicy)),
        ("-", "# a\n[main]\n", Some(Form::Tuned)),
        ("-", "root cpu daemons\n", Some(Form::Cgrules)),
        ("-", "class a: nice 1;", None),
        ("-", "a = b", None),
        ("-", "", None),
    ] {
        assert_eq!(input(name, text).form(), form, "{name} {text}");
    }
}
