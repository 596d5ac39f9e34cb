// GraphQL against GitHub's public schema: each type, field, argument and value that the forge has, GitHub has, too, with
// the same types. What the forge lacks is no failure: it is refused by its name.
import { buildClientSchema, buildSchema, getIntrospectionQuery, validateSchema } from "graphql";
import { schema as published } from "@octokit/graphql-schema";

/** What GitHub has and the published schema does not have yet. */
const NEWER = ["Issue.issueType", "IssueType"];

/** What `mine` has that `theirs` lacks or has otherwise. */
function differences(mine, theirs) {
  const found = [];
  const tell = (where, what) => NEWER.some((name) => where === name || where.startsWith(`${name}.`)) || found.push(`${where}: ${what}`);
  const inputs = (where, own, other) => {
    for (const input of own) {
      const known = other.find((one) => one.name === input.name);
      if (!known) tell(where, `GitHub has no ${input.name}`);
      else if (`${known.type}` !== `${input.type}`) tell(`${where}.${input.name}`, `${input.type} instead of ${known.type}`);
    }
    for (const one of other) {
      const required = `${one.type}`.endsWith("!") && one.defaultValue === undefined;
      if (required && !own.some((input) => input.name === one.name)) tell(where, `it does not need ${one.name}`);
    }
  };
  for (const type of Object.values(mine.getTypeMap()).filter((type) => !type.name.startsWith("__"))) {
    const other = theirs.getType(type.name);
    if (!other || other.constructor.name !== type.constructor.name) {
      tell(type.name, "GitHub has no such type");
      continue;
    }
    for (const value of type.getValues?.() ?? []) if (!other.getValue(value.name)) tell(type.name, `GitHub has no ${value.name}`);
    for (const member of type.getTypes?.() ?? []) {
      if (!other.getTypes().some((one) => one.name === member.name)) tell(type.name, `GitHub has no ${member.name} in it`);
    }
    for (const role of type.getInterfaces?.() ?? []) {
      if (!other.getInterfaces().some((one) => one.name === role.name)) tell(type.name, `GitHub's is no ${role.name}`);
    }
    const fields = Object.values(type.getFields?.() ?? {});
    if (type.constructor.name === "GraphQLInputObjectType") {
      inputs(type.name, fields, Object.values(other.getFields()));
      continue;
    }
    for (const field of fields) {
      const known = other.getFields()[field.name];
      const where = `${type.name}.${field.name}`;
      if (!known) tell(where, "GitHub has no such field");
      else if (`${known.type}` !== `${field.type}`) tell(where, `${field.type} instead of ${known.type}`);
      else inputs(where, field.args, known.args);
    }
  }
  return found;
}

export async function graphql(session, report) {
  const body = JSON.stringify({ query: getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true }) });
  const url = `${session.forge.serverUrl}/api/graphql`;
  const answer = await (await fetch(url, { method: "POST", headers: { authorization: "Bearer token-of-ada" }, body })).json();
  report.check("GraphQL: the introspection has no errors", answer.errors ? JSON.stringify(answer.errors) : "");
  const mine = buildClientSchema(answer.data);
  const invalid = validateSchema(mine).map((error) => error.message);
  report.check("GraphQL: the schema is valid", invalid.join("; "));
  // The published text defines two fields twice, which is no matter here.
  const theirs = buildSchema(published.idl, { assumeValidSDL: true });
  for (const difference of differences(mine, theirs)) report.check("GraphQL, against GitHub's schema", difference);
  report.check("GraphQL: the schema is a part of GitHub's", "");
}
