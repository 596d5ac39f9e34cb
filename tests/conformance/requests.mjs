// Holds requests of Hob's to GitHub's OpenAPI description and GraphQL schema: `node requests.mjs FILE`.
//
// Each line of FILE is a JSON object. One with `members` is a kind of call that Hob may make: `method`, `path` with `*` for
// one part and `**` for all that follow, and the names that its body may have. Any other is a request that Hob made:
// `method`, `path` with its query, `accept`, and `body`. `tests/it/github/requests.rs` writes them.
//
// A line `NUMBER METHOD PATH: what is wrong` for each fault, then `N passed, N failed`; the exit code is 1 where any failed.
import { readFileSync } from "node:fs";
import { buildSchema, Kind, parse, validate } from "graphql";
import { getVariableValues } from "graphql/execution/values.js";
import { schema as published } from "@octokit/graphql-schema";
import { find } from "./lib/forge.mjs";
import { Description } from "./lib/description.mjs";

/** <https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types> */
const MEDIA_TYPES = ["", ".raw", ".text", ".html", ".full"].map((form) => `application/vnd.github${form}+json`);

const description = new Description();
// The published text defines two fields twice, which is no matter here.
const graphqlSchema = buildSchema(published.idl, { assumeValidSDL: true });

/** GitHub's links lead to `/repositories/ID`, which its description leaves out: what follows is as below a name. */
const named = (path) => path.replace(/^\/repositories\/\d+/, "/repos/owner/name");

function wrongCall({ method, path, members }) {
  if (path === "/graphql") return [];
  const open = path.includes("/compare/") ? "a...b" : "a/b";
  const operation = find(description.operations, method, path.replace("**", open).replaceAll("*", "a"));
  if (!operation) return ["GitHub has no such operation"];
  const known = description.members(operation);
  return members.filter((member) => !known.has(member)).map((member) => `${operation.name} has no member ${member}`);
}

function wrongQuery({ query, variables, ...others }) {
  const more = Object.keys(others).map((name) => `GraphQL has no member ${name}`);
  let document;
  try {
    document = parse(query);
  } catch (error) {
    return [error.message];
  }
  const wrong = validate(graphqlSchema, document).map((error) => error.message);
  if (wrong.length) return [...more, ...wrong];
  const asked = document.definitions.find((part) => part.kind === Kind.OPERATION_DEFINITION);
  const { errors = [] } = getVariableValues(graphqlSchema, asked.variableDefinitions ?? [], variables ?? {});
  const taken = new Set((asked.variableDefinitions ?? []).map((one) => one.variable.name.value));
  const unknown = Object.keys(variables ?? {}).filter((name) => !taken.has(name));
  return [...more, ...errors.map((error) => error.message), ...unknown.map((name) => `no variable $${name} is declared`)];
}

function wrongRequest({ method, path, accept, body }) {
  const url = new URL(named(path), "https://api.github.com");
  if (url.pathname === "/graphql") return method === "POST" ? wrongQuery(body ?? {}) : ["GraphQL is asked by POST"];
  const operation = find(description.operations, method, url.pathname);
  if (!operation) return ["GitHub has no such operation"];
  const wrong = MEDIA_TYPES.includes(accept) ? [] : [`the media type ${accept} is not one of GitHub's`];
  for (const [name, value] of url.searchParams) wrong.push(...description.wrongParameter(operation, name, value));
  if (body === null) return description.needsBody(operation) ? [...wrong, "the body is missing"] : wrong;
  const known = description.members(operation);
  const unknown = Object.keys(body).filter((member) => !known.has(member));
  wrong.push(...unknown.map((member) => `${operation.name} has no member ${member}`));
  return [...wrong, ...description.wrongRequest(operation, body)];
}

const lines = readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
let failed = 0;
for (const [index, line] of lines.entries()) {
  const wrong = line.members ? wrongCall(line) : wrongRequest(line);
  for (const sentence of wrong) console.log(`${index} ${line.method} ${line.path}: ${sentence}`);
  failed += wrong.length ? 1 : 0;
}
console.log(`${lines.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
