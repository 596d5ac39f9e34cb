//! Whether a query fits the schema, before anything of it runs. The refusals are worded as GitHub's: `gh` reads them to
//! learn what a server does not have.

use std::collections::{BTreeSet, HashMap};

use async_graphql_parser::{
    Pos, Positioned,
    types::{
        BaseType, Directive, Field as Asked, FragmentDefinition, OperationDefinition, OperationType, Selection,
        SelectionSet, Type,
    },
};
use async_graphql_value::{Name, Value as Literal};

use super::{
    problem::Problem,
    schema::{Field, Input, Kind, Schema, base},
    values::fits,
};

/// The fragments of a document.
pub(super) type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// The root type of an operation.
pub(super) fn root(operation: &OperationDefinition) -> &'static str {
    match operation.ty {
        OperationType::Query => "Query",
        OperationType::Mutation => "Mutation",
        OperationType::Subscription => "Subscription",
    }
}

/// Everything that is wrong with an operation; empty if it can run.
pub(super) fn validate(
    schema: &Schema,
    name: Option<&Name>,
    operation: &Positioned<OperationDefinition>,
    fragments: &Fragments,
) -> Vec<Problem> {
    let mut check =
        Check { schema, fragments, operation: &operation.node, problems: Vec::new(), used: BTreeSet::new() };
    let root = root(&operation.node);
    if schema.get(root).is_none() {
        let message = format!("Schema is not configured for {}s", operation.node.ty);
        return vec![Problem::query("missingOperationType", message, operation.pos, &[])];
    }
    if check.has_circle() {
        return check.problems;
    }
    for variable in &operation.node.variable_definitions {
        let ty = &variable.node.var_type;
        if !matches!(schema.get(base(&ty.node)), Some(Kind::Scalar | Kind::Enum { .. } | Kind::Input { .. })) {
            let message = format!("{} isn't a defined input type (on ${})", base(&ty.node), variable.node.name.node);
            check.tell("variableRequiresValidType", message, ty.pos, &[]);
        }
    }
    let mut reached = BTreeSet::new();
    check.selections(root, &operation.node.selection_set.node, &mut reached);
    // Each fragment is looked at once, however often it is spread.
    let mut todo: Vec<String> = reached.iter().cloned().collect();
    while let Some(next) = todo.pop() {
        let Some(fragment) = fragments.get(next.as_str()) else { continue };
        let mut more = BTreeSet::new();
        let on = fragment.node.type_condition.node.on.node.to_string();
        check.selections(&on, &fragment.node.selection_set.node, &mut more);
        todo.extend(more.into_iter().filter(|name| reached.insert(name.clone())));
    }
    for (name, fragment) in fragments.iter().filter(|(name, _)| !reached.contains(name.as_str())) {
        let message = format!("Fragment {name} was defined, but not used");
        check.tell("useAndDefineFragment", message, fragment.pos, &[]);
    }
    let of = name.map_or_else(|| "anonymous query".to_owned(), ToString::to_string);
    for variable in &operation.node.variable_definitions {
        let name = &variable.node.name.node;
        if !check.used.contains(name.as_str()) {
            let message = format!("Variable ${name} is declared by {of} but not used");
            check.tell("variableNotUsed", message, variable.pos, &[("variableName", name)]);
        }
    }
    check.problems
}

struct Check<'q> {
    schema: &'q Schema,
    fragments: &'q Fragments,
    operation: &'q OperationDefinition,
    problems: Vec<Problem>,
    used: BTreeSet<String>,
}

impl<'q> Check<'q> {
    fn tell(&mut self, code: &str, message: impl Into<String>, at: Pos, more: &[(&str, &str)]) {
        self.problems.push(Problem::query(code, message, at, more));
    }

    /// Whether a fragment contains itself.
    fn has_circle(&mut self) -> bool {
        // Repeatedly removes the fragments that spread none of the rest.
        let mut rest: HashMap<&str, BTreeSet<String>> = HashMap::new();
        for (name, fragment) in self.fragments {
            let mut spreads = BTreeSet::new();
            spread(&fragment.node.selection_set.node, &mut spreads);
            rest.insert(name.as_str(), spreads);
        }
        loop {
            let names: BTreeSet<String> = rest.keys().map(|name| (*name).to_owned()).collect();
            let before = rest.len();
            rest.retain(|_, spreads| spreads.iter().any(|name| names.contains(name)));
            if rest.len() == before {
                break;
            }
        }
        let Some(name) = rest.keys().min() else { return false };
        let at = self.fragments.get(*name).map(|fragment| fragment.pos).unwrap_or_default();
        let message = format!("Fragment {name} contains an infinite loop");
        self.tell("infiniteLoop", message, at, &[("fragmentName", name)]);
        true
    }

    fn selections(&mut self, of: &str, set: &'q SelectionSet, reached: &mut BTreeSet<String>) {
        let mut keys: HashMap<&str, &'q Asked> = HashMap::new();
        for selection in &set.items {
            match &selection.node {
                Selection::Field(asked) => {
                    self.directives(&asked.node.directives);
                    let key = asked.node.response_key().node.as_str();
                    let first = *keys.entry(key).or_insert(&asked.node);
                    if first.name.node != asked.node.name.node || !same(&first.arguments, &asked.node.arguments) {
                        let message = format!("Field '{key}' has a field or argument conflict");
                        self.tell("fieldConflict", message, asked.pos, &[("fieldName", key)]);
                    }
                    self.field(of, asked, reached);
                }
                Selection::FragmentSpread(asked) => {
                    self.directives(&asked.node.directives);
                    let name = asked.node.fragment_name.node.as_str();
                    match self.fragments.get(name) {
                        Some(fragment) => self.condition(of, &fragment.node.type_condition.node.on),
                        None => {
                            let message = format!("Fragment {name} was used, but not defined");
                            self.tell("useAndDefineFragment", message, asked.pos, &[("fragmentName", name)]);
                        }
                    }
                    reached.insert(name.to_owned());
                }
                Selection::InlineFragment(asked) => {
                    self.directives(&asked.node.directives);
                    let condition = asked.node.type_condition.as_ref().map(|condition| &condition.node.on);
                    let on = condition.map_or_else(|| of.to_owned(), |on| on.node.to_string());
                    if let Some(on) = condition {
                        self.condition(of, on);
                    }
                    self.selections(&on, &asked.node.selection_set.node, reached);
                }
            }
        }
    }

    /// A fragment on one type within another.
    fn condition(&mut self, of: &str, on: &Positioned<Name>) {
        let name = on.node.as_str();
        let possible = self.schema.possible(name);
        if possible.is_empty() {
            let message = format!("No such type {name}, so it can't be a fragment condition");
            self.tell("undefinedType", message, on.pos, &[("typeName", name)]);
        } else if !self.schema.possible(of).iter().any(|object| possible.contains(object))
            && self.schema.get(of).is_some()
        {
            let message = format!("Fragment on {name} can't be spread inside {of}");
            self.tell("cannotSpreadFragment", message, on.pos, &[("typeName", name), ("parentName", of)]);
        }
    }

    fn field(&mut self, of: &str, asked: &'q Positioned<Asked>, reached: &mut BTreeSet<String>) {
        let name = asked.node.name.node.as_str();
        let selected = &asked.node.selection_set.node;
        if name == "__typename" {
            return;
        }
        // A fragment on an unknown type has been reported already.
        if self.schema.get(of).is_none() {
            return;
        }
        let Some(field) = self.schema.field(of, name) else {
            let message = format!("Field '{name}' doesn't exist on type '{of}'");
            self.tell("undefinedField", message, asked.pos, &[("typeName", of), ("fieldName", name)]);
            return;
        };
        self.arguments(&format!("Field '{name}'"), &field.args, &asked.node.arguments, asked.pos);
        self.selection_of(field, asked);
        if !selected.items.is_empty() {
            self.selections(base(&field.ty), selected, reached);
        }
    }

    fn selection_of(&mut self, field: &Field, asked: &Positioned<Asked>) {
        let (name, returns, leaf) = (&field.name, &field.ty, self.schema.is_leaf(base(&field.ty)));
        let none = asked.node.selection_set.node.items.is_empty();
        let message = match (leaf, none) {
            (true, false) => format!("Selections can't be made on scalars (field '{name}' returns {})", base(returns)),
            (false, true) => format!(
                "Field must have selections (field '{name}' returns {} but has no selections. Did you mean '{name} {{ ... }}'?)",
                base(returns)
            ),
            (true, true) | (false, false) => return,
        };
        self.tell("selectionMismatch", message, asked.pos, &[("nodeName", name), ("typeName", base(returns))]);
    }

    fn arguments(&mut self, of: &str, known: &[Input], given: &[(Positioned<Name>, Positioned<Literal>)], at: Pos) {
        for (name, value) in given {
            let Some(argument) = known.iter().find(|argument| argument.name == name.node.as_str()) else {
                let message = format!("{of} doesn't accept argument '{}'", name.node);
                self.tell("argumentNotAccepted", message, name.pos, &[("argumentName", &name.node)]);
                continue;
            };
            if !fits(self.schema, &argument.ty, &value.node) {
                let message = format!(
                    "Argument '{}' on {of} has an invalid value ({}). Expected type '{}'.",
                    name.node, value.node, argument.ty
                );
                self.tell("argumentLiteralsIncompatible", message, value.pos, &[("argumentName", &name.node)]);
            }
            self.variables(argument, &value.node, value.pos);
        }
        let missing: Vec<&str> = known
            .iter()
            .filter(|argument| argument.required() && !given.iter().any(|(name, _)| name.node == argument.name))
            .map(|argument| argument.name.as_str())
            .collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let message = format!("{of} is missing required arguments: {missing}");
            self.tell("missingRequiredArguments", message, at, &[("arguments", &missing)]);
        }
    }

    /// The variables in an argument: each has to be declared with a type that fits its place.
    fn variables(&mut self, place: &Input, value: &Literal, at: Pos) {
        self.variable_at(&place.ty, place.default.is_some(), &place.name, value, at);
    }

    fn variable_at(&mut self, ty: &Type, has_default: bool, place: &str, value: &Literal, at: Pos) {
        match (value, &ty.base) {
            (Literal::Variable(name), _) => self.usage(ty, has_default, place, name, at),
            (Literal::List(items), BaseType::List(of)) => {
                for item in items {
                    self.variable_at(of, false, place, item, at);
                }
            }
            (Literal::Object(fields), BaseType::Named(input)) => {
                let Some(Kind::Input { fields: known }) = self.schema.get(input) else { return };
                for (name, item) in fields {
                    if let Some(field) = known.iter().find(|field| field.name == name.as_str()) {
                        self.variable_at(&field.ty, field.default.is_some(), &field.name, item, at);
                    }
                }
            }
            (item, BaseType::List(of)) => self.variable_at(of, has_default, place, item, at),
            (_, BaseType::Named(_)) => {}
        }
    }

    fn usage(&mut self, ty: &Type, has_default: bool, place: &str, name: &Name, at: Pos) {
        self.used.insert(name.to_string());
        let declared = self.operation.variable_definitions.iter().find(|variable| variable.node.name.node == *name);
        let Some(declared) = declared else {
            let message = format!("Variable ${name} is used but not declared");
            self.tell("variableNotDefined", message, at, &[("variableName", name)]);
            return;
        };
        let has = &declared.node.var_type.node;
        let filled = declared.node.default_value.is_some() || has_default;
        if !goes_into(has, ty, filled) {
            let message = format!("Type mismatch on variable ${name} and argument {place} ({has} / {ty})");
            self.tell("variableMismatch", message, at, &[("variableName", name), ("argumentName", place)]);
        }
    }

    fn directives(&mut self, directives: &[Positioned<Directive>]) {
        for directive in directives {
            let name = directive.node.name.node.as_str();
            if !matches!(name, "skip" | "include") {
                let message = format!("Directive @{name} is not defined");
                self.tell("undefinedDirective", message, directive.pos, &[("directiveName", name)]);
                continue;
            }
            let condition = [Input { name: "if".to_owned(), ty: boolean(), default: None }];
            self.arguments(&format!("Directive '{name}'"), &condition, &directive.node.arguments, directive.pos);
        }
    }
}

fn boolean() -> Type {
    Type { base: BaseType::Named(Name::new("Boolean")), nullable: false }
}

/// Whether a variable of one type is valid at a place of another.
fn goes_into(has: &Type, wanted: &Type, filled: bool) -> bool {
    if !wanted.nullable && has.nullable && !filled {
        return false;
    }
    match (&has.base, &wanted.base) {
        (BaseType::Named(has), BaseType::Named(wanted)) => has == wanted,
        (BaseType::List(has), BaseType::List(wanted)) => goes_into(has, wanted, false),
        // One value is valid as a list of one.
        (BaseType::Named(_), BaseType::List(of)) => goes_into(has, of, true),
        (BaseType::List(_), BaseType::Named(_)) => false,
    }
}

fn same(one: &[(Positioned<Name>, Positioned<Literal>)], other: &[(Positioned<Name>, Positioned<Literal>)]) -> bool {
    one.len() == other.len()
        && one.iter().all(|(name, value)| other.iter().any(|(n, v)| n.node == name.node && v.node == value.node))
}

/// The names of the fragments that are spread in a selection.
fn spread(set: &SelectionSet, into: &mut BTreeSet<String>) {
    for selection in &set.items {
        match &selection.node {
            Selection::Field(asked) => spread(&asked.node.selection_set.node, into),
            Selection::InlineFragment(asked) => spread(&asked.node.selection_set.node, into),
            Selection::FragmentSpread(asked) => {
                into.insert(asked.node.fragment_name.node.to_string());
            }
        }
    }
}
