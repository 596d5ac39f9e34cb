// What holds for every endpoint alike.
import { find } from "../lib/forge.mjs";
import { APP } from "./apps.mjs";

/** Whatever else GitHub has below an endpoint that takes slashes is called too, or answered 501: never as a name. */
async function inside(session, report) {
  const plain = (pattern) => pattern.replace(/\{[^}]+\}/g, "{}");
  for (const { method, name, pattern } of session.description.operations) {
    const endpoint = find(session.endpoints, method, pattern);
    if (!endpoint?.pattern.includes("{*") || plain(endpoint.pattern) === plain(pattern) || session.called.has(name)) continue;
    const path = pattern.replace("{owner}", "ada").replace("{repo}", "branches").replace(/\{[^}]+\}/g, "main");
    const answer = await session.send("ada", method, path);
    report.check(`${name} is 501, as no check calls it`, answer.status === 501 ? "" : `is ${answer.status} ${answer.text}`);
  }
}

/** Every list that GitHub gives in pages was read page by page. */
function paged(session, report) {
  for (const { method, pattern, name, operation } of session.description.operations) {
    if (method !== "GET" || !session.called.has(name) || !operation.responses["200"]?.headers?.Link) continue;
    if (!session.description.parameters({ operation }).has("per_page") || NO_PAGES.has(pattern)) continue;
    report.check(`${name} is read by pages`, session.paged.has(name) ? "" : "no check has two of them; add one");
  }
}

/** Lists of which the forge never has more than one entry. */
const NO_PAGES = new Set(["/app/installations"]);

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
  for (const [method, path] of [["GET", "/nowhere"], ["POST", "/repos/ada/meta/forks"], ["DELETE", "/repos/ada/meta"], ["GET", "/search/issues"]]) {
    const answer = await session.send("ada", method, `${path}?x=1`);
    const named = answer.status === 501 && answer.body.message?.includes(`${method} `) && answer.body.message.includes(path);
    report.check(`${method} ${path} is 501 and named`, named ? "" : `is ${answer.status} ${answer.text}`);
  }
  paged(session, report);
  for (const scheme of ["token", "bearer"]) {
    const answer = await session.send(undefined, "GET", "/user", undefined, { authorization: `${scheme} token-of-wil` });
    report.same(`the scheme ${scheme} signs in`, answer.body.login, "wil");
  }
  const basic = `Basic ${Buffer.from("x:token-of-wil").toString("base64")}`;
  report.same("a password signs in", (await session.send(undefined, "GET", "/user", undefined, { authorization: basic })).body.login, "wil");
}
