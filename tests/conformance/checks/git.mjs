// Git itself, over HTTP: clone, push, and a push refused.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { USERS } from "../lib/forge.mjs";
import { repository } from "../lib/seed.mjs";

export async function git(session, report) {
  const { at } = await repository(session, "git");
  const folder = mkdtempSync(join(tmpdir(), "hob-conformance-"));
  const address = (login, name = "git") => {
    const url = new URL(`/ada/${name}.git`, session.forge.serverUrl);
    if (login) [url.username, url.password] = ["x-access-token", USERS[login].token];
    return url.href;
  };
  const run = (...words) =>
    new Promise((resolve) => {
      const env = {
        ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C",
        GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@example.com", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@example.com",
      };
      execFile("git", words, { env, cwd: folder, timeout: 30_000 }, (error, out, said) => resolve({ ok: !error, out: out.trim(), said }));
    });
  const works = async (name, ...words) => {
    const done = await run(...words);
    report.check(`git: ${name}`, done.ok ? "" : done.said);
    return done.out;
  };
  const refused = async (name, why, ...words) => {
    const done = await run(...words);
    report.check(`git: ${name}`, done.ok ? "was allowed" : why.test(done.said) ? "" : `says ${done.said}`);
  };
  try {
    await works("a writer clones", "clone", "-q", address("wil"), "wil");
    await works("nobody in particular clones what is public", "clone", "-q", address(), "anyone");
    await works("a shallow clone", "clone", "-q", "--depth=1", address("rea"), "shallow");
    await works("a clone without blobs", "clone", "-q", "--filter=blob:none", address("rea"), "partial");
    writeFileSync(join(folder, "wil", "pushed.txt"), "By git.\n");
    await works("add", "-C", "wil", "add", ".");
    await works("commit", "-C", "wil", "commit", "-qm", "Push me");
    const sha = await works("its name", "-C", "wil", "rev-parse", "HEAD");
    await works("a writer pushes", "-C", "wil", "push", "-q", "origin", "HEAD:refs/heads/pushed", "HEAD:refs/hob/issues/7");
    const branch = (await session.as("wil").get(`${at}/branches/pushed`)).body;
    report.same("the API sees what was pushed", branch.commit.sha, sha);
    report.same("and a ref of another kind", (await session.as("wil").get(`${at}/git/ref/hob/issues/7`)).body.object.sha, sha);
    const lease = (tip) => ["-C", "wil", "push", "-q", `--force-with-lease=pushed:${tip}`, "origin", "HEAD~:refs/heads/pushed"];
    await refused("a push with a stale lease", /stale info/, ...lease(branch.commit.parents[0].sha));
    await works("a push with the right lease", ...lease(sha));
    await refused("a push that is no fast-forward", /rejected/, "-C", "wil", "push", "origin", "HEAD~:refs/hob/issues/7");
    await refused("a reader's push", /403|denied/i, "-C", "wil", "push", address("rea"), "HEAD:refs/heads/reader");
    await refused("a push by nobody", /Authentication failed|could not read Username/i, "-C", "wil", "push", address(), "HEAD:refs/heads/nobody");
    await refused("a clone of what is hidden", /not found/i, "clone", "-q", address("out", "hidden"), "hidden");
    await works("a clone of what is one's own", "clone", "-q", address("ada", "hidden"), "own");
    report.check("git: no branch was left by who may not", (await session.send("wil", "GET", `${at}/branches/reader`)).status === 404 ? "" : "there is one");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
