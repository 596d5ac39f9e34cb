"""Renovate's pass over a repository: nothing to do, a dry run, an update as a pull request, and what follows from it.

Renovate asks for the repository by GraphQL, clones and pushes by git, and writes by REST. What it updates is the version of
a library that is on the same forge, so that it needs no other server.
"""

import base64
import json
import os
import pathlib
import subprocess
import urllib.request

from script import Script, same

FOLDER = pathlib.Path(__file__).resolve().parent / "renovate"
PROGRAM = FOLDER / "node_modules" / "renovate" / "dist" / "renovate.js"
OPERATIONS = 7
AT = "/repos/ada/consumer"
BOT = "renovate[bot]"
# Each line of `versions.txt` is a name, the address of a repository with tags, and the version that is used.
SETTINGS = {
    "enabledManagers": ["custom.regex"],
    "dependencyDashboard": True,
    "customManagers": [
        {
            "customType": "regex",
            "fileMatch": ["^versions\\.txt$"],
            "matchStrings": ["(?<depName>\\S+) (?<packageName>\\S+) (?<currentValue>\\S+)"],
            "datasourceTemplate": "git-tags",
        }
    ],
}


def run(forge):
    if not PROGRAM.exists():
        print(f"skipped: Renovate: it is not installed in {FOLDER.relative_to(FOLDER.parents[2])} (`npm ci`)")
        return 0, 0
    version = json.loads((FOLDER / "package.json").read_text())["dependencies"]["renovate"]
    script = Script(f"Renovate {version}", operations=OPERATIONS)
    op = script.operation

    def rest(method, path, body=None, login="ada"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(forge.api_url + path, data, method=method)
        request.add_header("Authorization", f"Bearer {forge.token(login)}")
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def put(repository, path, text):
        content = base64.b64encode(text.encode()).decode()
        rest("PUT", f"/repos/ada/{repository}/contents/{path}", {"message": f"Add {path}", "content": content})

    def passes(**settings):
        """One pass of Renovate; answers what it logged, of which nothing may be a warning."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(forge.folder),
            "LOG_LEVEL": "debug",
            "LOG_FORMAT": "json",
            "RENOVATE_BASE_DIR": str(forge.folder / "renovate"),
            "RENOVATE_PLATFORM": "github",
            "RENOVATE_ENDPOINT": forge.api_url,
            "RENOVATE_TOKEN": forge.token("renovate"),
            "RENOVATE_REPOSITORIES": "ada/consumer",
            "RENOVATE_ONBOARDING": "false",
            "RENOVATE_FETCH_CHANGE_LOGS": "off",
            "RENOVATE_X_IGNORE_RE2": "true",
            **settings,
        }
        done = subprocess.run(
            ["node", str(PROGRAM)], env=environment, cwd=forge.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=300, check=False,
        )
        logged = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        wrong = [line for line in logged if line["level"] >= 40]
        if done.returncode != 0 or wrong:
            told = [f"{line['msg']} {json.dumps(line.get('err', ''))[:600]}" for line in wrong]
            raise RuntimeError(f"exit {done.returncode}: {told} {done.stderr}")
        finished = [line for line in logged if line["msg"].startswith("Repository finished")]
        same(len(finished), 1)
        return [line["msg"] for line in logged]

    def pulls(state="open"):
        return rest("GET", f"{AT}/pulls?state={state}")

    def dashboard():
        return [issue for issue in rest("GET", f"{AT}/issues?creator=renovate%5Bbot%5D") if "pull_request" not in issue]

    rest("POST", "/user/repos", {"name": "library", "auto_init": True})
    rest("POST", "/user/repos", {"name": "consumer", "auto_init": True})
    head = rest("GET", "/repos/ada/library/git/ref/heads/main")["object"]["sha"]
    for tag in ["v1.0.0", "v1.1.0"]:
        rest("POST", "/repos/ada/library/git/refs", {"ref": f"refs/tags/{tag}", "sha": head})
    put("consumer", "renovate.json", json.dumps(SETTINGS))

    with op("a repository with nothing to do"):
        passes()
        [fresh] = dashboard()
        same((pulls(), fresh["user"]["login"]), ([], BOT))
    put("consumer", "versions.txt", f"library {forge.server_url}/ada/library.git v1.0.0\n")
    with op("a dry run writes nothing"):
        told = passes(RENOVATE_DRY_RUN="full")
        assert any(line.startswith("DRY-RUN: Would") for line in told), told[-20:]
        same((pulls(), [issue["updated_at"] for issue in dashboard()]), ([], [fresh["updated_at"]]))
    with op("an update becomes a pull request"):
        passes()
        [pull] = pulls()
        same((pull["user"]["login"], pull["base"]["ref"]), (BOT, "main"))
        [file] = rest("GET", f"{AT}/pulls/{pull['number']}/files")
        assert "+library" in file["patch"] and "v1.1.0" in file["patch"], file["patch"]
    with op("the dashboard names it"):
        [issue] = dashboard()
        assert pull["title"] in issue["body"] and issue["user"]["type"] == "Bot", issue["body"]
    with op("a second pass changes nothing"):
        passes()
        [again] = pulls()
        same((again["head"]["sha"], again["updated_at"]), (pull["head"]["sha"], pull["updated_at"]))
    with op("a tick on the dashboard makes the pull request anew"):
        body = issue["body"]
        mark = f"- [ ] <!-- rebase-branch={pull['head']['ref']} -->"
        assert mark in body, body
        rest("PATCH", f"{AT}/issues/{issue['number']}", {"body": body.replace(mark, mark.replace("[ ]", "[x]"))})
        put("consumer", "other.txt", "one\n")
        passes()
        main = rest("GET", f"{AT}/git/ref/heads/main")["object"]["sha"]
        [commit] = rest("GET", f"{AT}/pulls/{pull['number']}/commits")
        same([parent["sha"] for parent in commit["parents"]], [main])
        assert "[x]" not in dashboard()[0]["body"]
    with op("after the merge there is nothing left"):
        rest("PUT", f"{AT}/pulls/{pull['number']}/merge", {"merge_method": "squash"})
        passes()
        same((pulls(), [branch["name"] for branch in rest("GET", f"{AT}/branches")]), ([], ["main"]))
    return script.end()
