//! Layout: text and tables within the width of a terminal, broken only between words. If the output is not a terminal,
//! nothing is broken, so that a row stays a line.

use std::{collections::BTreeMap, os::fd::AsFd};

use hob_text::terminal;
use textwrap::{Options, WordSplitter, core::display_width};

use crate::cli::output::{self, BOLD, Unwritable, linked, styled};

/// Columns below which a cell that is broken cannot be read.
const CELL_MIN: usize = 16;
/// The gap between two columns.
const GAP: &str = "  ";

/// The width of a terminal; `None` if it is not one.
pub(super) fn width_of(stream: impl AsFd) -> Option<usize> {
    size_of(stream).map(|size| size.columns)
}

/// The characters that a terminal has room for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// The size of a terminal; `None` if the stream is none, or does not say.
pub(super) fn size_of(stream: impl AsFd) -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then(|| Size { columns: size.ws_col.into(), rows: size.ws_row.into() })
}

/// The text within a width, if there is one; the lines after the first begin with `hang` blanks.
pub(super) fn wrapped(text: &str, width: Option<usize>, hang: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    let indent = " ".repeat(hang);
    textwrap::fill(text, options(width.max(hang + CELL_MIN)).subsequent_indent(&indent))
}

/// A paragraph on standard output.
pub(super) fn paragraph(text: &str) -> Result<(), Unwritable> {
    output::line(wrapped(text, width_of(std::io::stdout()), 0))
}

/// At most `max` characters of one line, cut between two words.
pub(super) fn shortened(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let kept = &text[..end];
    let kept = kept.rfind(char::is_whitespace).map_or(kept, |space| &kept[..space]);
    format!("{} …", kept.trim_end())
}

fn options(width: usize) -> Options<'static> {
    Options::new(width).break_words(false).word_splitter(WordSplitter::NoHyphenation)
}

/// A table. The columns at its end may be broken into several lines.
pub(super) struct Table {
    heads: Vec<&'static str>,
    /// The number of columns before those that may be broken.
    fixed: usize,
    rows: Vec<Vec<String>>,
    /// The addresses that cells link to where a terminal shows links, by row and column.
    links: BTreeMap<(usize, usize), String>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(fixed: &[&'static str], broken: &[&'static str]) -> Self {
        Self { heads: [fixed, broken].concat(), fixed: fixed.len(), rows: Vec::new(), links: BTreeMap::new() }
    }

    /// Makes a cell of the next row a link. It has to stand in a column that is not broken.
    pub(super) fn link(&mut self, column: usize, address: &str) {
        self.links.insert((self.rows.len(), column), terminal(address));
    }

    /// Adds a row, a cell for each column.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| terminal(&cell).replace('\n', " ").trim().to_owned()).collect());
    }

    /// Prints it to standard output.
    pub(super) fn print(&self) -> Result<(), Unwritable> {
        self.lines(width_of(std::io::stdout())).into_iter().try_for_each(output::line)
    }

    /// Its lines within a width; if the columns do not fit beside each other, they are put below each other.
    fn lines(&self, width: Option<usize>) -> Vec<String> {
        let Some(widths) = self.widths(width) else {
            return self.rows.iter().enumerate().flat_map(|(at, row)| self.stacked(at, row, width)).collect();
        };
        let heads: Vec<String> = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let head = side_by_side(&heads, &widths).into_iter().map(|line| styled(BOLD, &line));
        let row = |at: usize, row: &[String]| {
            let mut lines = side_by_side(row, &widths);
            for (&(_, column), address) in self.links.range((at, 0)..(at + 1, 0)) {
                let before: usize = widths[..column].iter().map(|width| width + GAP.len()).sum();
                let cell = &row[column];
                if let Some(line) = lines.first_mut()
                    && line.get(before..before + cell.len()) == Some(cell)
                {
                    line.replace_range(before..before + cell.len(), &linked(cell, address));
                }
            }
            lines
        };
        head.chain(self.rows.iter().enumerate().flat_map(|(at, cells)| row(at, cells))).collect()
    }

    /// The width of each column; `None` if they do not fit.
    fn widths(&self, width: Option<usize>) -> Option<Vec<usize>> {
        let of = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| display_width(cell));
            cells.chain([display_width(self.heads[at])]).max().unwrap_or_default()
        };
        let mut widths: Vec<usize> = (0..self.heads.len()).map(of).collect();
        let Some(width) = width else { return Some(widths) };
        let taken: usize = widths[..self.fixed].iter().map(|column| column + GAP.len()).sum();
        let broken = &mut widths[self.fixed..];
        let gaps = GAP.len() * broken.len().saturating_sub(1);
        let mut room = width.checked_sub(taken + gaps)?;
        // Narrow columns first: the width that they leave goes to those that want more.
        let mut order: Vec<usize> = (0..broken.len()).collect();
        order.sort_by_key(|at| broken[*at]);
        for (done, at) in order.iter().enumerate() {
            let share = room / (broken.len() - done);
            if share < broken[*at].min(CELL_MIN) {
                return None;
            }
            broken[*at] = broken[*at].min(share);
            room -= broken[*at];
        }
        Some(widths)
    }

    fn stacked(&self, at: usize, row: &[String], width: Option<usize>) -> Vec<String> {
        let names = self.heads.iter().map(|head| display_width(head)).max().unwrap_or_default();
        let mut lines: Vec<String> = if at == 0 { Vec::new() } else { vec![String::new()] };
        for (head, cell) in self.heads.iter().zip(row) {
            let name = styled(BOLD, &format!("{head:<names$}"));
            let text = wrapped(&format!("{name}{GAP}{cell}"), width, names + GAP.len());
            lines.extend(text.lines().map(str::to_owned));
        }
        lines
    }
}

/// The lines of one row, each cell within its column.
fn side_by_side(cells: &[String], widths: &[usize]) -> Vec<String> {
    let cells: Vec<Vec<_>> =
        cells.iter().zip(widths).map(|(cell, width)| textwrap::wrap(cell, options(*width))).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    let line = |at: usize| {
        let filled = cells.iter().zip(widths).map(|(lines, width)| {
            let text = lines.get(at).map_or("", |line| line);
            format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
        });
        filled.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Table {
        let mut table = Table::new(&["order", "issue", "state"], &["title", "next step"]);
        let why = "it waits for a person's answer: Should fractions of a minute be rounded down or up?";
        table.row(["1", "#7", "new", "Fix the greeting", "it would be claimed"].map(str::to_owned).to_vec());
        table.row(
            ["-", "#12", "blocked", "Take fractions of a minute when they are given", why].map(str::to_owned).to_vec(),
        );
        table
    }

    fn at(width: usize, table: &Table) -> String {
        let lines = table.lines(Some(width));
        let plain: Vec<_> = lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert!(plain.iter().all(|line| display_width(line) <= width), "{plain:#?}");
        plain.join("\n")
    }

    #[test]
    fn a_table_is_broken_between_words() {
        insta::assert_snapshot!(at(80, &queue()), @r"
        order  issue  state    title                        next step
        1      #7     new      Fix the greeting             it would be claimed
        -      #12    blocked  Take fractions of a minute   it waits for a person's
                               when they are given          answer: Should fractions of
                                                            a minute be rounded down or
                                                            up?
        ");
        insta::assert_snapshot!(at(120, &queue()), @r"
        order  issue  state    title                                           next step
        1      #7     new      Fix the greeting                                it would be claimed
        -      #12    blocked  Take fractions of a minute when they are given  it waits for a person's answer: Should fractions
                                                                               of a minute be rounded down or up?
        ");
    }

    #[test]
    fn what_does_not_fit_stands_below_each_other() {
        insta::assert_snapshot!(at(50, &queue()), @r"
        order      1
        issue      #7
        state      new
        title      Fix the greeting
        next step  it would be claimed

        order      -
        issue      #12
        state      blocked
        title      Take fractions of a minute when they
                   are given
        next step  it waits for a person's answer: Should
                   fractions of a minute be rounded down
                   or up?
        ");
    }

    #[test]
    fn a_row_that_no_terminal_shows_is_one_line() {
        let lines = queue().lines(None);
        assert_eq!(lines.len(), 3);
        assert!(lines[2].ends_with("rounded down or up?"), "{lines:?}");
    }

    #[test]
    fn a_word_is_never_cut() {
        assert_eq!(shortened("one two three", 9), "one two …");
        assert_eq!(shortened("one two", 9), "one two");
        assert_eq!(wrapped("see https://example.org/a/very/long/address now", Some(20), 4).lines().count(), 3);
    }
}
