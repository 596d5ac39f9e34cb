// Git's objects.
import { repository } from "../lib/seed.mjs";

const NONE = "0123456789012345678901234567890123456789";

export async function objects(session, report) {
  const { at, head } = await repository(session, "objects");
  const wil = session.as("wil");
  const git = `${at}/git`;

  const blob = (await wil.post(`${git}/blobs`, { content: "Hello\n", encoding: "utf-8" })).body;
  report.same("git's own name of it", blob.sha, "e965047ad7c57865823c7d992b1d046ea66edf78");
  await wil.post(`${git}/blobs`, { content: "AAECAwQ=", encoding: "base64" });
  await wil.post(`${git}/blobs`, { content: "!", encoding: "base64" }, { status: 422 });
  const read = (await wil.get(`${git}/blobs/${blob.sha}`)).body;
  report.same("its content", Buffer.from(read.content, "base64").toString(), "Hello\n");
  await wil.get(`${git}/blobs/${NONE}`, { status: 404 });

  const entries = [
    { path: "hello.txt", mode: "100644", type: "blob", sha: blob.sha },
    { path: "bin/run", mode: "100755", type: "blob", content: "#!/bin/sh\n" },
  ];
  const tree = (await wil.post(`${git}/trees`, { base_tree: head, tree: entries })).body;
  report.same("its entries", tree.tree.map((entry) => entry.path), ["README.md", "bin", "hello.txt"]);
  await wil.get(`${git}/trees/${tree.sha}`);
  await wil.get(`${git}/trees/main`);
  const deep = (await wil.get(`${git}/trees/${tree.sha}?recursive=1`)).body;
  report.same("all that is in it", deep.tree.map((entry) => entry.path), ["README.md", "bin", "bin/run", "hello.txt"]);
  const without = (await wil.post(`${git}/trees`, { base_tree: tree.sha, tree: [{ path: "hello.txt", mode: "100644", type: "blob", sha: null }] })).body;
  report.same("an entry without an object goes", without.tree.map((entry) => entry.path), ["README.md", "bin"]);
  await wil.post(`${git}/trees`, { tree: [{ path: "x", mode: "100644", type: "blob", sha: NONE }] }, { status: 422 });
  await wil.post(`${git}/trees`, { tree: [{ path: "../x", mode: "100644", type: "blob", content: "x" }] }, { status: 422 });
  await wil.get(`${git}/trees/${NONE}`, { status: 404 });

  const author = { name: "Ada", email: "ada@example.com", date: "2026-01-02T03:04:05Z" };
  const commit = (await wil.post(`${git}/commits`, { message: "Say hello\n\nAt last.", tree: tree.sha, parents: [head], author })).body;
  report.same("its author is who was named", [commit.author, commit.committer], [author, author]);
  const again = (await wil.get(`${git}/commits/${commit.sha}`)).body;
  report.same("it reads back", [again.message, again.parents[0].sha], ["Say hello\n\nAt last.", head]);
  await wil.get(`${git}/commits/${NONE}`, { status: 404 });
  await wil.post(`${git}/commits`, { message: "x", tree: NONE }, { status: 422 });
  await wil.post(`${git}/commits`, { message: "x", tree: tree.sha, parents: [NONE] }, { status: 422 });
  await wil.post(`${git}/commits`, { message: "x" }, { status: 422, errors: [["Commit", "tree", "missing_field"]] });

  const tag = (await wil.post(`${git}/tags`, { tag: "v1", message: "The first", object: commit.sha, type: "commit", tagger: author })).body;
  await wil.get(`${git}/tags/${tag.sha}`);
  await wil.get(`${git}/tags/${NONE}`, { status: 404 });
  await wil.post(`${git}/tags`, { tag: "v2", message: "x", object: NONE, type: "commit" }, { status: 422 });
}
