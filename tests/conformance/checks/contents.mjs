// Files by their path.
import { repository } from "../lib/seed.mjs";

const base64 = (text) => Buffer.from(text).toString("base64");

export async function contents(session, report) {
  const { at } = await repository(session, "contents");
  const wil = session.as("wil");
  const all = `${at}/contents`;
  const file = `${all}/docs/guide%20one.md`;
  const made = (await wil.put(file, { message: "Add a guide", content: base64("One\n") }, { status: 201 })).body;
  report.same("what it made", [made.content.path, made.commit.message], ["docs/guide one.md", "Add a guide"]);
  report.same("its address names the branch", made.content.url, `${session.forge.apiUrl}${file}?ref=main`);
  const read = (await wil.get(file)).body;
  report.same("it reads back", Buffer.from(read.content, "base64").toString(), "One\n");
  const raw = await session.send("wil", "GET", file, undefined, { accept: "application/vnd.github.raw+json" });
  report.same("its bytes", [raw.status, raw.text], [200, "One\n"]);
  await wil.put(file, { message: "Two", content: base64("Two\n") }, { status: 422 });
  await wil.put(file, { message: "Two", content: base64("Two\n"), sha: "0".repeat(40) }, { status: 409 });
  const next = (await wil.put(file, { message: "Two", content: base64("Two\n"), sha: read.sha, branch: "main" })).body;
  await wil.put(`${all}/x`, { message: "x", content: "!" }, { status: 422 });
  await wil.put(`${all}/x`, { content: base64("x") }, { status: 422 });
  await wil.put(`${all}/x`, { message: "x", content: base64("x"), branch: "none" }, { status: 404 });
  await wil.put(`${all}/.git/config`, { message: "x", content: base64("x") }, { status: 422 });
  report.same("the root", (await wil.get(all)).body.map((entry) => entry.name), ["README.md", "docs"]);
  await wil.get(`${all}/`);
  report.same("a folder", (await wil.get(`${all}/docs?ref=main`)).body.map((entry) => entry.name), ["guide one.md"]);
  await wil.get(`${all}/none`, { status: 404, message: /^Not Found$/ });
  await wil.get(`${all}/README.md?ref=none`, { status: 404 });
  await wil.get(`${at}/readme`);
  const whole = await session.send("wil", "GET", `${all}/docs`, undefined, { accept: "application/vnd.github.object+json" });
  report.same("a folder as an object is described", session.description.wrong("content-tree", whole.body), []);
  report.same("a folder as an object", [whole.body.type, whole.body.entries.length], ["dir", 1]);
  await session.as("ada").post("/user/repos", { name: "unborn" });
  await wil.get("/repos/ada/unborn/commits", { status: 409, message: /^Git Repository is empty\.$/ });
  await wil.put("/repos/ada/unborn/contents/first", { message: "Begin", content: base64("x") }, { status: 201 });
  report.same("an empty repository begins", (await wil.get("/repos/ada/unborn/commits")).body.length, 1);
  const elsewhere = await session.send("wil", "DELETE", file, { message: "Away", sha: next.content.sha, ref: "main" });
  report.check("a write has a branch, and no ref", elsewhere.status === 422 && elsewhere.body.message.includes("`ref`") ? "" : `is ${elsewhere.status}`);
  await wil.delete(file, { message: "Away", sha: "0".repeat(40) }, { status: 409 });
  await wil.delete(file, { message: "Away", sha: next.content.sha }, { status: 200 });
  await wil.delete(file, { message: "Away", sha: next.content.sha }, { status: 404 });
}
