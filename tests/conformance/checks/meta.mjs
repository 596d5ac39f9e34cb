// The forge itself, accounts and repositories.
import { repository } from "../lib/seed.mjs";

export async function meta(session, report) {
  const [ada, wil, bot] = ["ada", "wil", "hob[bot]"].map((login) => session.as(login));
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
}
