//! Connections: pages of a list by cursors, with GitHub's limits and refusals.
//! <https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api>

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    object::{Args, At, Object, Out, Resolved, made, unresolved},
    problem::Problem,
};

/// The most that a page holds.
const PAGE_MAX: i64 = 100;

/// A list as a connection shows it.
pub(super) struct Connection<'s> {
    /// The name of its type, which ends in `Connection`.
    kind: &'static str,
    /// Each item with a number that stays its own, in the order of the list.
    items: Vec<(u64, Out<'s>)>,
    args: Args,
    more: Vec<(&'static str, Out<'s>)>,
}

/// A page of these items: each with a number that stays its own while others come and go.
pub(super) fn connection<'s>(
    kind: &'static str,
    args: &Args,
    items: impl IntoIterator<Item = (u64, Out<'s>)>,
) -> Out<'s> {
    connection_with(kind, args, items, Vec::new())
}

/// The same with fields beyond those of every connection.
pub(super) fn connection_with<'s>(
    kind: &'static str,
    args: &Args,
    items: impl IntoIterator<Item = (u64, Out<'s>)>,
    more: Vec<(&'static str, Out<'s>)>,
) -> Out<'s> {
    Out::object(Connection { kind, items: items.into_iter().collect(), args: args.clone(), more })
}

/// An item of the list as an edge of the connection of this name.
pub(super) fn edge<'s>(connection: &str, cursor: String, node: Out<'s>) -> Out<'s> {
    let kind = format!("{}Edge", connection.trim_end_matches("Connection"));
    made(kind, [("cursor", Out::leaf(cursor)), ("node", node)])
}

/// The cursor of an item: its index, and its own number.
pub(super) fn cursor(index: usize, key: u64) -> String {
    BASE64_STANDARD.encode(format!("cursor:{index}:{key}"))
}

impl<'s> Connection<'s> {
    /// The part of the list that is asked for: from one index up to another.
    fn range(&self) -> Result<(usize, usize), Problem> {
        let named = self.kind.trim_end_matches("Connection");
        let size = |name: &str| match self.args.int(name) {
            None => Ok(None),
            Some(size) if size < 0 => {
                let message = format!("`{name}` on the `{named}` connection cannot be less than zero.");
                Err(Problem::new("INVALID_PAGINATION_BOUNDARIES", message))
            }
            Some(size) if size > PAGE_MAX => {
                let message = format!(
                    "Requesting {size} records on the `{named}` connection exceeds the `{name}` limit of {PAGE_MAX} records."
                );
                Err(Problem::new("EXCESSIVE_PAGINATION", message))
            }
            Some(size) => Ok(usize::try_from(size).ok()),
        };
        let (first, last) = (size("first")?, size("last")?);
        if first.is_none() && last.is_none() {
            let message =
                format!("You must provide a `first` or `last` value to properly paginate the `{named}` connection.");
            return Err(Problem::new("MISSING_PAGINATION_BOUNDARIES", message));
        }
        let after = self.args.text("after").map(|text| self.place(text)).transpose()?;
        let before = self.args.text("before").map(|text| self.place(text)).transpose()?;
        // The cursor of a deleted item is between its neighbours.
        let start = after.map_or(0, |(index, there)| if there { index + 1 } else { index });
        let end = before.map_or(self.items.len(), |(index, _)| index).max(start);
        let end = first.map_or(end, |first| end.min(start + first));
        let start = last.map_or(start, |last| start.max(end.saturating_sub(last)));
        Ok((start, end))
    }

    /// The current index of a cursor's item, and whether the item still exists.
    fn place(&self, text: &str) -> Result<(usize, bool), Problem> {
        let read = || {
            let plain = String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok()?;
            let (index, key) = plain.strip_prefix("cursor:")?.split_once(':')?;
            Some((index.parse::<usize>().ok()?, key.parse::<u64>().ok()?))
        };
        let invalid = || {
            let message = format!("`{text}` does not appear to be a valid cursor.");
            Problem::new("INVALID_CURSOR_ARGUMENTS", message)
        };
        let (index, key) = read().ok_or_else(invalid)?;
        let found = self.items.iter().position(|(own, _)| *own == key);
        Ok(found.map_or((index.min(self.items.len()), false), |index| (index, true)))
    }
}

impl<'s> Object<'s> for Connection<'s> {
    fn kind(&self) -> &str {
        self.kind
    }

    fn field(&self, _: &At<'s>, name: &str, _: &Args) -> Resolved<'s> {
        let cursor_at = |index: usize| self.items.get(index).map(|(key, _)| cursor(index, *key));
        let shown =
            |(start, end): (usize, usize)| (start..end).filter_map(|index| Some((index, self.items.get(index)?)));
        Ok(match name {
            "totalCount" => Out::leaf(self.items.len()),
            "nodes" => Out::List(shown(self.range()?).map(|(_, (_, node))| node.clone()).collect()),
            "edges" => {
                let edges = shown(self.range()?);
                Out::List(
                    edges.map(|(index, (key, node))| edge(self.kind, cursor(index, *key), node.clone())).collect(),
                )
            }
            "pageInfo" => {
                let (start, end) = self.range()?;
                let some = end > start;
                made(
                    "PageInfo",
                    [
                        ("hasPreviousPage", Out::leaf(start > 0)),
                        ("hasNextPage", Out::leaf(end < self.items.len())),
                        ("startCursor", Out::leaf(some.then(|| cursor_at(start)).flatten())),
                        ("endCursor", Out::leaf(some.then(|| cursor_at(end - 1)).flatten())),
                    ],
                )
            }
            _ => match self.more.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => value.clone(),
                None => return unresolved(self.kind, name),
            },
        })
    }
}
