"""PyGithub takes an issue to a merged pull request."""

import github

from script import Script, same


def run(forge):
    script = Script("PyGithub", "PyGithub", operations=44)
    op = script.operation

    def sign_in(login):
        auth = github.Auth.Token(forge.token(login))
        return github.Github(base_url=forge.api_url, auth=auth, retry=None, seconds_between_writes=0)

    ada, max_ = sign_in("ada"), sign_in("max")
    with op("the account that is signed in"):
        same(ada.get_user().login, "ada")
    with op("create a repository"):
        made = ada.get_user().create_repo("pygithub", description="A site", auto_init=True)
        same(made.full_name, "ada/pygithub")
    with op("read a repository"):
        repo = ada.get_repo("ada/pygithub")
        same((repo.default_branch, repo.private, repo.description), ("main", False, "A site"))
    with op("the rate limit"):
        assert ada.get_rate_limit().rate.limit == 5000
    with op("create a label"):
        label = repo.create_label("code", "00ff00", "Work for Hob")
        same(label.color, "00ff00")
    with op("change a label"):
        label.edit("code", "0000ff", description="Work")
        same(repo.get_label("code").color, "0000ff")
    with op("list the labels"):
        same([label.name for label in repo.get_labels()], ["code"])
    with op("create an issue"):
        issue = repo.create_issue("Greet", body="Say hello.", labels=["code"])
        same((issue.number, [label.name for label in issue.labels]), (1, ["code"]))
    with op("read an issue"):
        same(repo.get_issue(1).user.login, "ada")
    with op("change an issue"):
        issue.edit(title="Greet all", body="Say hello to all.")
        same(repo.get_issue(1).title, "Greet all")
    with op("list the issues with a label"):
        same([one.number for one in repo.get_issues(state="open", labels=["code"])], [1])
    with op("put a label on"):
        issue.add_to_labels("soon")
        same(sorted(label.name for label in issue.get_labels()), ["code", "soon"])
    with op("take a label off"):
        issue.remove_from_labels("soon")
        same([label.name for label in issue.get_labels()], ["code"])
    with op("assign"):
        issue.add_to_assignees("wil")
        same([one.login for one in repo.get_issue(1).assignees], ["wil"])
    with op("unassign"):
        issue.remove_from_assignees("wil")
        same(repo.get_issue(1).assignees, [])
    with op("comment"):
        comment = issue.create_comment("On it.")
        same(comment.body, "On it.")
    with op("change a comment"):
        comment.edit("Done.")
        same(issue.get_comment(comment.id).body, "Done.")
    with op("list the comments"):
        same([one.body for one in issue.get_comments()], ["Done."])
    with op("all pages of a list"):
        for number in range(35):
            issue.create_comment(f"Word {number}")
        same(issue.get_comments().totalCount, 36)
        same(len(list(issue.get_comments())), 36)
    with op("react to an issue"):
        same(issue.create_reaction("heart").content, "heart")
    with op("react to a comment"):
        comment.create_reaction("rocket")
        same([one.content for one in comment.get_reactions()], ["rocket"])
    with op("the events of an issue"):
        same([one.event for one in issue.get_events()][:2], ["labeled", "renamed"])
    with op("the timeline of an issue"):
        assert "commented" in [one.event for one in issue.get_timeline()]
    with op("lock and unlock an issue"):
        issue.lock("resolved")
        same(repo.get_issue(1).locked, True)
        issue.unlock()
    with op("close an issue for a reason"):
        issue.edit(state="closed", state_reason="not_planned")
        same(repo.get_issue(1).state_reason, "not_planned")
    with op("reopen an issue"):
        issue.edit(state="open")
        same(repo.get_issue(1).state, "open")
    with op("read a file"):
        same(repo.get_contents("README.md").decoded_content, b"# pygithub\n")
    with op("create a tree"):
        head = repo.get_git_ref("heads/main").object.sha
        element = github.InputGitTreeElement("hello.txt", "100644", "blob", content="Hello\n")
        tree = repo.create_git_tree([element], repo.get_git_tree(head))
    with op("create a commit"):
        commit = repo.create_git_commit("Say hello", tree, [repo.get_git_commit(head)])
        same(commit.message, "Say hello")
    with op("create a branch"):
        repo.create_git_ref("refs/heads/work", commit.sha)
        same(sorted(branch.name for branch in repo.get_branches()), ["main", "work"])
    with op("compare two branches"):
        same(repo.compare("main", "work").ahead_by, 1)
    with op("set a commit's status"):
        repo.get_commit(commit.sha).create_status("success", context="test")
        same(repo.get_commit(commit.sha).get_combined_status().state, "success")
    with op("create a pull request"):
        pull = repo.create_pull("main", "work", title="Say hello", body="Fixes #1")
        same((pull.number, pull.mergeable), (2, True))
    with op("the files of a pull request"):
        same([file.filename for file in pull.get_files()], ["hello.txt"])
    with op("the commits of a pull request"):
        same([one.sha for one in pull.get_commits()], [commit.sha])
    with op("comment on a line"):
        theirs = max_.get_repo("ada/pygithub").get_pull(2)
        theirs.create_review_comment("Why?", repo.get_commit(commit.sha), "hello.txt", line=1)
        same([one.body for one in pull.get_review_comments()], ["Why?"])
    with op("where a comment on a line stands"):
        [line] = pull.get_review_comments()
        same((line.position, line.original_position, line.original_commit_id), (1, 1, commit.sha))
    with op("the pull requests of a commit"):
        same([one.number for one in repo.get_commit(commit.sha).get_pulls()], [2])
    with op("search issues"):
        found = ada.search_issues(f"repo:{repo.full_name} is:pr", sort="created", order="asc")
        same((found.totalCount, [one.number for one in found]), (1, [2]))
    with op("the runs of workflows"):
        same([run.name for run in repo.get_workflow_runs(branch="work", status="completed")], [])
    with op("approve a pull request"):
        theirs.create_review(body="Good.", event="APPROVE")
        same([one.state for one in pull.get_reviews()][-1], "APPROVED")
    with op("merge a pull request"):
        same(pull.merge(merge_method="squash").merged, True)
        same((pull.is_merged(), repo.get_issue(1).state), (True, "closed"))
    with op("delete a branch"):
        repo.get_git_ref("heads/work").delete()
        same([branch.name for branch in repo.get_branches()], ["main"])
    with op("a query of GraphQL"):
        _, answer = ada.requester.graphql_query("query { viewer { login } }", {})
        same(answer["data"], {"viewer": {"login": "ada"}})
    return script.end()
