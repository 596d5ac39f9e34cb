// Webhooks: what the forge told of everything above, against the description of each event's payload.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { clip } from "../lib/report.mjs";

const SECRET = "It's a Secret to Everybody";
/** How long the last delivery may take to come. */
const ARRIVES_WITHIN_MS = 10_000;

/** Takes deliveries and keeps them. */
export class Receiver {
  deliveries = [];
  #waiting = [];

  static async start() {
    const receiver = new Receiver();
    receiver.server = createServer((request, response) => receiver.#take(request, response));
    await new Promise((resolve) => receiver.server.listen(0, "127.0.0.1", resolve));
    const { port } = receiver.server.address();
    receiver.flags = ["--webhook", `http://127.0.0.1:${port}/hook`, "--webhook-secret", SECRET];
    return receiver;
  }

  /** The first delivery that fits, when it has come. */
  async find(fits) {
    const known = this.deliveries.find(fits);
    if (known) return known;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("a delivery did not come")), ARRIVES_WITHIN_MS);
      this.#waiting.push((delivery) => {
        if (!fits(delivery)) return;
        clearTimeout(late);
        resolve(delivery);
      });
    });
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async #take(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const bytes = Buffer.concat(parts);
    const delivery = { headers: request.headers, bytes, body: JSON.parse(bytes) };
    this.deliveries.push(delivery);
    this.#waiting.forEach((each) => each(delivery));
    response.end();
  }
}

export async function webhooks(session, report) {
  const { receiver, description } = session;
  await session.as("wil").post("/repos/ada/meta/issues", { title: "The last one" }, { anyone: true });
  await receiver.find(({ body }) => body.issue?.title === "The last one" && body.action === "opened");
  const kinds = new Set();
  for (const { headers, bytes, body } of receiver.deliveries) {
    const event = headers["x-github-event"];
    const name = `webhook ${event} ${body.action ?? ""}`;
    kinds.add(`${event}${body.action ? ` ${body.action}` : ""}`);
    const signature = `sha256=${createHmac("sha256", SECRET).update(bytes).digest("hex")}`;
    report.same(`${name} signature`, headers["x-hub-signature-256"], signature);
    const id = headers["x-github-delivery"];
    report.check(`${name} delivery`, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? "" : `is ${id}`);
    report.check(`${name} user agent`, headers["user-agent"].startsWith("GitHub-Hookshot/") ? "" : headers["user-agent"]);
    const wrong = description.wrongPayload(event, body.action, body);
    if (event === "push") report.check(`${name} ref`, /^refs\/(heads|tags)\//.test(body.ref) ? "" : `is ${body.ref}`);
    report.check(`${name} is documented`, wrong ? "" : "there is no such webhook");
    report.check(`${name} payload`, clip(wrong?.join("; "), 600));
  }
  const expected = [
    "check_run completed", "check_run created", "check_run rerequested", "issue_comment created", "issues assigned", "issues closed", "issues labeled",
    "issues opened", "issues reopened", "issues unassigned", "issues unlabeled", "pull_request closed", "pull_request dequeued", "pull_request enqueued", "pull_request opened",
    "pull_request reopened", "pull_request review_requested", "pull_request_review dismissed",
    "pull_request_review submitted", "push",
  ];
  report.same("what webhooks tell of", expected.filter((kind) => !kinds.has(kind)), []);
}
