//! As much of Helm's templates as the chart uses: a value, the namespace, and a value laid out as YAML.

use serde_json::Value;

/// Renders a template. Panics at an action of any other kind, so that the chart stays as simple as what is tested.
pub(crate) fn render(template: &str, values: &Value, namespace: &str) -> String {
    let mut pieces = template.split("{{");
    let mut text = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (action, rest) = piece.split_once("}}").expect("an action ends");
        // `{{-` takes the white space before it, too.
        let action = action.strip_prefix('-').map_or(action, |action| {
            text.truncate(text.trim_end().len());
            action
        });
        text += &result(action.trim(), values, namespace);
        text += rest;
    }
    text
}

fn result(action: &str, values: &Value, namespace: &str) -> String {
    let value = |path: &str| {
        let keys = path.strip_prefix(".Values.").unwrap_or_else(|| panic!("`{path}` is not a value"));
        let found = keys.split('.').try_fold(values, |value, key| value.get(key));
        found.unwrap_or_else(|| panic!("values.yaml has no `{keys}`"))
    };
    if action == ".Release.Namespace" {
        return namespace.to_owned();
    }
    if let Some(laid_out) = action.strip_prefix("toYaml ") {
        let (path, indent) = laid_out.split_once(" | nindent ").expect("`toYaml .Values.NAME | nindent NUMBER`");
        // YAML is a superset of JSON.
        return format!("\n{:indent$}{}", "", value(path), indent = indent.parse::<usize>().unwrap());
    }
    match value(action) {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => panic!("`{action}` is {other}"),
    }
}
