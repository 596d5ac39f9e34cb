// Sends requests to the forge and checks every answer against GitHub's description and documentation.
import { find, USERS } from "./forge.mjs";
import { ANSWERS, ANYWHERE, HEADERS, MEDIA_TYPES, UNDOCUMENTED } from "./exceptions.mjs";
import { clip } from "./report.mjs";

const USUAL = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };
/** Headers that every answer of GitHub's API has, and how each looks. */
const ALWAYS = {
  "x-ratelimit-limit": /^\d+$/,
  "x-ratelimit-remaining": /^\d+$/,
  "x-ratelimit-used": /^\d+$/,
  "x-ratelimit-reset": /^\d{10}$/,
  "x-ratelimit-resource": /^(core|search)$/,
  "x-github-request-id": /^[0-9A-F]+(:[0-9A-F]+)+$/,
  "x-github-media-type": /^github\.v3; (format=json|param=\w+)/,
  vary: /Accept, Authorization/,
  date: /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
};

export class Session {
  /** Endpoints of the forge, and operations of GitHub's, that were answered with success. */
  called = new Set();
  /** Operations whose lists were read page by page. */
  paged = new Set();
  /** What was sent to each operation first, to send it again in other ways. */
  samples = new Map();
  #conditional = new Set();
  #refused = new Set();
  #used = new Set();
  #tokens = new Map(Object.entries(USERS).map(([login, { token }]) => [login, token]));

  constructor({ forge, endpoints, description, report }) {
    Object.assign(this, { forge, endpoints, description, report });
  }

  /** Lets `as` speak with this token under a name of its own. */
  admit(name, token) {
    this.#tokens.set(name, token);
  }

  /** Begins the hour of the rate limit again: who is not signed in has 60 requests. A snapshot that is brought back does. */
  async anew() {
    const at = `${this.forge.serverUrl}/_forge/snapshots/same`;
    await this.send("ada", "PUT", at);
    await this.send("ada", "POST", `${at}/restore`);
  }

  /** Requests as this account: `wil.get(path, options)`, and so on. */
  as(login) {
    const send = (method) => (path, ...rest) => {
      const [body, options] = ["GET", "HEAD"].includes(method) ? [undefined, ...rest] : rest;
      return this.#checked(login, method, path, body, options ?? {});
    };
    return { get: send("GET"), post: send("POST"), put: send("PUT"), patch: send("PATCH"), delete: send("DELETE") };
  }

  /** One request as it is, unchecked. Without an account it is anonymous; `headers` goes before all else. */
  async send(login, method, path, body, headers = {}) {
    const sent = { accept: "application/vnd.github+json", "user-agent": "conformance", ...headers };
    if (login && !sent.authorization) sent.authorization = `Bearer ${this.#tokens.get(login)}`;
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const url = path.startsWith("http") ? path : `${this.forge.apiUrl}${path}`;
    const response = await fetch(url, { method, headers: sent, body: text, redirect: "manual" });
    const bytes = await response.text();
    const [mediaType] = (response.headers.get("content-type") ?? "").split(";");
    const json = mediaType === "application/json";
    return { status: response.status, headers: response.headers, mediaType, text: bytes, body: json ? parse(bytes) : bytes };
  }

  /** The entries of the exceptions that no answer needed. */
  unusedExceptions() {
    const used = (entry) => this.#used.has(entry) || this.description.used.has(entry);
    return [...MEDIA_TYPES, ...HEADERS, ...ANSWERS, ...UNDOCUMENTED].filter((entry) => !used(entry));
  }

  async #checked(login, method, path, body, options) {
    const plain = path.split("?")[0];
    const status = options.status ?? USUAL[method];
    const endpoint = find(this.endpoints, method, plain);
    const operation = find(this.description.operations, method, plain);
    if (!endpoint || !operation) throw new Error(`${method} ${path} is not the forge's and GitHub's: ${endpoint?.name}, ${operation?.name}`);
    const name = `${login ?? "anonymous"}: ${method} ${path} ${status}`;
    if (status < 400) {
      this.#asDescribed(operation, path, body);
      if (!this.samples.has(operation.name)) this.samples.set(operation.name, { login, method, path, body });
      if (method !== "GET") await this.#refusals(operation, method, path, body, options);
    }
    const answer = await this.send(login, method, path, body, options.headers);
    this.#answer(name, operation, status, answer, options);
    if (answer.status === status && status < 400) {
      this.called.add(endpoint.name).add(operation.name);
      if (method === "GET" && status === 200) {
        await this.#unchanged(login, operation, path, answer, options);
        await this.#pages(login, operation, path, answer);
      }
    }
    return answer;
  }

  /** Ends the run where this test itself sends what GitHub does not know. */
  #asDescribed(operation, path, body) {
    const wrong = body === undefined ? [] : this.description.wrongRequest(operation, body);
    const known = this.description.parameters(operation);
    for (const name of new URL(path, "http://x").searchParams.keys()) if (!known.has(name)) wrong.push(`no parameter ${name}`);
    if (wrong.length) throw new Error(`this test sends ${operation.name} wrongly: ${wrong.join("; ")}`);
  }

  #answer(name, operation, status, answer, options) {
    const { report, description } = this;
    const detail = () => (answer.status >= 400 ? ` (${clip(answer.text)})` : "");
    if (!report.check(`${name} status`, answer.status === status ? "" : `is ${answer.status}${detail()}`)) return;
    const described = description.response(operation, status);
    const known = described || ANYWHERE[status];
    report.check(`${name} is documented`, known ? "" : `${operation.name} has no ${status}`);
    report.check(`${name} headers`, this.#headers(operation, described, answer, status));
    if (status === 204 || status === 302 || status === 304) {
      report.check(`${name} is empty`, answer.text === "" && !answer.mediaType ? "" : `has ${clip(answer.text)}`);
    } else {
      report.check(`${name} body`, this.#body(operation, described, status, answer).slice(0, 4).join("; "));
    }
    if (options.message) {
      const said = answer.body?.message;
      report.check(`${name} message`, options.message.test(said) ? "" : `is ${said}, should match ${options.message}`);
    }
    if (options.errors) {
      const said = answer.body?.errors?.map(({ resource, field, code }) => [resource, field, code]);
      report.same(`${name} errors`, said, options.errors);
    }
  }

  #headers(operation, described, answer, status) {
    const wrong = Object.entries(ALWAYS)
      .filter(([name, form]) => !form.test(answer.headers.get(name) ?? ""))
      .map(([name]) => `${name} is ${answer.headers.get(name)}`);
    const has = (name) => answer.headers.has(name);
    const search = operation.pattern.startsWith("/search/");
    if ((answer.headers.get("x-ratelimit-resource") === "search") !== search) wrong.push("it counts against another limit");
    if (answer.mediaType === "application/json" && answer.headers.get("content-type") !== "application/json; charset=utf-8")
      wrong.push(`content-type is ${answer.headers.get("content-type")}`);
    const excuse = HEADERS.find((entry) => entry.operation === operation.name && described?.headers?.[entry.header]);
    if (excuse) this.#used.add(excuse);
    if (described?.headers?.Location && excuse?.header !== "Location") {
      const location = answer.headers.get("location");
      // What leads elsewhere leads out of the API.
      const below = status === 302 ? this.forge.serverUrl : this.forge.apiUrl;
      if (!location?.startsWith(below)) wrong.push(`location is ${location}`);
      else if (status === 201 && location !== answer.body?.url) wrong.push(`location is ${location}, url is ${answer.body?.url}`);
    }
    const links = described?.headers?.Link;
    if (has("link") && !links) wrong.push("there is a link, and no pages are documented");
    return wrong.join("; ");
  }

  #body(operation, described, status, answer) {
    const { description } = this;
    if (status < 400) {
      const fits = (entry) => entry.operation === operation.name && entry.mediaType === answer.mediaType;
      const exception = MEDIA_TYPES.find(fits);
      if (exception) this.#used.add(exception);
      if (exception) return [];
      return this.#excused(operation, status, description.wrongAnswer(operation, status, answer.mediaType, answer.body));
    }
    // Required of no error by the description, and in every one of GitHub's.
    const wrong = [];
    if (!answer.body?.message) wrong.push("there is no message");
    if (!answer.body?.documentation_url?.startsWith("https://docs.github.com/rest")) wrong.push("there is no documentation_url");
    if (answer.body?.status !== String(status)) wrong.push(`status is ${answer.body?.status}`);
    const own = described?.content
      ? description.wrongAnswer(operation, status, answer.mediaType, answer.body)
      : description.wrong(answer.body?.errors ? "validation-error" : "basic-error", answer.body);
    return [...wrong, ...this.#excused(operation, status, own)];
  }

  #excused(operation, status, wrong) {
    return wrong.filter((sentence) => {
      const excuse = ANSWERS.find(
        (entry) => entry.operation === operation.name && entry.status === status && entry.wrong.test(sentence),
      );
      if (excuse) this.#used.add(excuse);
      return !excuse;
    });
  }

  /** The same request with the answer's tag is answered 304, for nothing; for another account it is not. */
  async #unchanged(login, operation, path, answer, options) {
    if (this.#conditional.has(operation.name) || !login) return;
    this.#conditional.add(operation.name);
    const { report } = this;
    const [name, tag] = [`${login}: GET ${path}`, answer.headers.get("etag")];
    report.check(`${name} etag`, /^(W\/)?"[^"]+"$/.test(tag ?? "") ? "" : `is ${tag}`);
    const headers = { ...options.headers, "if-none-match": tag ?? '""' };
    if (operation.pattern === "/rate_limit") return;
    const limit = await this.send(login, "GET", "/rate_limit");
    // The headers are those of the core, also where an App signs for itself.
    const core = Number(limit.headers.get("x-ratelimit-used"));
    const before = operation.pattern.startsWith("/search/") ? limit.body.resources.search.used : core;
    const again = await this.send(login, "GET", path, undefined, headers);
    const problem = again.status !== 304 ? `is ${again.status}` : again.text !== "" ? "has a body" : "";
    report.check(`${name} with its tag is 304 and empty`, problem);
    report.same(`${name} 304 has the same etag`, again.headers.get("etag"), tag);
    report.same(`${name} 304 costs nothing`, Number(again.headers.get("x-ratelimit-used")), before);
    const other = login === "ada" ? "max" : "ada";
    const theirs = await this.send(other, "GET", path, undefined, headers);
    report.check(`${name} tag is no other account's`, theirs.status === 304 ? "is 304" : "");
  }

  /** A list read one by one is the whole list, and its links lead through it. */
  async #pages(login, operation, path, answer) {
    const list = items(answer.body);
    const described = this.description.response(operation, 200).headers?.Link && this.description.parameters(operation).has("per_page");
    if (!described || !list || this.paged.has(operation.name) || list.length < 2 || /per_page|page=/.test(path)) return;
    this.paged.add(operation.name);
    const { report } = this;
    const name = `${login}: GET ${path} by pages`;
    report.check(`${name} has no link where one page is all`, answer.headers.has("link") ? answer.headers.get("link") : "");
    let next = `${this.forge.apiUrl}${path}${path.includes("?") ? "&" : "?"}per_page=1`;
    const found = [];
    let last;
    while (next && found.length <= list.length) {
      const page = await this.send(login, "GET", next);
      const links = relations(page.headers.get("link"));
      found.push(...(items(page.body) ?? []));
      const first = found.length === 1;
      const expected = first ? ["next", "last"] : links.next ? ["prev", "next", "last", "first"] : ["prev", "first"];
      report.same(`${name} ${next} relations`, Object.keys(links).sort(), expected.sort());
      last ??= links.last;
      report.check(`${name} ${next} keeps the size`, Object.values(links).every((link) => /[?&]per_page=1(&|$)/.test(link)) ? "" : page.headers.get("link"));
      if (!links.next) report.same(`${name} ends where it said`, next, last);
      next = links.next;
    }
    report.same(`${name} is the whole list`, found, list);
    const beyond = await this.send(login, "GET", `${path}${path.includes("?") ? "&" : "?"}per_page=100&page=9`);
    report.same(`${name} has nothing beyond its end`, items(beyond.body), []);
  }

  /** A write is refused to who is not signed in and to who has no right to it; and changes nothing then. */
  async #refusals(operation, method, path, body, options) {
    if (this.#refused.has(operation.name)) return;
    this.#refused.add(operation.name);
    const refuse = async (login, status, message) => {
      const answer = await this.send(login, method, path, body, options.headers);
      this.#answer(`${login ?? "anonymous"}: ${method} ${path} ${status}`, operation, status, answer, { message });
    };
    await refuse(undefined, 401, options.unsigned ?? /^Requires authentication$/);
    if (options.anyone) return;
    await refuse("rea", 403, options.refused?.rea ?? /^Must have .+ Repository\.$/);
    await refuse("low[bot]", 403, /^Resource not accessible by integration$/);
  }
}

/** The relations of a `Link` header and where they lead. */
export function relations(header) {
  const found = [...(header ?? "").matchAll(/<([^>]+)>; rel="(\w+)"/g)];
  return Object.fromEntries(found.map(([, url, relation]) => [relation, url]));
}

function items(body) {
  if (Array.isArray(body)) return body;
  return Object.values(body ?? {}).find(Array.isArray);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
