//! The table of all mutations.

use super::{
    super::{
        super::{call::Call, refusal::Refusal},
        object::Args,
        problem::Problem,
    },
    auto_merge, comments,
    doing::{Doing, Mutation, Payload},
    issues, labels, linked, pulls, reactions, refs, reviews,
};

/// A topic: its descriptions, and its mutations by name.
type Topic = (&'static str, &'static [(&'static str, Mutation)]);

const TOPICS: [Topic; 9] = [
    (auto_merge::DESCRIPTION, auto_merge::MUTATIONS),
    (comments::DESCRIPTION, comments::MUTATIONS),
    (issues::DESCRIPTION, issues::MUTATIONS),
    (labels::DESCRIPTION, labels::MUTATIONS),
    (linked::DESCRIPTION, linked::MUTATIONS),
    (pulls::DESCRIPTION, pulls::MUTATIONS),
    (reactions::DESCRIPTION, reactions::MUTATIONS),
    (refs::DESCRIPTION, refs::MUTATIONS),
    (reviews::DESCRIPTION, reviews::MUTATIONS),
];

/// Each topic's description, in GraphQL's schema language.
pub(in super::super) fn descriptions() -> impl Iterator<Item = &'static str> {
    TOPICS.into_iter().map(|(description, _)| description)
}

/// Runs the mutation of this name.
///
/// # Errors
/// The mutation's refusal.
pub(in super::super) fn run(call: &Call, name: &str, input: &Args) -> Result<Payload, Problem> {
    let mut all = TOPICS.into_iter().flat_map(|(_, mutations)| mutations);
    let found = all.find(|(known, _)| *known == name);
    let (known, mutation) = found.ok_or_else(|| Refusal::internal(format!("nothing runs the mutation {name}")))?;
    let shown = mutation(&Doing { call, input })?;
    let id = input.text("clientMutationId").map(str::to_owned);
    Ok(Payload { name: known, shown, id, actor: call.caller.clone() })
}

#[cfg(test)]
mod tests {
    use async_graphql_parser::{
        parse_schema,
        types::{TypeKind, TypeSystemDefinition},
    };

    use super::*;

    #[test]
    fn every_mutation_that_is_described_can_run() {
        for (description, mutations) in TOPICS {
            let mut described = Vec::new();
            for definition in parse_schema(description).unwrap().definitions {
                if let TypeSystemDefinition::Type(definition) = definition
                    && let (TypeKind::Object(object), "Mutation") =
                        (definition.node.kind, definition.node.name.node.as_str())
                {
                    described.extend(object.fields.into_iter().map(|field| field.node.name.node.to_string()));
                }
            }
            let mut there: Vec<_> = mutations.iter().map(|(name, _)| (*name).to_owned()).collect();
            described.sort();
            there.sort();
            assert_eq!(described, there);
        }
    }
}
