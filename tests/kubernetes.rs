//! `packaging/kubernetes`: valid by the published schemas, one thing in two forms, and in step with what it packages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "kubernetes/chart.rs"]
mod chart;
mod common;
#[path = "kubernetes/yaml.rs"]
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use common::{files, run};

const FOLDER: &str = "packaging/kubernetes";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Objects by their kinds: there is one of each.
type Objects = BTreeMap<String, Value>;

fn objects(documents: impl IntoIterator<Item = Value>) -> Objects {
    documents.into_iter().map(|object| (object["kind"].as_str().unwrap().to_owned(), object)).collect()
}

/// What `kubectl apply -k` would be given: the resources that the base lists.
fn base() -> Objects {
    let base = format!("{FOLDER}/base");
    let listed = yaml::document(&read(&format!("{base}/kustomization.yaml")));
    let listed: Vec<String> = serde_json::from_value(listed["resources"].clone()).unwrap();
    let there = files(&base, ".yaml").len();
    assert_eq!(there, listed.len() + 1, "every file of the base is listed, but the list");
    objects(listed.iter().map(|name| yaml::document(&read(&format!("{base}/{name}")))))
}

/// The chart as `helm template` renders it, with nothing set.
fn rendered() -> Objects {
    let values = yaml::document(&read(&format!("{FOLDER}/chart/values.yaml")));
    let templates = files(&format!("{FOLDER}/chart/templates"), ".yaml");
    objects(templates.iter().map(|name| yaml::document(&chart::render(&read(name), &values, "cotenant"))))
}

/// What the schemas of this release of Kubernetes say against an object.
fn mistakes(object: &Value) -> Vec<String> {
    let name = match object["kind"].as_str().unwrap() {
        "DaemonSet" => "io.k8s.api.apps.v1.DaemonSet",
        "ConfigMap" => "io.k8s.api.core.v1.ConfigMap",
        "Namespace" => "io.k8s.api.core.v1.Namespace",
        "ServiceAccount" => "io.k8s.api.core.v1.ServiceAccount",
        kind => panic!("no schema of {kind}"),
    };
    let mut schema: Value = serde_json::from_str(&read("tests/schemas/kubernetes/definitions-1.34.0.json")).unwrap();
    schema["$ref"] = json!(format!("#/$defs/{name}"));
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn container(objects: &Objects) -> &Value {
    let containers = &objects["DaemonSet"]["spec"]["template"]["spec"]["containers"];
    assert_eq!(containers.as_array().unwrap().len(), 1);
    &containers[0]
}

#[test]
fn every_object_is_valid() {
    for objects in [base(), rendered()] {
        for (kind, object) in &objects {
            assert_eq!(mistakes(object), [""; 0], "{kind}");
        }
    }
}

#[test]
fn a_field_that_kubernetes_does_not_know_would_be_found() {
    let mut object = base()["DaemonSet"].clone();
    object["spec"]["template"]["spec"]["hostPid"] = json!(true);
    object["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] = json!("9778");
    let mistakes = mistakes(&object);
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    assert!(mistakes.iter().any(|mistake| mistake.contains("hostPid")), "{mistakes:?}");
}

#[test]
fn the_chart_comes_to_the_base_by_default() {
    let mut base = base();
    // A chart leaves its namespace to whoever installs it.
    base.remove("Namespace").unwrap();
    assert_eq!(rendered(), base);
}

#[test]
fn what_a_chart_is_given_reaches_the_objects() {
    let mut values = yaml::document(&read(&format!("{FOLDER}/chart/values.yaml")));
    for (key, value) in [
        ("image", json!("images.example.com/cotenant:1")),
        ("imagePullPolicy", json!("Always")),
        ("metricsPort", json!(4711)),
        ("nodeSelector", json!({ "a": "b" })),
        ("tolerations", json!([{ "key": "c" }])),
        ("resources", json!({ "limits": { "memory": "1Gi" } })),
        ("policies", json!({ "d.policy": "class d: nice 1;\n" })),
    ] {
        assert!(values[key] != value && !values[key].is_null(), "{key}");
        values[key] = value;
    }
    let of = |name: &str| {
        let template = read(&format!("{FOLDER}/chart/templates/{name}"));
        yaml::document(&chart::render(&template, &values, "elsewhere"))
    };
    let daemon = of("daemon-set.yaml");
    assert_eq!(mistakes(&daemon), [""; 0]);
    let pod = &daemon["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], values["image"]);
    assert_eq!(pod["containers"][0]["imagePullPolicy"], values["imagePullPolicy"]);
    assert_eq!(pod["containers"][0]["ports"][0]["hostPort"], values["metricsPort"]);
    assert_eq!(pod["containers"][0]["resources"], values["resources"]);
    assert_eq!((&pod["nodeSelector"], &pod["tolerations"]), (&values["nodeSelector"], &values["tolerations"]));
    assert_eq!(daemon["metadata"]["namespace"], "elsewhere");
    assert_eq!(of("config-map.yaml")["data"], values["policies"]);
}

#[test]
fn the_policy_is_the_one_that_is_tested() {
    let policy = json!({ "kubernetes.policy": read("policies/kubernetes.policy") });
    assert_eq!(base()["ConfigMap"]["data"], policy);
    assert_eq!(rendered()["ConfigMap"]["data"], policy);
}

#[test]
fn the_pod_gets_the_capabilities_that_the_unit_gives() {
    // `tests/live/sandbox.rs` holds the unit to what the daemon keeps.
    let unit = read("packaging/systemd/cotenant.service");
    let given = unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=")).unwrap();
    let given: Vec<&str> = given.split(' ').map(|name| name.strip_prefix("CAP_").unwrap()).collect();
    let objects = base();
    let context = &container(&objects)["securityContext"];
    assert_eq!(context["capabilities"], json!({ "drop": ["ALL"], "add": given }));
    assert_eq!((&context["privileged"], &context["allowPrivilegeEscalation"]), (&json!(false), &json!(false)));
    assert_eq!(context["readOnlyRootFilesystem"], json!(true));
}

#[test]
fn the_daemon_finds_what_is_mounted_for_it() {
    let objects = base();
    let (container, pod) = (container(&objects), &objects["DaemonSet"]["spec"]["template"]["spec"]);
    let by_name = |list: &Value, key: &str| -> BTreeMap<String, Value> {
        let named = |it: &Value| (it["name"].as_str().unwrap().to_owned(), it[key].clone());
        list.as_array().unwrap().iter().map(named).collect()
    };
    let (mounts, volumes) = (by_name(&container["volumeMounts"], "mountPath"), by_name(&pod["volumes"], "hostPath"));
    assert_eq!(mounts.keys().collect::<Vec<_>>(), volumes.keys().collect::<Vec<_>>());
    assert_eq!(container["args"][1], mounts["policies"]);
    // Where the program looks by itself, and the same place on the node, so that the journal outlives the pod.
    assert!(run(&["help", "enforce"]).stdout.contains("/run/cotenant"));
    for (volume, place) in [("run", "/run/cotenant"), ("cgroup", "/sys/fs/cgroup")] {
        assert_eq!((&mounts[volume], &volumes[volume]["path"]), (&json!(place), &json!(place)), "{volume}");
    }
    // Else the directory of the policies is one that everybody may write in, which the daemon refuses.
    assert!(
        pod["volumes"][0]["projected"]["sources"][0]["configMap"]["name"] == objects["ConfigMap"]["metadata"]["name"]
    );
    let selector = &objects["DaemonSet"]["spec"]["selector"]["matchLabels"];
    assert_eq!(*selector, objects["DaemonSet"]["spec"]["template"]["metadata"]["labels"]);
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        assert_eq!(container[probe]["exec"]["command"], json!(["cotenant", "status"]), "{probe}");
    }
}

#[test]
fn the_example_overlay_has_a_policy_that_is_right() {
    let overlay = format!("{FOLDER}/overlays/example");
    for policy in files(&overlay, ".policy") {
        for machine in ["pack:1 core:16 pu:2", "core:2 pu:2"] {
            let lint = run(&["lint", "--deny", "warnings", "--topology", machine, &policy]);
            assert_eq!(lint.code, Some(0), "{}", lint.stderr);
        }
    }
}

#[test]
fn kustomize_builds_the_base_and_the_overlay() {
    let built = |folder: &str| {
        let output = Command::new("kubectl").arg("kustomize").arg(path(FOLDER).join(folder)).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(objects(yaml::documents(std::str::from_utf8(&output.stdout).unwrap())))
    };
    let Some(plain) = built("base") else { return eprintln!("passed over: no kubectl here") };
    assert_eq!(plain, base());
    let site = built("overlays/example").unwrap();
    site.values().for_each(|object| assert_eq!(mistakes(object), [""; 0]));
    let policy = json!({ "site.policy": read(&format!("{FOLDER}/overlays/example/site.policy")) });
    assert_eq!(site["ConfigMap"]["data"], policy);
    assert_eq!(site["ConfigMap"]["metadata"], plain["ConfigMap"]["metadata"], "no hash: a change restarts nothing");
    assert_eq!(container(&site)["image"], "images.example.com/cotenant:0.1.0");
}

#[test]
fn helm_renders_what_is_rendered_here() {
    let mut helm = Command::new("helm");
    helm.args(["template", "cotenant", "--namespace", "cotenant"]).arg(path(FOLDER).join("chart"));
    let Ok(output) = helm.output() else { return eprintln!("passed over: no helm here") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(objects(yaml::documents(std::str::from_utf8(&output.stdout).unwrap())), rendered());
}
