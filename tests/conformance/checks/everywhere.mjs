// What holds for every endpoint alike.
import { find } from "../lib/forge.mjs";
import { APP } from "./apps.mjs";

/** Whatever else GitHub has below an endpoint that takes slashes is called too, or refused by its name: never as a name. */
async function inside(session, report) {
  const plain = (pattern) => pattern.replace(/\{[^}]+\}/g, "{}");
  for (const { method, name, pattern } of session.description.operations) {
    const endpoint = find(session.endpoints, method, pattern);
    if (!endpoint?.pattern.includes("{*") || plain(endpoint.pattern) === plain(pattern) || session.called.has(name)) continue;
    const path = pattern.replace("{owner}", "ada").replace("{repo}", "branches").replace(/\{[^}]+\}/g, "main");
    const answer = await session.send("ada", method, path);
    const named = answer.status === 404 && answer.body.message?.startsWith("the embedded forge has no ");
    report.check(`${name} is not here, as no check calls it`, named ? "" : `is ${answer.status} ${answer.text}`);
  }
}

/** Each parameter and field is obeyed by the forge or refused by its name: never passed over. */
async function unobeyed(session, report) {
  for (const { name, method, operation } of session.description.operations) {
    const sample = session.samples.get(name);
    if (!sample) continue;
    if (method !== "GET") {
      const body = { ...(Array.isArray(sample.body) ? {} : sample.body), no_such_field: 1 };
      const answer = await session.send(sample.login, method, sample.path, body);
      const refused = answer.status === 422 && answer.body.message?.includes("`no_such_field`");
      report.check(`${name} refuses a field that it does not know`, refused ? "" : `is ${answer.status} ${answer.text.slice(0, 200)}`);
      continue;
    }
    const known = session.description.parameters({ operation });
    const strange = await session.send(sample.login, method, `${sample.path}${sample.path.includes("?") ? "&" : "?"}no_such_parameter=1`);
    const refused = strange.status === 422 && strange.body.message?.includes("`no_such_parameter`");
    report.check(`${name} refuses a parameter that it does not know`, refused ? "" : `is ${strange.status} ${strange.text.slice(0, 200)}`);
    const passed = [...known].filter((parameter) => !OBEYED_OR_REFUSED.has(`${name} ${parameter}`) && !PAGES.has(parameter));
    for (const parameter of passed) {
      const answer = await session.send(sample.login, method, `${sample.path.split("?")[0]}?${parameter}=no-such-value`);
      const said = JSON.stringify(answer.body);
      const plain = await session.send(sample.login, method, sample.path.split("?")[0]);
      const same = answer.status === 200 && said === JSON.stringify(plain.body) && !["[]", '{"total_count":0'].some((none) => said.startsWith(none));
      report.check(`${name} does not pass over ${parameter}`, same ? `answers ${parameter}=no-such-value as if it were not there` : "");
    }
  }
}

const PAGES = new Set(["page", "per_page"]);
/** Parameters of which a value that is none means no more than its absence. */
const OBEYED_OR_REFUSED = new Set([
  // A branch without its owner is passed over, as on GitHub.
  "GET /repos/{owner}/{repo}/pulls head",
  // Anything but an absent `recursive` asks for the whole tree, which is the same where there are no folders.
  "GET /repos/{owner}/{repo}/git/trees/{tree_sha} recursive",
]);

/** Every list that GitHub gives in pages was read page by page. */
function paged(session, report) {
  for (const { method, pattern, name, operation } of session.description.operations) {
    if (method !== "GET" || !session.called.has(name) || !operation.responses["200"]?.headers?.Link) continue;
    if (!session.description.parameters({ operation }).has("per_page") || NO_PAGES.has(pattern)) continue;
    report.check(`${name} is read by pages`, session.paged.has(name) ? "" : "no check has two of them; add one");
  }
}

/** Lists of which the forge never has more than one entry. */
const NO_PAGES = new Set(["/app/installations", "/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts"]);

export async function everywhere(session, report) {
  for (const [name, { login, method, path, body }] of session.samples) {
    const operation = find(session.description.operations, method, path.split("?")[0]);
    const refused = await session.send(undefined, method, path, body, { authorization: "Bearer nobodys" });
    const problem = refused.status === 401 && refused.body.message === "Bad credentials" ? "" : `is ${refused.status} ${refused.text}`;
    report.check(`${name} with bad credentials is 401`, problem);
    report.same(`${name} with bad credentials names them`, session.description.wrong("basic-error", refused.body), []);
    if (operation.operation.requestBody) {
      const broken = await session.send(login, method, path, "{");
      const right = broken.status === 400 && broken.body.message === "Problems parsing JSON";
      report.check(`${name} with broken JSON is 400`, right ? "" : `is ${broken.status} ${broken.text}`);
    }
    if (path.startsWith("/repos/") && login !== APP) {
      const hidden = await session.send("out", method, path.replace(/^\/repos\/ada\/[^/?]+/, "/repos/ada/hidden"), body);
      const unseen = hidden.status === 404 && hidden.body.message === "Not Found";
      report.check(`${name} of what is hidden is 404`, unseen ? "" : `is ${hidden.status} ${hidden.text}`);
    }
    // Of GET the HEAD is the same without a body, as HTTP has it.
    if (method === "GET") {
      const head = await session.send(login, "HEAD", path);
      const whole = await session.send(login, "GET", path);
      const same = head.status === whole.status && head.text === "" && head.headers.get("etag") === whole.headers.get("etag");
      report.check(`${name} answers HEAD as GET`, same || path === "/rate_limit" ? "" : `HEAD is ${head.status}, GET is ${whole.status}`);
    }
  }
  await inside(session, report);
  await unobeyed(session, report);
  for (const [method, path] of [["GET", "/nowhere"], ["POST", "/repos/ada/meta/forks"], ["DELETE", "/user"], ["GET", "/search/code"], ["GET", "/issues"]]) {
    const answer = await session.send("ada", method, `${path}?x=1`);
    const named = answer.status === 404 && answer.body.message?.includes(`${method} `) && answer.body.message.includes(path);
    report.check(`${method} ${path} is not here and named`, named ? "" : `is ${answer.status} ${answer.text}`);
  }
  paged(session, report);
  for (const scheme of ["token", "bearer"]) {
    const answer = await session.send(undefined, "GET", "/user", undefined, { authorization: `${scheme} token-of-wil` });
    report.same(`the scheme ${scheme} signs in`, answer.body.login, "wil");
  }
  const basic = `Basic ${Buffer.from("x:token-of-wil").toString("base64")}`;
  report.same("a password signs in", (await session.send(undefined, "GET", "/user", undefined, { authorization: basic })).body.login, "wil");
}
