"""github3.py takes an issue to a merged pull request. It asks for the media type `full`, so each text has its HTML."""

import github3

from script import Script, same


def run(forge):
    script = Script("github3.py", "github3.py")
    op = script.operation

    def sign_in(login):
        return github3.GitHubEnterprise(forge.server_url, token=forge.token(login))

    ada, max_ = sign_in("ada"), sign_in("max")
    with op("the account that is signed in"):
        same(ada.me().login, "ada")
    with op("create a repository"):
        same(ada.create_repository("github3", description="A site", auto_init=True).full_name, "ada/github3")
    with op("read a repository"):
        repo = ada.repository("ada", "github3")
        same((repo.default_branch, repo.private), ("main", False))
    with op("the rate limit"):
        same(ada.rate_limit()["resources"]["core"]["limit"], 5000)
    with op("create a label"):
        label = repo.create_label("code", "00ff00", "Work for Hob")
        same(label.color, "00ff00")
    with op("change a label"):
        label.update("code", "0000ff", "Work")
        same(repo.label("code").color, "0000ff")
    with op("list the labels"):
        same([label.name for label in repo.labels()], ["code"])
    with op("create an issue"):
        issue = repo.create_issue("Greet", body="Say hello.", labels=["code"])
        same(issue.number, 1)
    with op("read an issue"):
        same(repo.issue(1).user.login, "ada")
    with op("an issue's text as HTML"):
        same(repo.issue(1).body_html.strip(), "<p>Say hello.</p>")
    with op("change an issue"):
        issue.edit(title="Greet all", body="Say hello to all.")
        same(repo.issue(1).title, "Greet all")
    with op("list the issues with a label"):
        same([one.number for one in repo.issues(state="open", labels="code")], [1])
    with op("put a label on"):
        issue.add_labels("soon")
        same(sorted(label.name for label in issue.labels()), ["code", "soon"])
    with op("take a label off"):
        issue.remove_label("soon")
        same([label.name for label in issue.labels()], ["code"])
    with op("assign"):
        issue.add_assignees(["wil"])
        same([one.login for one in repo.issue(1).assignees], ["wil"])
    with op("unassign"):
        issue.remove_assignees(["wil"])
        same(repo.issue(1).assignees, [])
    with op("comment"):
        comment = issue.create_comment("On it.")
        same(comment.body, "On it.")
    with op("change a comment"):
        same(comment.edit("Done."), True)
        same(issue.comment(comment.id).body, "Done.")
    with op("list the comments"):
        same([one.body for one in issue.comments()], ["Done."])
    with op("all pages of a list"):
        for number in range(35):
            issue.create_comment(f"Word {number}")
        same(len(list(issue.comments())), 36)
    with op("delete a comment"):
        same(comment.delete(), True)
    with op("the events of an issue"):
        same([one.event for one in issue.events()][:2], ["labeled", "renamed"])
    with op("lock an issue"):
        same(issue.lock(), True)
    with op("unlock an issue"):
        same(issue.unlock(), True)
    with op("close an issue"):
        issue.close()
        same(repo.issue(1).is_closed(), True)
    with op("reopen an issue"):
        issue.reopen()
        same(repo.issue(1).state, "open")
    with op("read a file"):
        same(repo.file_contents("README.md").decoded, b"# github3\n")
    with op("create a blob"):
        blob = repo.create_blob("Hello\n", "utf-8")
        same(len(blob), 40)
    with op("create a tree"):
        head = repo.ref("heads/main").object.sha
        entry = {"path": "hello.txt", "mode": "100644", "type": "blob", "sha": blob}
        tree = repo.create_tree([entry], base_tree=head)
    with op("create a commit"):
        author = {"name": "ada", "email": "ada@example.org"}
        commit = repo.create_commit("Say hello", tree.sha, [head], author=author)
        same(commit.message, "Say hello")
    with op("create a branch"):
        repo.create_ref("refs/heads/work", commit.sha)
        same(sorted(branch.name for branch in repo.branches()), ["main", "work"])
    with op("compare two branches"):
        same(repo.compare_commits("main", "work").ahead_by, 1)
    with op("set a commit's status"):
        repo.create_status(commit.sha, "success", context="test")
        same(repo.commit(commit.sha).status().state, "success")
    with op("create a pull request"):
        pull = repo.create_pull("Say hello", "main", "work", body="Fixes #1")
        same(pull.number, 2)
    with op("the files of a pull request"):
        same([file.filename for file in pull.files()], ["hello.txt"])
    with op("the commits of a pull request"):
        same([one.sha for one in pull.commits()], [commit.sha])
    with op("the diff of a pull request"):
        assert b"+Hello" in pull.diff()
    with op("approve a pull request"):
        max_.repository("ada", "github3").pull_request(2).create_review("Good.", event="APPROVE")
        same([one.state for one in pull.reviews()], ["APPROVED"])
    with op("merge a pull request"):
        same(pull.merge(merge_method="squash"), True)
        same((pull.is_merged(), repo.issue(1).state), (True, "closed"))
    with op("delete a branch"):
        same(repo.ref("heads/work").delete(), True)
    return script.end()
