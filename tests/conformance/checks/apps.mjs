// GitHub Apps: a signed JSON web token, and the tokens it gets.
import { createSign, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The name that the App itself speaks under. */
export const APP = "the app";
const [ID, INSTALLATION] = [7, 70];
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const folder = mkdtempSync(join(tmpdir(), "hob-conformance-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "app.pem");
writeFileSync(file, publicKey.export({ type: "spki", format: "pem" }));

/** How the forge is told of the App. */
export const APP_FLAGS = ["--app", `${ID}:${INSTALLATION}:helper:write:${file}`];

/** A JSON web token of the App, with these claims in place of the right ones. */
function jwt(claims = {}) {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: now - 30, exp: now + 300, iss: String(ID), ...claims })}`;
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(privateKey, "base64url")}`;
}

export async function apps(session, report) {
  session.admit(APP, jwt());
  const app = session.as(APP);
  const unsigned = /^A JSON web token could not be decoded$/;
  report.same("who the App is", (await app.get("/app")).body.slug, "helper");
  await session.as("wil").get("/app", { status: 401, message: unsigned });
  report.same("its installations", (await app.get("/app/installations")).body.map((each) => each.id), [INSTALLATION]);
  await app.get(`/app/installations/${INSTALLATION}`);
  await app.get("/app/installations/1", { status: 404 });
  const hidden = (await app.get("/repos/ada/hidden/installation")).body;
  report.same("the installation of a repository", [hidden.id, hidden.app_id], [INSTALLATION, ID]);
  await app.get("/repos/ada/none/installation", { status: 404 });
  const tokens = `/app/installations/${INSTALLATION}/access_tokens`;
  const { token, expires_at } = (await app.post(tokens, {}, { anyone: true, unsigned })).body;
  const minutes = (Date.parse(expires_at) - Date.now()) / 60_000;
  report.check("its token is good for an hour", minutes > 58 && minutes < 61 ? "" : `is good for ${minutes} minutes`);
  await app.post("/app/installations/1/access_tokens", {}, { status: 404 });

  const narrow = { repositories: ["meta"], permissions: { issues: "read" } };
  const less = (await app.post(tokens, narrow, { anyone: true, unsigned })).body;
  report.same("a narrow token", [less.repository_selection, less.permissions, less.repositories.map((each) => each.name)], ["selected", { issues: "read", metadata: "read" }, ["meta"]]);
  await app.post(tokens, { permissions: { administration: "write" } }, { status: 422 });
  await app.post(tokens, { repositories: ["none"] }, { status: 422 });
  session.admit("reader", less.token);
  const reader = session.as("reader");
  await reader.get("/repos/ada/meta/issues");
  await reader.get("/repos/ada/hidden", { status: 404 });
  await reader.post("/repos/ada/meta/issues", { title: "x" }, { status: 403, message: /^Resource not accessible by integration$/ });
  await reader.get("/user", { status: 403, message: /^Resource not accessible by integration$/ });

  session.admit("helper[bot]", token);
  const helper = session.as("helper[bot]");
  await helper.get("/installation/repositories");
  const issue = (await helper.post("/repos/ada/meta/issues", { title: "By an App" }, { anyone: true })).body;
  report.same("an App's account", [issue.user.login, issue.user.type], ["helper[bot]", "Bot"]);
  const now = Math.floor(Date.now() / 1_000);
  const refused = { old: { iat: now - 900, exp: now - 300 }, far: { exp: now + 3_600 }, early: { iat: now + 600 }, other: { iss: "8" } };
  for (const [why, claims] of Object.entries(refused)) {
    session.admit(why, jwt(claims));
    await session.as(why).get("/app", { status: 401 });
  }
}
