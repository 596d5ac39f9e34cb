//! Runs a valid operation: selects the requested fields, and puts `null` and a problem in place of a field that fails.
//! The rest of the answer stays.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
};

use async_graphql_parser::{
    Positioned,
    types::{BaseType, Directive, Field as Asked, Selection, SelectionSet, Type},
};
use async_graphql_value::{ConstValue, Name, indexmap::IndexMap};
use serde_json::{Map, Value, json};

use super::{
    super::refusal::Refusal,
    introspect,
    object::{Args, At, Object, Out, Resolved},
    problem::Problem,
    schema::{Field, Schema},
    validate::Fragments,
    values::{coerce_fields, plain},
};

/// The most fields that one answer has: GitHub's limit is 500,000 things, and each has several fields.
/// <https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api>
const FIELDS_MAX: usize = 100_000;

/// The most levels of an answer, lists included: each takes some of the stack.
const DEPTH_MAX: usize = 60;

/// A non-null field became `null`, so its parent is `null` instead.
struct Absent;

/// One operation as it runs.
pub(super) struct Run<'q> {
    pub(super) schema: &'static Schema,
    pub(super) fragments: &'q Fragments,
    pub(super) variables: Map<String, Value>,
    left: Cell<usize>,
    problems: RefCell<Vec<Problem>>,
}

/// The fields of one selection, in order: the name in the answer, and each place that asks for it.
pub(super) type Collected<'q> = IndexMap<&'q str, Vec<&'q Positioned<Asked>>>;

impl<'q> Run<'q> {
    /// A run with these variables.
    pub(super) fn new(schema: &'static Schema, fragments: &'q Fragments, variables: Map<String, Value>) -> Self {
        Self { schema, fragments, variables, left: Cell::new(FIELDS_MAX), problems: RefCell::default() }
    }

    /// The problems that occurred.
    pub(super) fn problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// Selects from the root of a query; `None` if a required field is missing.
    pub(super) fn query<'s>(&self, at: &At<'s>, root: &dyn Object<'s>, set: &'q SelectionSet) -> Option<ConstValue> {
        self.selected(at, root, &[set], &mut Vec::new()).ok()
    }

    /// The fields that a mutation asks for, one after the other.
    pub(super) fn mutations(&self, set: &'q SelectionSet) -> Collected<'q> {
        let mut collected = Collected::new();
        self.collect("Mutation", set, &mut collected, &mut BTreeSet::new());
        collected
    }

    /// Selects from the result of a mutation.
    pub(super) fn done<'s>(
        &self,
        at: &At<'s>,
        key: &str,
        asked: &[&'q Positioned<Asked>],
        done: Resolved<'s>,
    ) -> ConstValue {
        let (mut path, Some(first)) = (vec![json!(key)], asked.first()) else { return ConstValue::Null };
        match (self.schema.field("Mutation", &first.node.name.node), done) {
            (Some(field), Ok(out)) => self.complete(at, &field.ty, out, asked, &mut path).unwrap_or(ConstValue::Null),
            (_, Err(problem)) => {
                self.note(problem.at(first.pos, &path));
                ConstValue::Null
            }
            (None, Ok(_)) => ConstValue::Null,
        }
    }

    /// The arguments of a field.
    ///
    /// # Errors
    /// A sentence if a variable has an invalid value.
    pub(super) fn args(&self, field: &Field, asked: &Asked) -> Result<Args, Problem> {
        let given = asked.arguments.iter();
        let given =
            given.filter_map(|(name, value)| Some((name.node.to_string(), plain(&value.node, &self.variables)?)));
        coerce_fields(self.schema, &field.args, &given.collect())
            .map(Args)
            .map_err(|why| Problem::new("ARGUMENT_ERROR", format!("Argument of field '{}': {why}", field.name)))
    }

    fn note(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    fn selected<'s>(
        &self,
        at: &At<'s>,
        object: &dyn Object<'s>,
        sets: &[&'q SelectionSet],
        path: &mut Vec<Value>,
    ) -> Result<ConstValue, Absent> {
        let (mut collected, mut spread) = (Collected::new(), BTreeSet::new());
        for set in sets {
            self.collect(object.kind(), set, &mut collected, &mut spread);
        }
        let mut fields = IndexMap::new();
        for (key, asked) in collected {
            path.push(json!(key));
            let value = self.field(at, object, &asked, path);
            path.pop();
            fields.insert(Name::new(key), value?);
        }
        Ok(ConstValue::Object(fields))
    }

    fn field<'s>(
        &self,
        at: &At<'s>,
        object: &dyn Object<'s>,
        asked: &[&'q Positioned<Asked>],
        path: &mut Vec<Value>,
    ) -> Result<ConstValue, Absent> {
        let Some(&first) = asked.first() else { return Ok(ConstValue::Null) };
        let name = first.node.name.node.as_str();
        if name == "__typename" {
            return Ok(ConstValue::String(object.kind().to_owned()));
        }
        let Some(field) = self.schema.field(object.kind(), name) else { return Err(Absent) };
        let resolved = match self.left.get().checked_sub(1) {
            Some(_) if path.len() > DEPTH_MAX => {
                Err(Problem::new("MAX_DEPTH_EXCEEDED", format!("The answer is more than {DEPTH_MAX} levels deep.")))
            }
            None => {
                Err(Problem::new("MAX_NODE_LIMIT_EXCEEDED", format!("The answer has more than {FIELDS_MAX} fields.")))
            }
            Some(left) => {
                self.left.set(left);
                self.args(field, &first.node).and_then(|args| match introspect::root(self.schema, name, &args) {
                    Some(found) => Ok(found),
                    None => object.field(at, name, &args),
                })
            }
        };
        match resolved {
            Ok(out) => match self.complete(at, &field.ty, out, asked, path) {
                Err(Absent) if field.ty.nullable => Ok(ConstValue::Null),
                done => done,
            },
            Err(problem) => {
                self.note(problem.at(first.pos, path));
                if field.ty.nullable { Ok(ConstValue::Null) } else { Err(Absent) }
            }
        }
    }

    fn complete<'s>(
        &self,
        at: &At<'s>,
        ty: &Type,
        out: Out<'s>,
        asked: &[&'q Positioned<Asked>],
        path: &mut Vec<Value>,
    ) -> Result<ConstValue, Absent> {
        let out = match out {
            Out::Node(id) => (at.find)(at, &id).unwrap_or(Out::Null),
            other => other,
        };
        match (out, &ty.base) {
            (Out::Null, _) if ty.nullable => Ok(ConstValue::Null),
            (Out::Null, _) => {
                let field = asked.first().map_or_else(String::new, |asked| asked.node.name.node.to_string());
                let problem = Refusal::internal(format!("null for `{field}`, which cannot be"));
                let pos = asked.first().map(|asked| asked.pos).unwrap_or_default();
                self.note(Problem::from(problem).at(pos, path));
                Err(Absent)
            }
            (Out::List(items), BaseType::List(of)) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    path.push(json!(index));
                    let value = self.complete(at, of, item, asked, path);
                    path.pop();
                    list.push(match value {
                        Err(Absent) if of.nullable => ConstValue::Null,
                        value => value?,
                    });
                }
                Ok(ConstValue::List(list))
            }
            (Out::Object(object), _) => {
                let sets: Vec<_> = asked.iter().map(|asked| &asked.node.selection_set.node).collect();
                self.selected(at, object.as_ref(), &sets, path)
            }
            (Out::Refused(problem), _) => {
                self.note(problem.at(asked.first().map(|asked| asked.pos).unwrap_or_default(), path));
                if ty.nullable { Ok(ConstValue::Null) } else { Err(Absent) }
            }
            (Out::Leaf(value), _) => ConstValue::from_json(value).map_err(|_| Absent),
            (Out::List(_) | Out::Node(_), _) => Err(Absent),
        }
    }

    fn collect(&self, kind: &str, set: &'q SelectionSet, into: &mut Collected<'q>, spread: &mut BTreeSet<&'q str>) {
        let applies = |on: &str| self.schema.possible(on).contains(&kind);
        for selection in &set.items {
            if !self.wanted(selection.node.directives()) {
                continue;
            }
            match &selection.node {
                Selection::Field(asked) => into.entry(asked.node.response_key().node.as_str()).or_default().push(asked),
                Selection::InlineFragment(part) => {
                    let condition = part.node.type_condition.as_ref();
                    if condition.is_none_or(|condition| applies(&condition.node.on.node)) {
                        self.collect(kind, &part.node.selection_set.node, into, spread);
                    }
                }
                Selection::FragmentSpread(part) => {
                    // A fragment that is spread twice in one selection adds nothing the second time.
                    if !spread.insert(part.node.fragment_name.node.as_str()) {
                        continue;
                    }
                    let fragment = self.fragments.get(&part.node.fragment_name.node);
                    if let Some(fragment) = fragment.filter(|f| applies(&f.node.type_condition.node.on.node)) {
                        self.collect(kind, &fragment.node.selection_set.node, into, spread);
                    }
                }
            }
        }
    }

    /// The result of `@skip` and `@include`.
    fn wanted(&self, directives: &[Positioned<Directive>]) -> bool {
        directives.iter().all(|directive| {
            let condition = directive.node.get_argument("if").and_then(|value| plain(&value.node, &self.variables));
            condition.and_then(|value| value.as_bool()).unwrap_or(true) == (directive.node.name.node == "include")
        })
    }
}
