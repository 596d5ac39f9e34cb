//! Several objects of one repository in one GraphQL query.

use serde_json::{Map, Value};

use crate::{Forge, ForgeError, graphql::Answered, purpose::Purpose};

/// What is asked of each of them.
pub(super) struct Objects {
    /// The repository's field that has one, such as `issue`.
    pub(super) field: &'static str,
    /// The field's argument, and its type, such as `number` and `Int!`.
    pub(super) argument: &'static str,
    pub(super) argument_type: &'static str,
    /// The fragment `facts`, which says what is asked.
    pub(super) facts: &'static str,
}

/// The name of the object at this index in an answer.
pub(super) fn object_name(index: usize) -> String {
    format!("n{index}")
}

impl Objects {
    /// The query for so many of them.
    pub(super) fn query(&self, objects: usize) -> String {
        let (parameters, fields, facts) = (self.parameters(objects), self.fields(objects, "facts"), self.facts);
        format!(
            "query($owner: String!, $name: String!{parameters}) {{ repository(owner: $owner, name: $name) {{{fields} }} }} {facts}"
        )
    }

    /// The parameters of a query for so many of them, after others.
    pub(super) fn parameters(&self, objects: usize) -> String {
        (0..objects).map(|index| format!(", ${}: {}", object_name(index), self.argument_type)).collect()
    }

    /// The repository's fields in such a query, where the facts have this name.
    pub(super) fn fields(&self, objects: usize, fragment: &str) -> String {
        let Self { field, argument, .. } = self;
        let names = (0..objects).map(object_name);
        names.map(|name| format!(" {name}: {field}({argument}: ${name}) {{ ...{fragment} }}")).collect()
    }

    /// The facts under another name, for a query that asks for more than one kind of them.
    pub(super) fn fragment(&self, name: &str) -> String {
        self.facts.replacen("facts", name, 1)
    }

    /// How many of them a query asks for.
    pub(super) fn count_in(&self, query: &str) -> usize {
        query.matches(&format!(": {}({}: $", self.field, self.argument)).count()
    }

    /// Whether this is the whole text of its query, for any number of them.
    pub(super) fn is_asked_by(&self, query: &str) -> bool {
        query == self.query(self.count_in(query))
    }
}

/// Asks about the objects that these values of the argument name. The caller bounds their number.
///
/// # Errors
/// [`ForgeError`] of the query.
pub(super) async fn objects(
    forge: &Forge,
    asked: &Objects,
    values: impl Iterator<Item = Value>,
    purpose: Purpose<'_>,
) -> Result<Answered, ForgeError> {
    let mut variables: Map<String, Value> =
        values.enumerate().map(|(index, value)| (object_name(index), value)).collect();
    let query = asked.query(variables.len());
    variables.insert("owner".to_owned(), forge.repo.owner().into());
    variables.insert("name".to_owned(), forge.repo.name().into());
    forge.connection().query(&query, Value::Object(variables), purpose).await
}
