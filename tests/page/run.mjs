// Drives the page of `hob run --listen` in a browser, as operators do: `node run.mjs PATH-TO-HOB [--pictures FOLDER]`.
//
// A real run works on the embedded forge with an agent that is a shell script. Each view is opened in both themes and at two widths, and
// looked at by axe-core. The API's answers are held to its own description. With `--pictures` each view is saved: no program can tell
// whether it looks good. It needs Chromium; without it, it says that it is skipped.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import Ajv from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { chromium } from "playwright-core";

const TOKEN = "canary-5fK2pQ9x";
const MARKUP = `</title><script>window.broken = true</script><img src=x onerror="window.broken = true">"'`;
// The longest that a state may take on a busy machine.
const PATIENCE = 90_000;
// Bytes of a view with its style and script, as they go over the wire.
const BYTES_MAX = 200_000;
const ISSUES = 1_000;

const AGENT = `brief=$(cat)
case "$brief" in
*'Ask me'*) case "$brief" in
  *'Both of them'*) echo both > both.txt; echo '{"outcome":"done","summary":"Wrote both."}';;
  *) printf '%s' '{"outcome":"question","question":"Which format? ${MARKUP.replaceAll('"', '\\"').replaceAll("'", "")}"}';;
  esac;;
*'Which zone'*) echo '{"outcome":"question","question":"Should the times of the export be in UTC, or in the zone of who reads them?","usd":0.31}';;
*'as PDF'*) echo '{"checklist":[{"step":"Read the exporter","state":"done"},{"step":"Add a test","state":"doing"}]}'
  while [ ! -e "$1" ]; do sleep 0.1; done; echo '{"outcome":"done","summary":"x"}';;
*'Mend '*) mkdir -p src; echo : > "src/part-$HOB_ISSUE.sh"; printf 'sh src/part-%s.sh\n' "$HOB_ISSUE" > "tests/$HOB_ISSUE.sh"
  printf '{"outcome":"done","summary":"Mended.","usd":%s}' "$(awk "BEGIN { print 0.4 + ($HOB_ISSUE * 37 % 11) / 10 }")";;
*'Take long'*) while [ ! -e "$1" ]; do sleep 0.1; done; echo long > long.txt; echo '{"outcome":"done","summary":"Took long."}';;
*) echo "$HOB_ISSUE" > "done-$HOB_ISSUE.txt"; echo '{"outcome":"done","summary":"Wrote a file.","usd":0.42}';;
esac
`;

let failed = 0;
let passed = 0;
function check(what, holds, found = "") {
  if (holds) passed += 1;
  else {
    failed += 1;
    console.error(`failed: ${what}${found === "" ? "" : `: ${found}`}`);
  }
}

async function until(what, look) {
  const ends = Date.now() + PATIENCE;
  while (Date.now() < ends) {
    const found = await look();
    if (found) return found;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  throw new Error(`not within ${PATIENCE / 1000} s: ${what}`);
}

const browserPath = () =>
  ["chromium", "chromium-browser", "google-chrome"]
    .map((name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim())
    .find(Boolean);

/** A program whose first line of output says where it is. */
async function begun(child, stream, pattern) {
  for await (const line of createInterface({ input: child[stream] })) {
    const found = line.match(pattern);
    if (found) {
      child[stream].resume();
      return found;
    }
  }
  throw new Error(`it ended without saying ${pattern}`);
}

const ended = (child) =>
  child.exitCode !== null ? undefined : new Promise((done) => { child.once("exit", done); child.kill("SIGTERM"); });

class Stage {
  async begin(binary) {
    this.folder = mkdtempSync(join(tmpdir(), "hob-page-"));
    const users = ["--user", "ann:ann:admin", "--user", "hob:hob:write:bot"];
    this.forge = spawn(binary, ["forge", "serve", ...users], { stdio: ["ignore", "pipe", "inherit"], cwd: this.folder });
    const [line] = await begun(this.forge, "stdout", /^\{.*\}$/);
    ({ api_url: this.api, server_url: this.server } = JSON.parse(line));
    writeFileSync(join(this.folder, "agent.sh"), AGENT);
    this.gate = join(this.folder, "gate");
  }

  async call(method, path, body) {
    const headers = { authorization: "Bearer ann", "content-type": "application/json" };
    const answer = await fetch(this.api + path, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  async repository(name, check = "true", files = {}) {
    await this.call("POST", "/user/repos", { name, auto_init: true });
    for (const [path, text] of Object.entries({ ...files, ".github/hob.toml": `checks = ["${check}"]\n` })) {
      const content = Buffer.from(text).toString("base64");
      await this.call("PUT", `/repos/ann/${name}/contents/${path}`, { message: `Add ${path}`, content });
    }
    await this.call("POST", `/repos/ann/${name}/labels`, { name: "code", color: "5319e7" });
  }

  async asks(name, title) {
    return (await this.call("POST", `/repos/ann/${name}/issues`, { title, body: "x", labels: ["code"] })).number;
  }

  /** Starts a run on a repository; where its page is. */
  async run(binary, name, port = "0") {
    const settings = join(this.folder, `${name}.toml`);
    writeFileSync(
      settings,
      `agent = "script"\n[agents.script]\nbackend = "command"\ncommand = ["sh", "${this.folder}/agent.sh", "${this.gate}"]\n` +
        `[sandbox]\ntier = "none"\n[poll]\ninterval = "1s"\n[limits]\njobs = 2\nopen_pulls = 0\nissues_per_hour = 50\n`,
    );
    const env = {
      PATH: process.env.PATH, HOME: this.folder, GITHUB_TOKEN: "hob", GITHUB_API_URL: this.api, GITHUB_SERVER_URL: this.server,
      HOB_LISTEN_TOKEN: TOKEN,
    };
    const state = join(this.folder, `state-${name}`);
    const args = ["--repo", `ann/${name}`, "--config", settings, "--state-dir", state, "run", "--listen", port];
    const child = spawn(binary, args, { env, stdio: ["ignore", "ignore", "pipe"], cwd: this.folder });
    const [, page] = await begun(child, "stderr", /serving the page at (http:\S+)\//);
    this.runs = [...(this.runs ?? []), child];
    return page;
  }

  async end() {
    for (const run of this.runs ?? []) await ended(run);
    if (this.forge) await ended(this.forge);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const asks = async (page, path) => (await fetch(`${page}/api/v1${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })).json();

/** Holds each answer of the API to its description. */
async function describes(page, repo, issue) {
  const description = await asks(page, "/openapi.json");
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats(ajv);
  ajv.addSchema(description, "api");
  const answers = {
    "/api/v1/state": "/state",
    "/api/v1/issues": "/issues",
    "/api/v1/issues/{owner}/{name}/{issue}": `/issues/${repo}/${issue}`,
    "/api/v1/outcomes": "/outcomes?by=week",
    "/api/v1/sessions": "/sessions",
  };
  for (const [path, asked] of Object.entries(answers)) {
    const pointer = path.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D");
    const schema = { $ref: `api#/paths/${pointer}/get/responses/200/content/application~1json/schema` };
    const valid = ajv.compile(schema);
    check(`${asked} is as it is described`, valid(await asks(page, asked)), JSON.stringify(valid.errors));
  }
  const described = Object.entries(description.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
  check("each path is described", described.length === 9, described.join(", "));
}

const views = (repo, issue) => [["needs", "/"], ["now", "/now"], ["issue", `/issues/${repo}/${issue}`], ["worth", "/worth-it"], ["health", "/health"]];

async function signedIn(browser, page, options) {
  const context = await browser.newContext(options);
  const tab = await context.newPage();
  tab.on("pageerror", (error) => check("no script fails", false, error.message));
  tab.on("console", (said) => {
    if (said.type() === "error" && !said.text().includes("401")) check("the console is silent", false, said.text());
  });
  await tab.goto(page);
  await tab.fill("#token", TOKEN);
  await tab.press("#token", "Enter");
  await tab.waitForURL(`${page}/`);
  return tab;
}

/** Each view in both themes and at two widths. */
async function looks(browser, page, shown, pictures) {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      const tab = await signedIn(browser, page, { colorScheme, viewport: { width, height: 844 } });
      for (const [name, path] of shown) {
        await tab.goto(page + path);
        const of = `${name}, ${colorScheme}, ${width} px`;
        const over = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        check(`nothing is wider than the window: ${of}`, over <= 0, over);
        check(`no markup of others is run: ${of}`, !(await tab.evaluate(() => window.broken)));
        // Evaluated by the debugger, which the page's policy does not keep from it.
        await tab.evaluate(axe);
        const { violations } = await tab.evaluate(() => window.axe.run());
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        const found = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
        check(`axe-core finds nothing serious: ${of}`, found.length === 0, found.join("; "));
        if (pictures) await tab.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      }
      await tab.context().close();
    }
  }
}

/** A question comes, is answered from the page, and the work goes on; all while the page is open. */
async function answers(tab, page, stage, issue) {
  await tab.goto(`${page}/`);
  const card = tab.locator(`[id="card-ann/site-${issue}"]`);
  await card.waitFor({ timeout: PATIENCE });
  check("the question is shown as text", (await card.innerText()).includes("<script>window.broken = true</script>"));
  await card.locator("textarea").fill("Both of them");
  // Something else happens meanwhile, which is shown, and what is typed stays.
  const other = await stage.asks("site", "Write a file");
  await tab.locator(`[id="card-ann/site-${other}"]`).waitFor({ timeout: PATIENCE });
  check("what is typed stays", (await card.locator("textarea").inputValue()) === "Both of them");
  await card.getByRole("button", { name: "Answer" }).click();
  await tab.waitForURL(`${page}/`);
  await card.getByText("Pull request", { exact: true }).waitFor({ timeout: PATIENCE });
  check("the answer has reached the agent", (await card.innerText()).includes("Pull request #"));
  return other;
}

async function follows(tab, page, stage) {
  await tab.goto(`${page}/now`);
  const issue = await stage.asks("site", "Take long");
  const card = tab.locator("li.card", { hasText: `ann/site#${issue}` });
  await card.getByText("in-progress").waitFor({ timeout: PATIENCE });
  await card.locator("pre.lines", { hasText: "starting agent" }).waitFor({ timeout: PATIENCE });
  check("how far it is, is shown", Number(await card.locator("progress").getAttribute("value")) >= 20);
  // Nobody looks: nothing is asked. Playwright has no hidden tabs, so the page is told that it is one.
  let requests = 0;
  tab.on("request", () => { requests += 1; });
  await tab.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => window.isHidden, configurable: true });
    window.isHidden = true;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  writeFileSync(stage.gate, "");
  await until("the long work is in review", async () => (await asks(page, `/issues/ann/site/${issue}`)).state === "in-review");
  check("a page that nobody looks at asks nothing", requests === 0, requests);
  await tab.evaluate(() => {
    window.isHidden = false;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await card.waitFor({ state: "detached", timeout: PATIENCE });
}

async function refuses(browser, page) {
  const tab = await (await browser.newContext()).newPage();
  await tab.goto(`${page}/now`);
  check("who is not signed in is asked to", tab.url() === `${page}/sign-in`, tab.url());
  await tab.fill("#token", "wrong");
  await tab.press("#token", "Enter");
  await tab.getByRole("alert").waitFor();
  check("a wrong token is refused", (await tab.innerText("main")).includes("not the token"));
  await tab.goto(`${page}/now`);
  check("and shows nothing", tab.url() === `${page}/sign-in`, tab.url());
  await tab.context().close();
}

/** A repository with many issues: what each view weighs, and how soon it is there. */
async function many(browser, binary, stage) {
  await stage.repository("many");
  for (let at = 0; at < ISSUES; at += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, n) => stage.asks("many", `Issue ${at + n}`)));
  }
  const page = await stage.run(binary, "many");
  await until("all issues are known", async () => (await asks(page, "/issues?limit=1")).all >= ISSUES);
  const tab = await signedIn(browser, page, { viewport: { width: 390, height: 844 } });
  for (const [name, path] of [["needs", "/"], ["now", "/now"], ["worth", "/worth-it"], ["health", "/health"]]) {
    await tab.goto(page + path, { waitUntil: "load" });
    const { bytes, paint } = await tab.evaluate(async () => {
      const paint = await new Promise((done) => {
        const seen = new PerformanceObserver((list) => list.getEntries().forEach((one) => one.name === "first-contentful-paint" && done(one.startTime)));
        seen.observe({ type: "paint", buffered: true });
      });
      const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
      return { paint, bytes: loaded.filter(({ name }) => !name.includes("/events")).reduce((sum, one) => sum + one.encodedBodySize, 0) };
    });
    console.log(`${name} with ${ISSUES} issues: ${bytes} bytes, first paint after ${Math.round(paint)} ms`);
    check(`${name} with ${ISSUES} issues is small`, bytes > 10_000 && bytes < BYTES_MAX, bytes);
  }
  await tab.goto(`${page}/now`);
  const seen = new Set();
  for (;;) {
    for (const address of await tab.locator("ul.rows a.name").evaluateAll((links) => links.map((link) => link.href))) seen.add(address);
    const next = tab.getByRole("link", { name: "Next part" });
    if ((await next.count()) === 0) break;
    await next.click();
    await tab.waitForLoadState();
  }
  check("the parts of a list have all of it", seen.size >= ISSUES - 60, seen.size);
  await tab.context().close();
}

/** A process that is gone shows on a page that is open. One that is back asks for its token again. */
async function goes(tab, page, stage, binary) {
  // A browser reports each connection that is refused.
  tab.removeAllListeners("console");
  await tab.goto(`${page}/now`);
  await tab.getByText("up to date").waitFor();
  await ended(stage.runs.pop());
  const began = Date.now();
  await tab.getByText("Hob does not answer: what is shown is old").waitFor({ timeout: PATIENCE });
  const seconds = (Date.now() - began) / 1000;
  console.log(`a process that is gone shows after ${seconds.toFixed(1)} s`);
  check("a process that is gone is seen within ten seconds", seconds < 10, seconds);
  const box = await tab.locator("#live").boundingBox();
  const bottom = tab.viewportSize().height;
  check("it is said where it is seen", box !== null && Math.round(box.y + box.height) === bottom, JSON.stringify(box));
  await stage.run(binary, "site", new URL(page).port);
  await tab.waitForURL(`${page}/sign-in`, { timeout: PATIENCE });
  check("it is not said any more", (await tab.locator("#live.old").count()) === 0);
}

/** A repository as it may look after some weeks, for pictures that others see. */
async function shop(browser, binary, stage, pictures) {
  await stage.repository("shop", "sh tests/run.sh", { "tests/run.sh": 'for one in tests/[0-9]*.sh; do [ ! -e "$one" ] || sh "$one" || exit 1; done\n' });
  const page = await stage.run(binary, "shop");
  const state = async (issue) => (await asks(page, `/issues/ann/shop/${issue}`)).state;
  const parts = ["the rounding of half a cent", "sums of orders without lines", "the search for umlauts", "dates before 1970", "the cart after a timeout",
    "discounts on gift cards", "the address on invoices", "links in the newsletter", "stock that falls below zero"];
  const pulls = [];
  for (const part of parts) {
    const issue = await stage.asks("shop", `Mend ${part}`);
    await until(`${part} is in review`, async () => (await state(issue)) === "in-review");
    pulls.push((await asks(page, `/issues/ann/shop/${issue}`)).pull_request);
  }
  for (const pull of pulls.slice(0, -2)) await stage.call("PUT", `/repos/ann/shop/pulls/${pull}/merge`, {});
  await until("the merges are seen", async () => (await asks(page, "/outcomes")).total.merged === pulls.length - 2);
  const asked = await stage.asks("shop", "Which zone has the export?");
  await until("it asks", async () => (await state(asked)) === "blocked");
  rmSync(stage.gate, { force: true });
  const long = await stage.asks("shop", "Offer invoices as PDF");
  await until("it works", async () => (await asks(page, `/issues/ann/shop/${long}`)).lines?.some(({ text }) => text.includes("starting agent")));
  await looks(browser, page, views("ann/shop", asked).map(([name, path]) => [`shop-${name}`, path]), pictures);
  writeFileSync(stage.gate, "");
}

async function main() {
  const [binary, ...more] = process.argv.slice(2);
  if (!binary) throw new Error("usage: node run.mjs PATH-TO-HOB [--pictures FOLDER]");
  const pictures = more[0] === "--pictures" ? resolve(more[1]) : undefined;
  if (pictures) mkdirSync(pictures, { recursive: true });
  const executablePath = browserPath();
  if (!executablePath) {
    console.log("skipped: the page in a browser: Chromium is not installed");
    return;
  }
  const hob = resolve(binary);
  const stage = new Stage();
  // The browser's own sandbox needs rights that a container lacks; it opens nothing but this page.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    await stage.begin(hob);
    await stage.repository("site");
    const issue = await stage.asks("site", `Ask me ${MARKUP}`);
    const page = await stage.run(hob, "site");
    await refuses(browser, page);
    await until("the question is asked", async () => (await asks(page, `/issues/ann/site/${issue}`)).state === "blocked");
    await describes(page, "ann/site", issue);
    await looks(browser, page, views("ann/site", issue), pictures);
    const tab = await signedIn(browser, page, { viewport: { width: 1280, height: 900 } });
    const other = await answers(tab, page, stage, issue);
    await follows(tab, page, stage);
    await goes(tab, page, stage, hob);
    await tab.context().close();
    await looks(browser, page, views("ann/site", other).map(([name, path]) => [`${name}-later`, path]), pictures);
    await many(browser, hob, stage);
    if (pictures) await shop(browser, hob, stage, pictures);
  } finally {
    await browser.close();
    await stage.end();
  }
  console.log(`${passed} passed, ${failed} failed`);
}

main().then(
  () => process.exit(failed === 0 ? 0 : 1),
  (error) => {
    console.error(error);
    process.exit(2);
  },
);
