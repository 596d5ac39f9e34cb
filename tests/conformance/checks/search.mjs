// Searches: issues with pull requests, and labels. They have a limit of their own, 30 a minute.
import { pull, repository } from "../lib/seed.mjs";

export async function search(session, report) {
  const { at, head } = await repository(session, "search");
  const [wil, max] = ["wil", "max"].map((login) => session.as(login));
  await wil.post(`${at}/labels`, { name: "code", color: "f29513", description: "Work for Hob" });
  await wil.post(`${at}/labels`, { name: "needs a person", color: "ededed" });
  await wil.post(`${at}/issues`, { title: "Greet all", labels: ["code"] }, { anyone: true });
  await session.as("hob[bot]").post(`${at}/issues`, { title: "Greet one", body: "By name." }, { anyone: true });
  const made = await pull(session, at, "greeting", head);
  await wil.patch(`${at}/issues/1`, { state: "closed" });

  const find = async (query, more = "") => {
    const answer = await wil.get(`/search/issues?q=${encodeURIComponent(`repo:ada/search ${query}`)}${more}`);
    report.same(`${query}: what there is of it`, [answer.body.total_count, answer.body.incomplete_results], [answer.body.items.length, false]);
    return answer.body.items.map((item) => item.number);
  };
  report.same("by label and state", await find("label:code state:closed"), [1]);
  report.same("by quoted label", await find('label:"needs a person"'), []);
  report.same("by author, a bot's both names", [await find("author:app/hob"), await find("author:hob[bot]")], [[2], [2]]);
  report.same("pull requests", await find("is:pr"), [made.number]);
  report.same("words, the oldest first", await find("greet is:issue", "&sort=created&order=asc"), [1, 2]);
  report.same("by time", [await find("created:>2020-01-01 is:issue"), await find("closed:<2020-01-01")], [[2, 1], []]);
  await wil.get("/search/issues", { status: 422, errors: [["Search", "q", "missing_field"]] });
  await wil.get("/search/issues?q=repo:ada/none", { status: 422, errors: [["Search", "q", "custom"]] });
  await wil.get("/search/issues?q=milestone:one", { status: 422, errors: [["Search", "q", "custom"]], message: /^Validation Failed$/ });
  const ask = (login, path) => session.send(login, "GET", path);
  const page = await ask("wil", "/search/issues?q=repo:ada/search&per_page=1&page=2");
  report.same("a page of it", [page.body.total_count, page.body.items.length, page.headers.get("link")?.includes("page=3")], [3, 1, true]);
  const beyond = await ask("wil", "/search/issues?q=repo:ada/search&per_page=100&page=11");
  report.same("beyond what is searched", [beyond.status, beyond.body.message], [422, "Only the first 1000 search results are available"]);
  await session.as("ada").post("/user/repos", { name: "found", private: true, auto_init: true }, { anyone: true });
  await session.as("ada").post("/repos/ada/found/issues", { title: "Unseen" }, { anyone: true });
  const unseen = async (login) => (await ask(login, "/search/issues?q=unseen")).body.total_count;
  report.same("who sees what is private", [await unseen("ada"), await unseen("out")], [1, 0]);

  const { id } = (await max.get(at)).body;
  const named = async (query) => (await max.get(`/search/labels?repository_id=${id}&q=${query}`)).body.items.map((label) => label.name);
  report.same("labels by name", await named("person"), ["needs a person"]);
  report.same("labels by description", await named("hob+work"), ["code"]);
  report.same("labels, the oldest first", await named("e&sort=created&order=asc"), ["code", "needs a person"]);
  await max.get("/search/labels?q=code", { status: 422, errors: [["Search", "repository_id", "missing_field"]] });
  await max.get("/search/labels?q=code&repository_id=1", { status: 404 });

  await session.anew();
  const statuses = [];
  for (let turn = 0; turn < 31; turn += 1) statuses.push(await ask("tom", "/search/issues?q=nothing"));
  const [last, over] = statuses.slice(-2);
  const told = (answer) => [answer.status, ...["limit", "remaining", "resource"].map((name) => answer.headers.get(`x-ratelimit-${name}`))];
  report.same("the limit of searches", [told(last), told(over)], [[200, "30", "0", "search"], [403, "30", "0", "search"]]);
  report.same("the rest goes on", (await ask("tom", "/user")).status, 200);
  const { resources } = (await ask("tom", "/rate_limit")).body;
  report.same("what is left of it", [resources.search.remaining, resources.core.limit], [0, 5000]);
}
