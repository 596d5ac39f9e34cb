//! The schema, assembled from the types' own descriptions in GraphQL's schema language.
//!
//! Three patterns of GitHub's schema are filled in here, so that no description repeats them: a field whose type is a
//! connection takes `first`, `after`, `last` and `before`; a connection or an edge without a description is that of its
//! node; and the input and the payload of a mutation have a `clientMutationId`.

use std::collections::{BTreeMap, BTreeSet};

use async_graphql_parser::{
    parse_schema,
    types::{BaseType, FieldDefinition, InputValueDefinition, Type, TypeKind, TypeSystemDefinition},
};
use serde_json::Value;

/// The arguments of a connection.
const PAGES: [(&str, &str); 4] = [("after", "String"), ("before", "String"), ("first", "Int"), ("last", "Int")];

/// All types, by name.
#[derive(Debug)]
pub(super) struct Schema {
    types: BTreeMap<String, Kind>,
}

/// The kind of a type.
#[derive(Debug)]
pub(super) enum Kind {
    Scalar,
    Object { interfaces: Vec<String>, fields: Vec<Field> },
    Interface { fields: Vec<Field> },
    Union { members: Vec<String> },
    Enum { values: Vec<String> },
    Input { fields: Vec<Input> },
}

/// A field of an object or an interface.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) args: Vec<Input>,
    pub(super) ty: Type,
}

/// An argument, or a field of an input.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) default: Option<Value>,
}

impl Input {
    /// Whether it has to be given.
    pub(super) fn required(&self) -> bool {
        !self.ty.nullable && self.default.is_none()
    }
}

/// Descriptions that make no schema.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidSchema {
    #[error(transparent)]
    Syntax(#[from] async_graphql_parser::Error),
    #[error(transparent)]
    Default(#[from] serde_json::Error),
    #[error("the type {0} is described twice")]
    Twice(String),
    #[error("there is no type {0}")]
    Missing(String),
}

impl Schema {
    /// Reads these descriptions, in GraphQL's schema language.
    ///
    /// # Errors
    /// [`InvalidSchema`] if one cannot be parsed, or names a type without a description.
    pub(super) fn read<'d>(descriptions: impl Iterator<Item = &'d str>) -> Result<Self, InvalidSchema> {
        let mut types = BTreeMap::new();
        for builtin in ["Int", "Float", "String", "Boolean", "ID"] {
            types.insert(builtin.to_owned(), Kind::Scalar);
        }
        let mut read = Self { types };
        for text in descriptions {
            for definition in parse_schema(text)?.definitions {
                if let TypeSystemDefinition::Type(definition) = definition {
                    read.add(definition.node.name.node.to_string(), kind(definition.node.kind)?)?;
                }
            }
        }
        read.fill();
        read.complete()?;
        Ok(read)
    }

    /// Adds a type; an object that is there already gets more fields.
    fn add(&mut self, name: String, kind: Kind) -> Result<(), InvalidSchema> {
        match (self.types.get_mut(&name), kind) {
            (None, kind) => {
                self.types.insert(name, kind);
                Ok(())
            }
            (Some(Kind::Object { fields, .. }), Kind::Object { fields: more, .. }) => {
                fields.extend(more);
                Ok(())
            }
            (Some(_), _) => Err(InvalidSchema::Twice(name)),
        }
    }

    fn fill(&mut self) {
        let mut wanted = BTreeSet::new();
        for (name, kind) in &mut self.types {
            let once = || Input { name: "clientMutationId".to_owned(), ty: named("String"), default: None };
            match kind {
                Kind::Input { fields } if name.ends_with("Input") => fields.push(once()),
                Kind::Object { fields, .. } | Kind::Interface { fields } => {
                    for field in fields.iter_mut() {
                        let base = base(&field.ty).to_owned();
                        if base.ends_with("Connection") {
                            let page = |(name, ty): (&str, &str)| Input {
                                name: name.to_owned(),
                                ty: named(ty),
                                default: None,
                            };
                            field.args.extend(PAGES.map(page));
                        }
                        wanted.insert(base);
                    }
                    if name.ends_with("Payload") {
                        let Input { name, ty, .. } = once();
                        fields.push(Field { name, args: Vec::new(), ty });
                    }
                }
                Kind::Input { .. } | Kind::Scalar | Kind::Union { .. } | Kind::Enum { .. } => {}
            }
        }
        for name in wanted.iter().filter(|name| !self.types.contains_key(*name)).cloned().collect::<Vec<_>>() {
            if let Some(node) = name.strip_suffix("Connection") {
                let edge = format!("{node}Edge");
                let fields = [
                    ("edges", format!("[{edge}]")),
                    ("nodes", format!("[{node}]")),
                    ("pageInfo", "PageInfo!".to_owned()),
                    ("totalCount", "Int!".to_owned()),
                ];
                self.types.insert(name.clone(), plain_object(&fields));
                self.types.entry(edge).or_insert_with(|| edge_of(node));
            } else if let Some(node) = name.strip_suffix("Edge") {
                self.types.insert(name.clone(), edge_of(node));
            }
        }
    }

    /// Refuses a name that no type has.
    fn complete(&self) -> Result<(), InvalidSchema> {
        let missing = |name: &str| InvalidSchema::Missing(name.to_owned());
        let known = |name: &str| self.types.contains_key(name).then_some(()).ok_or_else(|| missing(name));
        for kind in self.types.values() {
            let inputs = match kind {
                Kind::Object { fields, interfaces } => {
                    interfaces.iter().try_for_each(|name| known(name))?;
                    fields.iter().try_for_each(|field| known(base(&field.ty)))?;
                    fields.iter().flat_map(|field| &field.args).collect()
                }
                Kind::Interface { fields } => {
                    fields.iter().try_for_each(|field| known(base(&field.ty)))?;
                    fields.iter().flat_map(|field| &field.args).collect()
                }
                Kind::Input { fields } => fields.iter().collect(),
                Kind::Union { members } => {
                    members.iter().try_for_each(|name| known(name))?;
                    Vec::new()
                }
                Kind::Scalar | Kind::Enum { .. } => Vec::new(),
            };
            inputs.iter().try_for_each(|input| known(base(&input.ty)))?;
        }
        Ok(())
    }

    /// The type of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Kind> {
        self.types.get(name)
    }

    /// Every type, by name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Kind)> {
        self.types.iter().map(|(name, kind)| (name.as_str(), kind))
    }

    /// A field of an object or interface.
    pub(super) fn field(&self, of: &str, name: &str) -> Option<&Field> {
        match self.get(of)? {
            Kind::Object { fields, .. } | Kind::Interface { fields } => fields.iter().find(|field| field.name == name),
            Kind::Scalar | Kind::Union { .. } | Kind::Enum { .. } | Kind::Input { .. } => None,
        }
    }

    /// The objects that a value of this type can be.
    pub(super) fn possible<'n>(&'n self, name: &'n str) -> Vec<&'n str> {
        match self.get(name) {
            Some(Kind::Object { .. }) => vec![name],
            Some(Kind::Union { members }) => members.iter().map(String::as_str).collect(),
            Some(Kind::Interface { .. }) => {
                let has = |kind: &Kind| matches!(kind, Kind::Object { interfaces, .. } if interfaces.iter().any(|i| i == name));
                self.all().filter(|(_, kind)| has(kind)).map(|(name, _)| name).collect()
            }
            Some(Kind::Scalar | Kind::Enum { .. } | Kind::Input { .. }) | None => Vec::new(),
        }
    }

    /// Whether a value of this type has no fields to select.
    pub(super) fn is_leaf(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Kind::Scalar | Kind::Enum { .. }))
    }
}

/// The name in a type, without its lists.
pub(super) fn base(ty: &Type) -> &str {
    match &ty.base {
        BaseType::Named(name) => name.as_str(),
        BaseType::List(of) => base(of),
    }
}

fn named(text: &str) -> Type {
    Type::new(text).unwrap_or(Type { base: BaseType::Named(async_graphql_value::Name::new(text)), nullable: true })
}

fn plain_object(fields: &[(&str, String)]) -> Kind {
    let field = |(name, ty): &(&str, String)| Field { name: (*name).to_owned(), args: Vec::new(), ty: named(ty) };
    Kind::Object { interfaces: Vec::new(), fields: fields.iter().map(field).collect() }
}

fn edge_of(node: &str) -> Kind {
    plain_object(&[("cursor", "String!".to_owned()), ("node", node.to_owned())])
}

fn kind(kind: TypeKind) -> Result<Kind, InvalidSchema> {
    let names = |list: Vec<async_graphql_parser::Positioned<async_graphql_value::Name>>| {
        list.into_iter().map(|name| name.node.to_string()).collect()
    };
    Ok(match kind {
        TypeKind::Scalar => Kind::Scalar,
        TypeKind::Object(object) => {
            Kind::Object { interfaces: names(object.implements), fields: fields(object.fields)? }
        }
        TypeKind::Interface(interface) => Kind::Interface { fields: fields(interface.fields)? },
        TypeKind::Union(union) => Kind::Union { members: names(union.members) },
        TypeKind::Enum(values) => {
            Kind::Enum { values: values.values.into_iter().map(|value| value.node.value.node.to_string()).collect() }
        }
        TypeKind::InputObject(input) => Kind::Input { fields: inputs(input.fields)? },
    })
}

fn fields(list: Vec<async_graphql_parser::Positioned<FieldDefinition>>) -> Result<Vec<Field>, InvalidSchema> {
    let field = |field: FieldDefinition| {
        Ok(Field { name: field.name.node.to_string(), args: inputs(field.arguments)?, ty: field.ty.node })
    };
    list.into_iter().map(|positioned| field(positioned.node)).collect()
}

fn inputs(list: Vec<async_graphql_parser::Positioned<InputValueDefinition>>) -> Result<Vec<Input>, InvalidSchema> {
    let input = |input: InputValueDefinition| {
        let default = input.default_value.map(|value| value.node.into_json());
        Ok(Input { name: input.name.node.to_string(), ty: input.ty.node, default: default.transpose()? })
    };
    list.into_iter().map(|positioned| input(positioned.node)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_edges_and_mutation_ids_need_no_description() {
        let text = "type Query { things: ThingConnection! } type Thing { id: ID! } \
                    input MakeThingInput { name: String! } type MakeThingPayload { thing: Thing edge: ThingEdge }";
        let schema = Schema::read([text, "type PageInfo { hasNextPage: Boolean! }"].into_iter()).unwrap();
        let args: Vec<_> = schema.field("Query", "things").unwrap().args.iter().map(|arg| arg.name.as_str()).collect();
        assert_eq!(args, ["after", "before", "first", "last"]);
        assert_eq!(schema.field("ThingConnection", "nodes").unwrap().ty.to_string(), "[Thing]");
        assert_eq!(schema.field("ThingEdge", "node").unwrap().ty.to_string(), "Thing");
        assert!(schema.field("MakeThingPayload", "clientMutationId").is_some());
        assert!(matches!(schema.get("MakeThingInput"), Some(Kind::Input { fields }) if fields.len() == 2));
        assert!(Schema::read(["type Query { gone: Nothing }"].into_iter()).is_err());
    }
}
