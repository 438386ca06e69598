//! A page for every code: what it means, a wrong example, a right one, why it matters. The texts are in `docs/lints/`.

/// Code and text, in order of the codes; `build.rs` lists the files.
const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// One page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) code: &'static str,
    /// The whole text, in Markdown.
    pub(crate) text: &'static str,
}

/// All pages, in order of their codes.
pub(crate) fn pages() -> impl Iterator<Item = Page> {
    TEXTS.iter().map(|(code, text)| Page { code, text })
}

/// The page of a code.
pub(crate) fn page(code: &str) -> Option<Page> {
    pages().find(|page| page.code == code)
}

impl Page {
    /// How much the code's diagnostics weigh: the word before the colon of the page's first sentence.
    pub(crate) fn severity(self) -> &'static str {
        self.lead().0
    }

    /// The code in one line.
    pub(crate) fn summary(self) -> &'static str {
        self.lead().1
    }

    /// The first line behind the title, `error: a word is not known here`.
    fn lead(self) -> (&'static str, &'static str) {
        let lead = self.text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or("");
        lead.split_once(": ").unwrap_or(("", lead))
    }

    /// What stands behind that line.
    pub(crate) fn body(self) -> &'static str {
        self.text.split_once(self.summary()).map_or("", |(_, body)| body.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_parts() {
        for page in pages() {
            let code = page.code;
            assert!(page.text.starts_with(&format!("# {code}\n\n")), "docs/lints/{code}.md begins with `# {code}`");
            assert!(
                ["error", "warning", "note"].contains(&page.severity()) && page.summary().len() > 20,
                "docs/lints/{code}.md goes on with a line `error: …`, `warning: …` or `note: …`"
            );
            assert!(page.summary().chars().count() <= 80, "the first line of docs/lints/{code}.md fits a terminal");
            assert!(
                page.text.ends_with('\n') && !page.text.ends_with("\n\n"),
                "docs/lints/{code}.md ends with one line end"
            );
            assert!(page.body().contains("\n## Why it matters\n"), "docs/lints/{code}.md says why it matters");
        }
    }
}
