//! The schema as clients read it: `__schema` and `__type`.

use async_graphql_parser::types::{BaseType, Type};

use super::{
    object::{Args, At, Object, Out, Resolved, made, unresolved},
    schema::{Field, Input, Kind, Schema},
};

/// The types of the introspection itself. <https://spec.graphql.org/October2021/#sec-Schema-Introspection.Schema-Introspection-Schema>
pub(super) const DESCRIPTION: &str = r"
extend type Query {
    __schema: __Schema!
    __type(name: String!): __Type
}
type __Schema {
    description: String
    types: [__Type!]!
    queryType: __Type!
    mutationType: __Type
    subscriptionType: __Type
    directives: [__Directive!]!
}
type __Type {
    kind: __TypeKind!
    name: String
    description: String
    specifiedByURL: String
    fields(includeDeprecated: Boolean = false): [__Field!]
    interfaces: [__Type!]
    possibleTypes: [__Type!]
    enumValues(includeDeprecated: Boolean = false): [__EnumValue!]
    inputFields(includeDeprecated: Boolean = false): [__InputValue!]
    ofType: __Type
    isOneOf: Boolean
}
type __Field {
    name: String!
    description: String
    args(includeDeprecated: Boolean = false): [__InputValue!]!
    type: __Type!
    isDeprecated: Boolean!
    deprecationReason: String
}
type __InputValue {
    name: String!
    description: String
    type: __Type!
    defaultValue: String
    isDeprecated: Boolean!
    deprecationReason: String
}
type __EnumValue {
    name: String!
    description: String
    isDeprecated: Boolean!
    deprecationReason: String
}
type __Directive {
    name: String!
    description: String
    locations: [__DirectiveLocation!]!
    args(includeDeprecated: Boolean = false): [__InputValue!]!
    isRepeatable: Boolean!
}
enum __TypeKind { SCALAR OBJECT INTERFACE UNION ENUM INPUT_OBJECT LIST NON_NULL }
enum __DirectiveLocation { FIELD FRAGMENT_SPREAD INLINE_FRAGMENT }
";

/// `__schema` and `__type` of the root; `None` for another field.
pub(super) fn root<'s>(schema: &'static Schema, name: &str, args: &Args) -> Option<Out<'s>> {
    match name {
        "__schema" => Some(whole(schema)),
        "__type" => Some(named(schema, args.needed("name"))),
        _ => None,
    }
}

fn whole<'s>(schema: &'static Schema) -> Out<'s> {
    let types = schema.all().map(|(name, _)| named(schema, name)).collect();
    let condition = Input {
        name: "if".to_owned(),
        ty: Type { base: BaseType::Named(async_graphql_value::Name::new("Boolean")), nullable: false },
        default: None,
    };
    let directive = |name: &str| {
        let places = ["FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"].map(Out::leaf);
        made(
            "__Directive",
            [
                ("name", Out::leaf(name)),
                ("description", Out::Null),
                ("locations", Out::List(places.into())),
                ("args", Out::List(vec![input(schema, &condition)])),
                ("isRepeatable", Out::leaf(false)),
            ],
        )
    };
    made(
        "__Schema",
        [
            ("description", Out::Null),
            ("types", Out::List(types)),
            ("queryType", named(schema, "Query")),
            ("mutationType", named(schema, "Mutation")),
            ("subscriptionType", Out::Null),
            ("directives", Out::List(vec![directive("include"), directive("skip")])),
        ],
    )
}

fn named<'s>(schema: &'static Schema, name: &str) -> Out<'s> {
    match schema.all().find(|(known, _)| *known == name) {
        Some((name, kind)) => Out::object(Named { schema, name, kind }),
        None => Out::Null,
    }
}

/// A type with its lists and non-nulls around it.
fn typed<'s>(schema: &'static Schema, ty: &Type) -> Out<'s> {
    let inner = match &ty.base {
        BaseType::Named(name) => named(schema, name),
        BaseType::List(of) => wrapped("LIST", typed(schema, of)),
    };
    if ty.nullable { inner } else { wrapped("NON_NULL", inner) }
}

fn wrapped<'s>(kind: &'static str, of: Out<'s>) -> Out<'s> {
    let absent = [
        "name",
        "description",
        "specifiedByURL",
        "fields",
        "interfaces",
        "possibleTypes",
        "enumValues",
        "inputFields",
        "isOneOf",
    ];
    let fields = absent.map(|name| (name, Out::Null)).into_iter();
    made("__Type", fields.chain([("kind", Out::leaf(kind)), ("ofType", of)]))
}

#[derive(Clone, Copy)]
struct Named {
    schema: &'static Schema,
    name: &'static str,
    kind: &'static Kind,
}

impl<'s> Object<'s> for Named {
    fn kind(&self) -> &str {
        "__Type"
    }

    fn field(&self, _: &At<'s>, name: &str, _: &Args) -> Resolved<'s> {
        let all = |names: &[String]| Out::List(names.iter().map(|name| named(self.schema, name)).collect());
        let list = |names: Vec<&str>| Out::List(names.into_iter().map(|name| named(self.schema, name)).collect());
        Ok(match (name, self.kind) {
            ("kind", kind) => Out::leaf(kind_name(kind)),
            ("name", _) => Out::leaf(self.name),
            ("fields", Kind::Object { fields, .. } | Kind::Interface { fields }) => {
                // The introspection's own two fields are everywhere and in no list.
                let listed = fields.iter().filter(|field| !field.name.starts_with("__"));
                Out::List(listed.map(|of| field(self.schema, of)).collect())
            }
            ("interfaces", Kind::Object { interfaces, .. }) => all(interfaces),
            ("interfaces", Kind::Interface { .. }) => Out::List(Vec::new()),
            ("possibleTypes", Kind::Interface { .. } | Kind::Union { .. }) => list(self.schema.possible(self.name)),
            ("enumValues", Kind::Enum { values }) => Out::List(values.iter().map(|value| enum_value(value)).collect()),
            ("inputFields", Kind::Input { fields }) => {
                Out::List(fields.iter().map(|field| input(self.schema, field)).collect())
            }
            ("isOneOf", Kind::Input { .. }) => Out::leaf(false),
            (
                "description" | "specifiedByURL" | "fields" | "interfaces" | "possibleTypes" | "enumValues"
                | "inputFields" | "ofType" | "isOneOf",
                _,
            ) => Out::Null,
            (
                _,
                Kind::Scalar
                | Kind::Object { .. }
                | Kind::Interface { .. }
                | Kind::Union { .. }
                | Kind::Enum { .. }
                | Kind::Input { .. },
            ) => return unresolved("__Type", name),
        })
    }
}

fn kind_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Scalar => "SCALAR",
        Kind::Object { .. } => "OBJECT",
        Kind::Interface { .. } => "INTERFACE",
        Kind::Union { .. } => "UNION",
        Kind::Enum { .. } => "ENUM",
        Kind::Input { .. } => "INPUT_OBJECT",
    }
}

fn field<'s>(schema: &'static Schema, field: &'static Field) -> Out<'s> {
    let args = Out::List(field.args.iter().map(|arg| input(schema, arg)).collect());
    let own = [("name", Out::leaf(field.name.as_str())), ("args", args), ("type", typed(schema, &field.ty))];
    made("__Field", own.into_iter().chain(undeprecated()))
}

fn input<'s>(schema: &'static Schema, input: &Input) -> Out<'s> {
    let default = input.default.as_ref().map(literal);
    let own = [
        ("name", Out::leaf(input.name.as_str())),
        ("type", typed(schema, &input.ty)),
        ("defaultValue", Out::leaf(default)),
    ];
    made("__InputValue", own.into_iter().chain(undeprecated()))
}

fn enum_value<'s>(value: &str) -> Out<'s> {
    made("__EnumValue", [("name", Out::leaf(value))].into_iter().chain(undeprecated()))
}

fn undeprecated<'s>() -> [(&'static str, Out<'s>); 3] {
    [("description", Out::Null), ("isDeprecated", Out::leaf(false)), ("deprecationReason", Out::Null)]
}

/// A default in GraphQL's own notation. The schema has no text defaults, so a text is an enumeration's value.
fn literal(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(list) => format!("[{}]", list.iter().map(literal).collect::<Vec<_>>().join(", ")),
        serde_json::Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}: {}", literal(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
