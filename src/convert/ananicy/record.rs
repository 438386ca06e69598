//! Lines of JSON with comments.

use serde_json::{Deserializer, Map, Value};

use crate::convert::Input;
use crate::convert::rule::Line;

/// A line that is neither empty nor a comment.
pub(super) struct Record {
    pub(super) line: Line,
    /// Or what is wrong with it.
    pub(super) fields: Result<Map<String, Value>, String>,
}

pub(super) fn records(input: &Input) -> impl Iterator<Item = Record> + '_ {
    input.lines().filter(|line| !matches!(line.text.trim().chars().next(), None | Some('#'))).map(|line| {
        let fields = fields(&line.text);
        Record { line, fields }
    })
}

/// One object; behind it a comment may stand.
fn fields(text: &str) -> Result<Map<String, Value>, String> {
    let mut stream = Deserializer::from_str(text).into_iter::<Value>();
    let value = match stream.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => {
            // The parser counts lines of its own, and this is one.
            let (said, column) = (error.to_string(), error.column());
            let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
            return Err(format!("not a JSON object: {what}, at column {column}"));
        }
        None => return Err("not a JSON object".to_owned()),
    };
    let rest = text.get(stream.byte_offset()..).unwrap_or_default().trim();
    match value {
        Value::Object(_) if !rest.is_empty() && !rest.starts_with('#') => {
            Err(format!("behind the object stands `{rest}`"))
        }
        Value::Object(fields) => Ok(fields),
        _ => Err("not a JSON object".to_owned()),
    }
}
