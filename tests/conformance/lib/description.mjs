// GitHub's OpenAPI description, as something to check answers with.
//
// The description is OpenAPI 3.0, whose schemas are close to JSON Schema but not it: `nullable` has no meaning there, and
// what stands beside a `$ref` has none here. `schema` turns the one into the other and keeps every constraint.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import formats from "ajv-formats";
import { UNDOCUMENTED } from "./exceptions.mjs";
import { matcher } from "./forge.mjs";

const FILE = createRequire(import.meta.url).resolve("@octokit/openapi/generated/api.github.com.json");

/** Keywords that constrain nothing. Any other one that is not converted below ends the run: nothing is skipped unseen. */
const REMARKS = new Set(
  "title description default example examples deprecated readOnly discriminator externalDocs xml".split(" "),
);
const KEPT = new Set(
  ("type required enum format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern " +
    "minItems maxItems uniqueItems minProperties maxProperties").split(" "),
);
/** Parts of a path that may hold slashes, by GitHub's documentation of them. */
const WITH_SLASHES = new Set(["path", "ref", "branch", "basehead", "dir"]);
/** Where the last part may be left out: the root of the tree, all refs. */
const LEFT_OUT = new Set(["/repos/{owner}/{repo}/contents/{path}", "/repos/{owner}/{repo}/git/matching-refs/{ref}"]);

export class Description {
  #api = JSON.parse(readFileSync(FILE, "utf8"));
  #ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, strictTuples: false, allErrors: true });
  #known = new Set();
  #compiled = new Map();
  /** The exceptions that an answer needed. */
  used = new Set();

  constructor() {
    formats(this.#ajv);
    // GitHub's own: a repository's name with its owner.
    this.#ajv.addFormat("repo.nwo", /^[\w.-]+\/[\w.-]+$/);
    this.version = this.#api.info.version;
    // `{base}...{head}` is an older form of `{basehead}`, which Octokit adds for its own sake.
    const paths = Object.entries(this.#api.paths).filter(([pattern]) => !pattern.includes("..."));
    this.operations = paths.flatMap(([pattern, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.operationId)
        .map(([method, operation]) => ({
          name: `${method.toUpperCase()} ${pattern}`,
          method: method.toUpperCase(),
          pattern,
          operation,
          ...matcher(pattern, (name) => WITH_SLASHES.has(name), LEFT_OUT.has(pattern)),
        })),
    );
  }

  /** What the operation says of an answer with this status; nothing where it says nothing. */
  response(operation, status) {
    const said = operation.operation.responses[String(status)];
    return said && this.#resolve(said);
  }

  /** What is wrong with `body` as an answer: a list of sentences, empty where nothing is. */
  wrongAnswer(operation, status, mediaType, body) {
    const response = this.response(operation, status);
    const content = response.content?.[mediaType];
    if (!content) return [`media type ${mediaType} is not among ${Object.keys(response.content ?? {}).join(", ") || "none"}`];
    if (!content.schema) return [];
    const wrong = this.#check(`${operation.name} ${status} ${mediaType}`, content.schema, body);
    return wrong.length ? wrong : this.#undocumented([content.schema], body, "");
  }

  /** The names of the parameters that the operation's query can have. */
  parameters(operation) {
    const all = (operation.operation.parameters ?? []).map((parameter) => this.#resolve(parameter));
    return new Set(all.filter((parameter) => parameter.in === "query").map((parameter) => parameter.name));
  }

  /** What is wrong with the text `value` as the parameter `name` of the operation's query. */
  wrongParameter(operation, name, value) {
    const all = (operation.operation.parameters ?? []).map((parameter) => this.#resolve(parameter));
    const known = all.find((parameter) => parameter.in === "query" && parameter.name === name);
    if (!known) return [`${operation.name} has no parameter ${name}`];
    const type = this.#resolve(known.schema).type;
    const read = type === "integer" && /^\d+$/.test(value) ? Number(value) : type === "boolean" ? value === "true" : value;
    const wrong = this.#check(`${operation.name} ?${name}`, known.schema, read);
    return wrong.map((sentence) => `${name}: ${sentence}`);
  }

  /** The names that the members of the operation's body can have. */
  members(operation) {
    const content = operation.operation.requestBody && this.#resolve(operation.operation.requestBody).content;
    const schema = content?.["application/json"]?.schema;
    const all = schema ? this.#alternatives(schema) : [];
    return new Set(all.flatMap((one) => Object.keys(one.properties ?? {})));
  }

  /** Whether the operation has to have a body. */
  needsBody(operation) {
    const body = operation.operation.requestBody && this.#resolve(operation.operation.requestBody);
    return body?.required === true;
  }

  /** What is wrong with `body` as a request. */
  wrongRequest(operation, body) {
    const content = operation.operation.requestBody && this.#resolve(operation.operation.requestBody).content;
    const schema = content?.["application/json"]?.schema;
    return schema ? this.#check(`${operation.name} request`, schema, body) : [];
  }

  /** What is wrong with `body` as the payload of this webhook; nothing where the description has no such webhook. */
  wrongPayload(event, action, body) {
    const name = [event, action].filter(Boolean).join("-").replaceAll("_", "-");
    const webhook = this.#api["x-webhooks"][name];
    if (!webhook) return undefined;
    return this.#check(`webhook ${name}`, webhook.post.requestBody.content["application/json"].schema, body);
  }

  /** What is wrong with `body` as one of the description's own schemas. */
  wrong(name, body) {
    const schema = { $ref: `#/components/schemas/${name}` };
    const wrong = this.#check(`schema ${name}`, schema, body);
    return wrong.length ? wrong : this.#undocumented([schema], body, "");
  }

  #check(key, schema, body) {
    let validate = this.#compiled.get(key);
    if (!validate) {
      validate = this.#ajv.compile(this.#convert(schema));
      this.#compiled.set(key, validate);
    }
    if (validate(body)) return [];
    // Of alternatives that do not fit each says why: what stands deepest in the body tells most, and goes first.
    const depth = (error) => error.instancePath.split("/").length;
    return validate.errors.sort((a, b) => depth(b) - depth(a)).map((error) => {
      const value = error.instancePath.split("/").slice(1).reduce((at, key) => at?.[key.replace(/~1/g, "/")], body);
      // More than one of `oneOf` is the description's own ambiguity, told apart from none.
      if (error.params.passingSchemas) return `${error.instancePath || "the body"} fits several alternatives`;
      const more = error.params.allowedValues ? ` (${error.params.allowedValues.join(", ")})` : "";
      return `${error.instancePath || "the body"} ${error.message}${more}, is ${JSON.stringify(value)?.slice(0, 100)}`;
    });
  }

  /** The fields of `value` that none of these schemas, nor an alternative in them, knows. */
  #undocumented(schemas, value, path) {
    const all = schemas.flatMap((schema) => this.#alternatives(schema));
    if (Array.isArray(value)) {
      const items = all.flatMap((schema) => schema.items ?? []);
      return items.length ? value.flatMap((each, index) => this.#undocumented(items, each, `${path}/${index}`)) : [];
    }
    const open = all.some((schema) => schema.additionalProperties) || !all.some((schema) => schema.properties);
    if (typeof value !== "object" || value === null || open) return [];
    return Object.entries(value).flatMap(([name, each]) => {
      const known = all.flatMap((schema) => schema.properties?.[name] ?? []);
      if (known.length) return this.#undocumented(known, each, `${path}/${name}`);
      const excuse = UNDOCUMENTED.find((entry) => entry.field.test(`${path}/${name}`));
      if (excuse) this.used.add(excuse);
      return excuse ? [] : [`${path}/${name} is not documented`];
    });
  }

  /** A schema and all that it is made of or may be. */
  #alternatives(schema) {
    const own = this.#resolve(schema);
    const more = [own.oneOf, own.anyOf, own.allOf].flatMap((each) => each ?? []);
    return [own, ...more.flatMap((each) => this.#alternatives(each))];
  }

  /** An OpenAPI 3.0 schema as JSON Schema. */
  #convert(schema) {
    // Beside a reference nothing counts, by OpenAPI 3.0.
    if (schema.$ref) return { $ref: this.#register(schema.$ref) };
    const made = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (KEPT.has(keyword)) made[keyword] = value;
      else if (["oneOf", "anyOf", "allOf"].includes(keyword)) made[keyword] = value.map((each) => this.#convert(each));
      else if (keyword === "items" || keyword === "not") made[keyword] = this.#convert(value);
      else if (keyword === "additionalProperties")
        made[keyword] = typeof value === "object" ? this.#convert(value) : value;
      else if (keyword === "properties")
        made[keyword] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.#convert(each)]));
      else if (keyword !== "nullable" && !REMARKS.has(keyword) && !keyword.startsWith("x-"))
        throw new Error(`the description uses ${keyword}, which this test does not know`);
    }
    // An enumeration without `null` still admits it where the schema is nullable.
    return schema.nullable ? { anyOf: [{ type: "null" }, made] } : made;
  }

  /** Gives the schema that a reference names to the validator, and answers the name it has there. */
  #register(reference) {
    const name = `github:${reference.split("/").slice(2).join("/")}`;
    if (!this.#known.has(name)) {
      this.#known.add(name);
      this.#ajv.addSchema(this.#convert(this.#follow(reference)), name);
    }
    return name;
  }

  #resolve(object) {
    return object.$ref ? this.#follow(object.$ref) : object;
  }

  #follow(reference) {
    return reference.split("/").slice(1).reduce((at, key) => at[key], this.#api);
  }
}
