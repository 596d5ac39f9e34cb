// Starts the forge under test, and knows its endpoints.
import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** The accounts that every check speaks as: name, token and role. */
export const USERS = {
  ada: { token: "token-of-ada", role: "admin" },
  max: { token: "token-of-max", role: "maintain" },
  wil: { token: "token-of-wil", role: "write" },
  tom: { token: "token-of-tom", role: "triage" },
  rea: { token: "token-of-rea", role: "read" },
  out: { token: "token-of-out", role: "none" },
  "hob[bot]": { token: "token-of-bot", role: "write:bot" },
  "low[bot]": { token: "token-of-low", role: "read:bot" },
};

/** Starts `hob forge serve` on a free port; answers where it serves and how to stop it. */
export async function start(binary, flags = []) {
  const users = Object.entries(USERS).flatMap(([login, { token, role }]) => ["--user", `${login}:${token}:${role}`]);
  const child = spawn(binary, ["forge", "serve", "--listen", "127.0.0.1:0", ...users, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const failed = new Promise((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the forge ended with ${code} before it was ready`)));
  });
  failed.catch(() => {});
  const line = new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve));
  const ready = JSON.parse(await Promise.race([line, failed]));
  const stop = async () => {
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await ended;
    clearTimeout(kill);
  };
  return { apiUrl: ready.api_url, serverUrl: ready.server_url, stop };
}

/** The endpoints that the binary says it has: method, pattern, and a test of whether a path is one of its own. */
export function endpoints(binary) {
  const names = JSON.parse(execFileSync(binary, ["forge", "routes"], { encoding: "utf8" }));
  return names.map((name) => {
    const [method, pattern] = name.split(" ");
    return { name, method, pattern, ...matcher(pattern) };
  });
}

/** How a pattern with parts in braces finds its paths; the one with more plain text goes before another. */
export function matcher(pattern, greedy = () => false, optional = false) {
  const source = pattern.replace(/\/?\{(\*?)([^}]+)\}|[.*+?^$()|[\]\\]/g, (all, star, name, offset) => {
    if (name === undefined) return `\\${all}`;
    const slash = all.startsWith("/") ? "/" : "";
    if (star) return `${slash}(.+)`;
    if (!greedy(name)) return `${slash}([^/]+)`;
    return optional && offset + all.length === pattern.length ? `(?:${slash}(.*))?` : `${slash}(.+)`;
  });
  return { expression: new RegExp(`^${source}$`), plain: pattern.replace(/\{[^}]+\}/g, "").length };
}

/** The entry of `list` whose method and pattern fit best. */
export function find(list, method, path) {
  const fits = list.filter((entry) => entry.method === method && entry.expression.test(path));
  return fits.sort((a, b) => b.plain - a.plain)[0];
}
