//! The interface of resolvers: objects know the name of their type and resolve their fields one by one.

use std::{borrow::Cow, rc::Rc};

use serde_json::{Map, Value};

use super::{
    super::{
        call::Call,
        refusal::Refusal,
        state::{Repository, State},
        users::Role,
    },
    problem::Problem,
};

/// The result of resolving a field.
pub(super) type Resolved<'s> = Result<Out<'s>, Problem>;

/// The value of a field, before the query selects from it.
#[derive(Clone)]
pub(super) enum Out<'s> {
    Null,
    Leaf(Value),
    Object(Rc<dyn Object<'s> + 's>),
    /// The object of this global id. A part of another object refers to it so: no type's file needs the file of the
    /// type that contains it.
    Node(String),
    List(Vec<Self>),
    /// Hidden from this caller: `null`, and this problem at its place.
    Refused(Problem),
}

impl<'s> Out<'s> {
    /// A scalar or a value of an enumeration; `null` if there is none.
    pub(super) fn leaf(value: impl Into<Value>) -> Self {
        match value.into() {
            Value::Null => Self::Null,
            value => Self::Leaf(value),
        }
    }

    /// An object.
    pub(super) fn object(object: impl Object<'s> + 's) -> Self {
        Self::Object(Rc::new(object))
    }
}

/// A value with fields.
pub(super) trait Object<'s> {
    /// The name of its type.
    fn kind(&self) -> &str;

    /// One field; [`unresolved`] if there is none of this name.
    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s>;
}

/// The answer for a field that the schema has and its object does not, which a test rules out.
pub(super) fn unresolved<'s>(kind: &str, name: &str) -> Resolved<'s> {
    Err(Refusal::internal(format!("nothing resolves {kind}.{name}")).into())
}

/// An object whose fields are all known beforehand.
pub(super) struct Made<'s> {
    kind: Cow<'static, str>,
    fields: Vec<(&'static str, Out<'s>)>,
}

/// An object of this type with these fields.
pub(super) fn made<'s>(
    kind: impl Into<Cow<'static, str>>,
    fields: impl IntoIterator<Item = (&'static str, Out<'s>)>,
) -> Out<'s> {
    Out::object(Made { kind: kind.into(), fields: fields.into_iter().collect() })
}

impl<'s> Object<'s> for Made<'s> {
    fn kind(&self) -> &str {
        &self.kind
    }

    fn field(&self, _: &At<'s>, name: &str, _: &Args) -> Resolved<'s> {
        let found = self.fields.iter().find(|(known, _)| *known == name);
        found.map_or_else(|| unresolved(&self.kind, name), |(_, value)| Ok(value.clone()))
    }
}

/// Finds the object of a global id; `None` if the caller sees none.
pub(super) type Find = for<'s> fn(&At<'s>, &str) -> Option<Out<'s>>;

/// The caller, and the state that the answer is read from.
#[derive(Clone, Copy)]
pub(super) struct At<'s> {
    pub(super) call: &'s Call,
    pub(super) state: &'s State,
    pub(super) find: Find,
}

impl<'s> At<'s> {
    /// The caller's role in this repository.
    pub(super) fn role(&self, repo: &Repository) -> Role {
        self.call.role(self.state, repo)
    }

    /// Whether the caller is this account.
    pub(super) fn is_viewer(&self, login: &crate::names::Login) -> bool {
        self.call.caller.as_ref().is_some_and(|caller| caller.is(login))
    }

    /// The repository of this name, if the caller may see it.
    pub(super) fn repository(&self, owner: &str, name: &str) -> Option<&'s Repository> {
        let call = self.call.with_part("owner", owner).with_part("repo", name);
        call.repository(self.state, Role::Read).ok()
    }

    /// Every repository that the caller may see.
    pub(super) fn repositories(&self) -> impl Iterator<Item = &'s Repository> {
        self.state.repositories.all().filter(|repo| self.role(repo) >= Role::Read)
    }

    /// An address below a repository's page.
    pub(super) fn page(&self, repo: &Repository, below: &str) -> String {
        format!("{}/{}{below}", self.call.forge.server(), repo.name)
    }
}

/// The arguments of a field, or the fields of an input, checked against the schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Args(pub(super) Map<String, Value>);

impl Args {
    /// The argument; `None` if it is absent or `null`.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text, an id or a value of an enumeration.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    /// The argument, which the schema guarantees.
    pub(super) fn needed(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// A whole number.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    /// Yes or no.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name).and_then(Value::as_bool)
    }

    /// A list of texts, ids or values of an enumeration.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<&str>> {
        self.get(name).and_then(Value::as_array).map(|list| list.iter().filter_map(Value::as_str).collect())
    }

    /// An input object.
    pub(super) fn input(&self, name: &str) -> Option<Self> {
        self.get(name).and_then(Value::as_object).cloned().map(Self)
    }
}
