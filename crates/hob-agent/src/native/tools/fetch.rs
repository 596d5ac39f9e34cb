//! `fetch`: shows a page of a listed host. Hob gets it itself: the agent's commands reach nothing more by it.

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
pub(in crate::native) struct Fetch {
    /// Which page.
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
            page = fetcher.page(&self.url) => page.map_err(ToolError::Refused)?,
            () = tokio::time::sleep_until(toolbox.deadline) => return Err(refused("the time of the run is over")),
            () = toolbox.cancel.cancelled() => return Err(refused("the run is over")),
        };
        Ok(shown(&text, self.from.unwrap_or(1).max(1), toolbox.output_cap))
    }
}

/// The lines from `from` on that fit into `cap` bytes; at least one.
fn shown(text: &str, from: usize, cap: usize) -> String {
    let all = text.lines().count();
    let mut shown = String::new();
    for (at, line) in text.lines().enumerate().skip(from - 1) {
        if !shown.is_empty() && shown.len() + line.len() > cap {
            shown.push_str(&format!("[line {at} of {all}; the rest: from {}]", at + 1));
            return shown;
        }
        shown.push_str(&line[..line.floor_char_boundary(cap)]);
        shown.push('\n');
    }
    if shown.is_empty() { format!("[the page has {all} lines]") } else { shown }
}

fn refused(why: &str) -> ToolError {
    ToolError::Refused(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_line_by_line_and_says_where_it_goes_on() {
        let text = "head\none\ntwo\nthree";
        assert_eq!(shown(text, 1, 1000), "head\none\ntwo\nthree\n");
        assert_eq!(shown(text, 1, 9), "head\none\n[line 2 of 4; the rest: from 3]");
        assert_eq!(shown(text, 3, 9), "two\nthree\n");
        assert_eq!(shown(text, 9, 9), "[the page has 4 lines]");
        assert_eq!(shown("ééé", 1, 3), "é\n", "a line is cut at a character");
    }
}
