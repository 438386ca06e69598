//! Looks a file over before libhwloc gets it.
//!
//! libhwloc trusts its files: where an attribute that it always writes is missing, version 2.9 ends in a segmentation
//! fault or an endless loop, found by taking them out one by one. Those are looked for here.

use roxmltree::{Document, Node, ParsingOptions};

use crate::cpuset::HIGHEST;

/// Reads a file that hwloc 2 wrote. The error is what is wrong with the text, to follow "is not a machine that hwloc
/// wrote:".
pub(super) fn read(text: &str) -> Result<Document<'_>, String> {
    // Every file that hwloc writes names its DTD.
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| format!("it is not XML ({error})"))?;
    let root = document.root_element();
    if !root.has_tag_name("topology") {
        return Err(format!("its outermost element is `{}`, not `topology`", root.tag_name().name()));
    }
    if !root.attribute("version").is_some_and(|version| version.starts_with("2.")) {
        return Err("it is not of version 2".to_owned());
    }
    root.descendants().filter(|node| node.has_tag_name("object")).try_for_each(check)?;
    Ok(document)
}

fn check(object: Node<'_, '_>) -> Result<(), String> {
    let kind = object.attribute("type").unwrap_or("object");
    // Devices have neither set.
    if object.has_attribute("cpuset") {
        for name in ["complete_cpuset", "complete_nodeset"] {
            if !object.has_attribute(name) {
                return Err(format!("a `{kind}` lacks its `{name}`"));
            }
        }
    }
    if matches!(kind, "PU" | "NUMANode") {
        let number = object.attribute("os_index").ok_or_else(|| format!("a `{kind}` lacks its `os_index`"))?;
        if !number.parse().is_ok_and(|number: u32| number <= HIGHEST) {
            return Err(format!("a `{kind}` has the `os_index` `{number}`, which is no number up to {HIGHEST}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(inside: &str) -> String {
        read(&format!("<topology version=\"2.0\">{inside}</topology>")).unwrap_err()
    }

    #[test]
    fn what_would_crash_libhwloc_is_refused() {
        for (inside, cause) in [
            ("<object type='Machine' cpuset='0x1'/>", "a `Machine` lacks its `complete_cpuset`"),
            ("<object type='Core' cpuset='0x1' complete_cpuset='0x1'/>", "a `Core` lacks its `complete_nodeset`"),
            ("<object><object type='PU'/></object>", "a `PU` lacks its `os_index`"),
            ("<object type='PU' os_index='-1'/>", "a `PU` has the `os_index` `-1`, which is no number up to 65535"),
        ] {
            assert_eq!(refused(inside), cause);
        }
        assert!(read("<topology version='2.0'><object type='PCIDev'/></topology>").is_ok());
    }

    #[test]
    fn what_is_not_hwlocs_is_named() {
        assert_eq!(read("<html/>").unwrap_err(), "its outermost element is `html`, not `topology`");
        assert_eq!(read("<topology/>").unwrap_err(), "it is not of version 2");
        assert!(read("plain text").unwrap_err().starts_with("it is not XML ("));
    }
}
