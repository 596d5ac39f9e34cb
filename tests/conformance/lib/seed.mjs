// What checks start from.

/** A repository with one commit on `main`; answers its path and that commit. */
export async function repository(session, name, more = {}) {
  const ada = session.as("ada");
  await ada.post("/user/repos", { name, auto_init: true, ...more }, { anyone: true });
  const at = `/repos/ada/${name}`;
  const head = (await ada.get(`${at}/git/ref/heads/main`)).body.object.sha;
  return { at, head };
}

/** A branch from `head` with one more file; answers its commit. */
export async function branch(session, at, name, head, path = `${name}.txt`, content = `${name}\n`) {
  const wil = session.as("wil");
  const tree = await wil.post(`${at}/git/trees`, {
    base_tree: head,
    tree: [{ path, mode: "100644", type: "blob", content }],
  });
  const commit = await wil.post(`${at}/git/commits`, { message: `Add ${path}`, tree: tree.body.sha, parents: [head] });
  await wil.post(`${at}/git/refs`, { ref: `refs/heads/${name}`, sha: commit.body.sha });
  return commit.body.sha;
}

/** A pull request of a new branch into `main`; answers it. */
export async function pull(session, at, name, head, more = {}) {
  await branch(session, at, name, head, more.path, more.content);
  const body = { title: `Add ${name}`, head: name, base: "main", body: more.body, draft: more.draft };
  return (await session.as("wil").post(`${at}/pulls`, body)).body;
}
