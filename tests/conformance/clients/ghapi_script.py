"""ghapi takes an issue to a merged pull request. It makes its calls from GitHub's OpenAPI description."""

import base64

from ghapi.all import GhApi

from script import Script, same


def run(forge):
    script = Script("ghapi", "ghapi")
    op = script.operation

    def sign_in(login):
        return GhApi(owner="ada", repo="ghapi", token=forge.token(login), gh_host=forge.api_url, sync=True)

    ada, max_ = sign_in("ada"), sign_in("max")
    with op("the account that is signed in"):
        same(ada.users.get_authenticated().login, "ada")
    with op("create a repository"):
        made = ada.repos.create_for_authenticated_user(name="ghapi", description="A site", auto_init=True)
        same(made.full_name, "ada/ghapi")
    with op("read a repository"):
        same((ada.repos.get().default_branch, ada.repos.get().private), ("main", False))
    with op("the rate limit"):
        same(ada.rate_limit.get().resources.core.limit, 5000)
    with op("create a label"):
        same(ada.issues.create_label(name="code", color="00ff00", description="Work for Hob").color, "00ff00")
    with op("change a label"):
        same(ada.issues.update_label(name="code", color="0000ff").color, "0000ff")
    with op("list the labels"):
        same([label.name for label in ada.issues.list_labels_for_repo()], ["code"])
    with op("create an issue"):
        same(ada.issues.create(title="Greet", body="Say hello.", labels=["code"]).number, 1)
    with op("read an issue"):
        same(ada.issues.get(issue_number=1).user.login, "ada")
    with op("change an issue"):
        same(ada.issues.update(issue_number=1, title="Greet all").title, "Greet all")
    with op("list the issues with a label"):
        same([one.number for one in ada.issues.list_for_repo(labels="code", state="open")], [1])
    with op("put a label on"):
        same(len(ada.issues.add_labels(issue_number=1, labels=["soon"])), 2)
    with op("take a label off"):
        same([label.name for label in ada.issues.remove_label(issue_number=1, name="soon")], ["code"])
    with op("list the labels of an issue"):
        same([label.name for label in ada.issues.list_labels_on_issue(issue_number=1)], ["code"])
    with op("assign"):
        same(ada.issues.add_assignees(issue_number=1, assignees=["wil"]).assignees[0].login, "wil")
    with op("unassign"):
        same(len(ada.issues.remove_assignees(issue_number=1, assignees=["wil"]).assignees), 0)
    with op("comment"):
        comment = ada.issues.create_comment(issue_number=1, body="On it.")
        same(comment.body, "On it.")
    with op("change a comment"):
        same(ada.issues.update_comment(comment_id=comment.id, body="Done.").body, "Done.")
    with op("list the comments"):
        same([one.body for one in ada.issues.list_comments(issue_number=1)], ["Done."])
    with op("react to an issue"):
        same(ada.reactions.create_for_issue(issue_number=1, content="heart").content, "heart")
    with op("react to a comment"):
        same(ada.reactions.create_for_issue_comment(comment_id=comment.id, content="rocket").content, "rocket")
    with op("the events of an issue"):
        same([one.event for one in ada.issues.list_events(issue_number=1)][:2], ["labeled", "renamed"])
    with op("the timeline of an issue"):
        assert "commented" in [one.event for one in ada.issues.list_events_for_timeline(issue_number=1)]
    with op("lock an issue"):
        ada.issues.lock(issue_number=1, lock_reason="resolved")
        same(ada.issues.get(issue_number=1).locked, True)
    with op("unlock an issue"):
        ada.issues.unlock(issue_number=1)
        same(ada.issues.get(issue_number=1).locked, False)
    with op("close an issue for a reason"):
        closed = ada.issues.update(issue_number=1, state="closed", state_reason="not_planned")
        same(closed.state_reason, "not_planned")
    with op("reopen an issue"):
        same(ada.issues.update(issue_number=1, state="open").state, "open")
    with op("read a file"):
        same(base64.b64decode(ada.repos.get_content(path="README.md").content), b"# ghapi\n")
    with op("create a tree"):
        head = ada.git.get_ref(ref="heads/main").object.sha
        entry = {"path": "hello.txt", "mode": "100644", "type": "blob", "content": "Hello\n"}
        tree = ada.git.create_tree(base_tree=head, tree=[entry])
    with op("create a commit"):
        commit = ada.git.create_commit(message="Say hello", tree=tree.sha, parents=[head])
        same(commit.message, "Say hello")
    with op("create a branch"):
        ada.git.create_ref(ref="refs/heads/work", sha=commit.sha)
        same(sorted(branch.name for branch in ada.repos.list_branches()), ["main", "work"])
    with op("compare two branches"):
        same(ada.repos.compare_commits(basehead="main...work").ahead_by, 1)
    with op("set a commit's status"):
        ada.repos.create_commit_status(sha=commit.sha, state="success", context="test")
        same(ada.repos.get_combined_status_for_ref(ref=commit.sha).state, "success")
    with op("create a pull request"):
        same(ada.pulls.create(title="Say hello", head="work", base="main", body="Fixes #1").number, 2)
    with op("the files of a pull request"):
        same([file.filename for file in ada.pulls.list_files(pull_number=2)], ["hello.txt"])
    with op("the commits of a pull request"):
        same([one.sha for one in ada.pulls.list_commits(pull_number=2)], [commit.sha])
    with op("approve a pull request"):
        same(max_.pulls.create_review(pull_number=2, body="Good.", event="APPROVE").state, "APPROVED")
    with op("merge a pull request"):
        same(ada.pulls.merge(pull_number=2, merge_method="squash").merged, True)
    with op("the issue that it fixed is closed"):
        same(ada.issues.get(issue_number=1).state, "closed")
    with op("delete a branch"):
        ada.git.delete_ref(ref="heads/work")
        same([branch.name for branch in ada.repos.list_branches()], ["main"])
    return script.end()
