//! YAML as the values that JSON has.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::Value;

/// The one document of a text.
pub(crate) fn document(text: &str) -> Value {
    let mut documents = documents(text);
    assert_eq!(documents.len(), 1, "one document: {text}");
    documents.remove(0)
}

/// Every document of a text.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let documents = Yaml::load_from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    documents.iter().map(value).collect()
}

fn value(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(is)) => (*is).into(),
        Yaml::Value(Scalar::Integer(number)) => (*number).into(),
        Yaml::Value(Scalar::String(text)) => text.as_ref().into(),
        Yaml::Sequence(items) => items.iter().map(value).collect(),
        Yaml::Mapping(entries) => {
            let entry = |(key, content): (&Yaml<'_>, &Yaml<'_>)| (key.as_str().unwrap().to_owned(), value(content));
            Value::Object(entries.iter().map(entry).collect())
        }
        other => panic!("nothing that these files have use for: {other:?}"),
    }
}
