//! `fetch`: shows a page of a listed host. Hob itself fetches it: the agent's commands get no access by it.

use hob_text::{clip, count};
use serde::Deserialize;
use serde_json::json;

use crate::{
    model::Tool,
    native::tools::{ToolError, Toolbox},
};

/// The tool's name.
pub(super) const NAME: &str = "fetch";
/// The tool as the model sees it.
pub(super) fn tool(hosts: &[String]) -> Tool {
    Tool {
        name: NAME.into(),
        description: format!("Shows the text of a page of these hosts, and no others: {}.", hosts.join(", ")).into(),
        schema: json!({
            "type": "object",
            "properties": {
                "url": { "type": "string" },
                "from": { "type": "integer", "description": "the first line, from 1" },
            },
            "required": ["url"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Fetch {
    /// The page's address.
    pub(super) url: String,
    /// The first line.
    #[serde(default)]
    from: Option<usize>,
}

impl Fetch {
    /// Shows the page from a line on, as much of it as an answer holds.
    pub(super) async fn run(&self, toolbox: &Toolbox) -> Result<String, ToolError> {
        let Some(fetcher) = &toolbox.fetcher else { return Err(refused("there is no way out here")) };
        let text = tokio::select! {
            page = fetcher.page(&self.url) => page?,
            () = tokio::time::sleep_until(toolbox.deadline) => return Err(refused("the time of the run is over")),
            () = toolbox.cancel.cancelled() => return Err(refused("the run is over")),
        };
        Ok(shown(&text, self.from.unwrap_or(1).max(1), toolbox.output_cap))
    }
}

/// The lines from `from` on that fit into `cap` bytes, at least one of them. Each part begins with the page's first
/// line, which says whose text it is.
fn shown(text: &str, from: usize, cap: usize) -> String {
    let (source, page) = text.split_once('\n').unwrap_or((text, ""));
    let all = page.lines().count();
    let mut shown = format!("{source}\n");
    let empty = shown.len();
    for (at, line) in page.lines().enumerate().skip(from - 1) {
        let used = shown.len() - empty;
        if used > 0 && used + line.len() > cap {
            shown.push_str(&format!("[line {at} of {all}; the rest: from {}]", at + 1));
            return shown;
        }
        shown.push_str(&clip(line, cap));
        shown.push('\n');
    }
    if shown.len() == empty {
        shown.push_str(&format!("[the page has {}]", count(all, "line")));
    }
    shown
}

fn refused(why: &str) -> ToolError {
    ToolError::Refused(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_line_by_line_and_says_where_it_goes_on() {
        let text = "[whose]\none\ntwo\nthree";
        assert_eq!(shown(text, 1, 1000), "[whose]\none\ntwo\nthree\n");
        assert_eq!(shown(text, 1, 6), "[whose]\none\n[line 1 of 3; the rest: from 2]");
        assert_eq!(shown(text, 2, 9), "[whose]\ntwo\nthree\n");
        assert_eq!(shown(text, 9, 9), "[whose]\n[the page has 3 lines]");
        assert_eq!(shown("[whose]\nééé", 1, 3), "[whose]\né\n[… 4 bytes cut …]\n", "a line is cut at a character");
    }
}
