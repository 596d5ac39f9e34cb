//! What of a request passes to a model's service: what a table lists, and nothing else.
//!
//! - Guarantees: each member of each object of a request is listed, or is in what the service only shows to the model:
//!   schemas, arguments and answers of the agent's own tools. What is not listed is refused with its name, and so is what has a
//!   service reach the network, keep the conversation or bill otherwise, unless the settings allow that name.
//! - Assumption: the tables say what a service does with what they list.

use std::{collections::BTreeSet, fmt};

use crate::json::Json;

/// Bytes of a short text.
const SHORT: usize = 1_024;
/// Bytes of the texts of a small value.
const SMALL: usize = 8_192;

/// Characters of a refused name, and of its place, that are shown.
const SHOWN: usize = 100;

/// A part of a request.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A short text, a number, a flag or null.
    Value,
    /// A text for the model, of any length, or null.
    Text,
    /// Any JSON that the service only shows to the model.
    Free,
    /// Any JSON with short texts.
    Small,
    /// One of these words, or null.
    Words(&'static [&'static str]),
    /// False, or null.
    Off,
    /// A picture in the request itself.
    Data,
    /// One that is described elsewhere.
    At(&'static Self),
    /// A list of these, or null.
    List(&'static Self),
    /// An object of these members, or null.
    Members(Members),
    /// An object of one of these types, each with its members; a name that ends in `*` is the beginning of one. Without a `type`
    /// it is the first.
    Typed(&'static [(&'static str, Kind)]),
    /// One of these, by the kind of JSON.
    Either(&'static [Self]),
    /// This, if the settings allow the name.
    Gate(&'static str, &'static Self),
}

/// Members with the shape of each.
pub(crate) type Members = &'static [(&'static str, Shape)];

/// A type of an object.
#[derive(Debug)]
pub(crate) enum Kind {
    Of(Members),
    /// It passes if the settings allow the name.
    Gate(&'static str),
}

/// The spelling of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As the table has them.
    Exact,
    /// Also in camel case: `maxTokens` is `max_tokens`.
    Camel,
}

/// A part of a request that does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Its name, as the settings would allow it.
    pub(crate) name: String,
    /// Its place in the request: `tools[0].type`.
    pub(crate) place: String,
}

/// A look at one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) allowed: &'a BTreeSet<String>,
    pub(crate) spelling: Spelling,
}

impl Look<'_> {
    /// Checks that `json` has `shape`.
    pub(crate) fn check(self, shape: &Shape, json: &Json<'_>) -> Result<(), Refused> {
        let refused = || Refused { name: String::new(), place: String::new() };
        let fits = match (shape, json) {
            (Shape::Free | Shape::At(_) | Shape::Either(_) | Shape::Gate(..), _) | (_, Json::Null) => true,
            (Shape::Value, Json::Text(text)) => text.len() <= SHORT,
            (Shape::Value, Json::Flag(_) | Json::Number(_)) => true,
            (Shape::Text, Json::Text(_)) => true,
            (Shape::Small, json) => texts(json) <= SMALL,
            (Shape::Words(words), Json::Text(text)) => words.contains(&text.as_ref()),
            (Shape::Off, Json::Flag(flag)) => !flag,
            (Shape::Data, Json::Text(text)) => text.starts_with("data:"),
            (Shape::List(_), Json::List(_)) | (Shape::Members(_) | Shape::Typed(_), Json::Object(_)) => true,
            (
                Shape::Value
                | Shape::Text
                | Shape::Words(_)
                | Shape::Off
                | Shape::Data
                | Shape::List(_)
                | Shape::Members(_)
                | Shape::Typed(_),
                _,
            ) => false,
        };
        if !fits {
            return Err(refused());
        }
        match shape {
            Shape::List(each) => {
                json.elements().iter().enumerate().try_for_each(|(at, element)| {
                    self.check(each, element).map_err(|bad| bad.below(&format!("[{at}]")))
                })
            }
            Shape::At(shape) => self.check(shape, json),
            Shape::Members(members) => self.members(members, json),
            Shape::Typed(kinds) if *json != Json::Null => self.typed(kinds, json),
            Shape::Either(shapes) => self.either(shapes, json),
            Shape::Gate(name, shape) if self.allowed.contains(*name) => self.check(shape, json),
            // Null is as good as nothing.
            Shape::Gate(name, _) if *json != Json::Null => {
                Err(Refused { name: (*name).to_owned(), place: String::new() })
            }
            Shape::Gate(..)
            | Shape::Typed(_)
            | Shape::Value
            | Shape::Text
            | Shape::Free
            | Shape::Small
            | Shape::Words(_)
            | Shape::Off
            | Shape::Data => Ok(()),
        }
    }

    /// The first that fits; else what the last one says.
    fn either(self, shapes: &[Shape], json: &Json<'_>) -> Result<(), Refused> {
        let mut result = Ok(());
        for shape in shapes {
            // What has the right kind of JSON is the one that was meant.
            let was_meant = matches!(
                (shape, json),
                (Shape::List(_), Json::List(_)) | (Shape::Members(_) | Shape::Typed(_), Json::Object(_))
            );
            result = self.check(shape, json);
            if result.is_ok() || was_meant {
                return result;
            }
        }
        result
    }

    fn typed(self, kinds: &[(&str, Kind)], json: &Json<'_>) -> Result<(), Refused> {
        let kind = match json.get("type") {
            None => kinds.first().map(|(name, _)| *name).unwrap_or_default(),
            Some(kind) => kind.text().unwrap_or_default(),
        };
        let is = |name: &str| name.strip_suffix('*').map_or(name == kind, |start| kind.starts_with(start));
        let refused = |name: &str| Err(Refused { name: name.to_owned(), place: ".type".to_owned() });
        match kinds.iter().find(|(name, _)| is(name)) {
            _ if self.allowed.contains(kind) => Ok(()),
            Some((_, Kind::Of(members))) => self.members(members, json),
            Some((_, Kind::Gate(name))) if self.allowed.contains(*name) => Ok(()),
            Some((_, Kind::Gate(name))) => refused(name),
            None => refused(kind),
        }
    }

    fn members(self, members: Members, json: &Json<'_>) -> Result<(), Refused> {
        let mut seen: Vec<String> = Vec::new();
        for (name, value) in json.members() {
            let known = members.iter().find(|(known, _)| self.is_spelled(known, name, &mut seen));
            let Some((_, shape)) = known else {
                if self.allowed.contains(name.as_ref()) {
                    continue;
                }
                return Err(Refused { name: name.to_string(), place: format!(".{name}") });
            };
            match self.check(shape, value) {
                // Its value is one that no table lists.
                Err(bad) if bad.name.is_empty() && self.allowed.contains(name.as_ref()) => {}
                checked => checked.map_err(|bad| bad.below(&format!(".{name}")).or_named(name))?,
            }
        }
        Ok(())
    }

    /// Whether `name` is `known`; a second spelling of a member that was seen is none.
    fn is_spelled(self, known: &str, name: &str, seen: &mut Vec<String>) -> bool {
        if self.spelling == Spelling::Exact {
            return known == name;
        }
        let plain = snake(name);
        if known != plain || seen.contains(&plain) {
            return false;
        }
        seen.push(plain);
        true
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| text.chars().filter(char::is_ascii_graphic).take(SHOWN).collect::<String>();
        let (name, place) = (shown(&self.name), shown(self.place.trim_start_matches('.')));
        write!(f, "`{name}`")?;
        if !place.is_empty() && place != name {
            write!(f, " at `{place}`")?;
        }
        write!(
            f,
            " is not among what passes to a model's service; the agent's setting `allow = [\"{name}\"]` lets it pass"
        )
    }
}

impl Refused {
    fn below(self, place: &str) -> Self {
        Self { place: format!("{place}{}", self.place), ..self }
    }

    fn or_named(self, name: &str) -> Self {
        if self.name.is_empty() { Self { name: name.to_owned(), ..self } } else { self }
    }
}

/// Bytes of all names and texts.
fn texts(json: &Json<'_>) -> usize {
    let inner = json.members().iter().map(|(name, value)| name.len() + texts(value)).sum::<usize>();
    json.text().map_or(0, str::len) + inner + json.elements().iter().map(texts).sum::<usize>()
}

/// `maxTokens` as `max_tokens`.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
