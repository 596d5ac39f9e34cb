// The forge itself, accounts and repositories.
import { repository } from "../lib/seed.mjs";

export async function meta(session, report) {
  const [ada, wil, bot] = ["ada", "wil", "hob[bot]"].map((login) => session.as(login));
  report.same("where it is", (await wil.get("/")).body.current_user_url, `${session.forge.apiUrl}/user`);
  await wil.get("/rate_limit");
  await wil.get("/meta");
  await session.as(undefined).get("/meta");
  const me = await wil.get("/user");
  report.same("/user is who asks", [me.body.login, me.body.type, me.body.user_view_type], ["wil", "User", "private"]);
  report.same("a bot is of type Bot", (await bot.get("/user")).body.type, "Bot");
  await session.as(undefined).get("/user", { status: 401, message: /^Requires authentication$/ });
  await wil.get("/users/ada");
  await wil.get("/users/hob%5Bbot%5D");
  await wil.get("/users/nobody", { status: 404 });

  const { at } = await repository(session, "meta", { description: "A site" });
  const seen = await wil.get(at);
  report.same("a writer's permissions", seen.body.permissions, {
    admin: false, maintain: false, push: true, triage: true, pull: true,
  });
  await session.as(undefined).get(at);
  await ada.post("/user/repos", { name: "meta" }, {
    status: 422,
    errors: [["Repository", "name", "custom"]],
  });
  await ada.post("/user/repos", {}, { status: 422, errors: [["Repository", "name", "missing_field"]] });
  const hidden = await ada.post("/user/repos", { name: "hidden", private: true, auto_init: true });
  report.same("it is private", [hidden.body.private, hidden.body.visibility], [true, "private"]);
  await ada.get("/repos/ada/hidden");
  await session.as("out").get("/repos/ada/hidden", { status: 404, message: /^Not Found$/ });
  await session.as(undefined).get("/repos/ada/hidden", { status: 404, message: /^Not Found$/ });
  await wil.get("/repos/ada/none", { status: 404, message: /^Not Found$/ });
  await life(session, report);
}

/** A repository is changed, renamed, archived and deleted. */
async function life(session, report) {
  const [ada, wil] = ["ada", "wil"].map((login) => session.as(login));
  const { at } = await repository(session, "young", { description: "New" });
  const names = async (who, path) => (await who.get(path)).body.map((each) => each.full_name);
  report.check("one's own", (await names(ada, "/user/repos?affiliation=owner")).includes("ada/young") ? "" : "is not there");
  report.check("somebody's", (await names(wil, "/users/ada/repos")).includes("ada/young") ? "" : "is not there");
  await wil.get("/users/nobody/repos", { status: 404 });
  const changed = (await ada.patch(at, { description: "Newer", homepage: "https://example.com", has_issues: false, allow_rebase_merge: false })).body;
  report.same("what it is now", [changed.description, changed.homepage, changed.has_issues, changed.allow_rebase_merge], ["Newer", "https://example.com", false, false]);
  await wil.get(`${at}/issues`, { status: 410 });
  await ada.patch(at, { default_branch: "none" }, { status: 422, errors: [["Repository", "default_branch", "custom"]] });
  await ada.patch(at, { name: "meta" }, { status: 422, errors: [["Repository", "name", "custom"]] });
  const { id } = (await ada.patch(at, { name: "old", has_issues: true })).body;
  const moved = await session.send("wil", "GET", `${at}/issues?state=all`);
  const to = `${session.forge.apiUrl}/repositories/${id}/issues?state=all`;
  report.same("its old name leads to it", [moved.status, moved.headers.get("location"), moved.body.url], [301, to, to]);
  report.same("what is there", (await session.send("wil", "GET", to)).status, 200);
  report.same("a write is sent again", (await session.send("wil", "POST", `${at}/issues`, { title: "x" })).status, 307);
  await ada.patch("/repos/ada/old", { archived: true });
  await wil.post("/repos/ada/old/issues", { title: "x" }, { status: 403, message: /archived/ });
  await ada.delete("/repos/ada/old");
  await wil.get("/repos/ada/old", { status: 404 });
}
