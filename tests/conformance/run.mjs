// Holds the embedded forge to GitHub's OpenAPI description: `node run.mjs PATH-TO-HOB`.
//
// Every endpoint the forge says it has is called, with success and with what goes wrong, and each answer is checked:
// its status, body, media type and headers. An endpoint that no check calls fails the run. At the end git and GitHub's
// own client drive the same forge.
import { endpoints, start } from "./lib/forge.mjs";
import { Description } from "./lib/description.mjs";
import { Report } from "./lib/report.mjs";
import { Session } from "./lib/session.mjs";
import { actions } from "./checks/actions.mjs";
import { APP_FLAGS, apps } from "./checks/apps.mjs";
import { branches } from "./checks/branches.mjs";
import { collaborators } from "./checks/collaborators.mjs";
import { comments } from "./checks/comments.mjs";
import { contents } from "./checks/contents.mjs";
import { git } from "./checks/git.mjs";
import { graphql } from "./checks/graphql.mjs";
import { issues } from "./checks/issues.mjs";
import { labels } from "./checks/labels.mjs";
import { limits } from "./checks/limits.mjs";
import { meta } from "./checks/meta.mjs";
import { objects } from "./checks/objects.mjs";
import { octokit } from "./checks/octokit.mjs";
import { protection } from "./checks/protection.mjs";
import { pulls } from "./checks/pulls.mjs";
import { refs } from "./checks/refs.mjs";
import { relations } from "./checks/relations.mjs";
import { reviews } from "./checks/reviews.mjs";
import { results } from "./checks/results.mjs";
import { rulesets } from "./checks/rulesets.mjs";
import { search } from "./checks/search.mjs";
import { everywhere } from "./checks/everywhere.mjs";
import { Receiver, webhooks } from "./checks/webhooks.mjs";

const TOPICS = {
  meta, labels, issues, comments, relations, collaborators, objects, refs, contents, branches, pulls, protection, rulesets, reviews, results,
  actions, search, apps, git, graphql, octokit, webhooks,
};

async function main() {
  const binary = process.argv[2];
  if (!binary) throw new Error("usage: node run.mjs PATH-TO-HOB [TOPIC…]");
  const wanted = process.argv.slice(3);
  const report = new Report();
  const receiver = await Receiver.start();
  const forge = await start(binary, [...APP_FLAGS, ...receiver.flags]);
  try {
    const session = new Session({ forge, endpoints: endpoints(binary), description: new Description(), report });
    session.receiver = receiver;
    for (const [name, topic] of Object.entries(TOPICS)) {
      if (wanted.length && !wanted.includes(name)) continue;
      await session.anew();
      await topic(session, report).catch((error) => report.check(`the checks of ${name}`, error.stack));
    }
    if (!wanted.length) {
      await everywhere(session, report);
      for (const { name } of session.endpoints) {
        report.check(`${name} is called with success`, session.called.has(name) ? "" : "no check does; add one");
      }
      for (const entry of session.unusedExceptions()) {
        report.check(`the exception for ${entry.operation ?? entry.field}`, "no answer needed it; take it away");
      }
    }
  } finally {
    await forge.stop();
    receiver.stop();
  }
  if (!wanted.length) await limits(binary, report);
  console.log(`${report.passed} passed, ${report.failed} failed`);
  return report.failed === 0;
}

main().then(
  (passed) => process.exit(passed ? 0 : 1),
  (error) => {
    console.error(error);
    process.exit(2);
  },
);
