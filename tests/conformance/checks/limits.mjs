// The hour's rate limit, on a forge of its own.
import { start, USERS } from "../lib/forge.mjs";

export async function limits(binary, report) {
  const forge = await start(binary, ["--rate-limit", "3"]);
  const headers = { authorization: `Bearer ${USERS.wil.token}` };
  const ask = async (path) => {
    const answer = await fetch(`${forge.apiUrl}${path}`, { headers });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  try {
    const left = [];
    for (let turn = 0; turn < 3; turn += 1) left.push((await ask("/user")).headers.get("x-ratelimit-remaining"));
    report.same("what is left of the limit", left, ["2", "1", "0"]);
    const over = await ask("/user");
    report.same("over the limit", [over.status, over.headers.get("x-ratelimit-remaining"), over.headers.get("x-ratelimit-used")], [403, "0", "3"]);
    report.check("its message", /^API rate limit exceeded for /.test(over.body.message) ? "" : over.body.message);
    const limit = await ask("/rate_limit");
    report.same("a look at the limit is free", [limit.status, limit.body.rate.remaining, limit.body.resources.core.limit], [200, 0, 3]);
  } finally {
    await forge.stop();
  }
}
