#!/usr/bin/env bash
# Cuts a release: checks that this is the place for it, writes the version, commits and tags.
#
#     scripts/cut_release.sh VERSION [--push] [--run-ci]
#     scripts/cut_release.sh --self-test
#
# VERSION       such as 1.2.3, or 1.2.3-rc.1 for a prerelease
# --push        push the commit and the tag, both or neither. The tag starts the workflow that builds the release
# --run-ci      run .ci/run here, in place of asking GitHub with `gh` whether CI is green for this commit
# --self-test   cut releases of a throw-away copy, and some that must be refused
#
# Without --push nothing leaves this machine, and the last lines say how to go on and how to take it back.
set -euo pipefail

fail() {
  printf 'cut_release.sh: %s\n' "$*" >&2
  exit 1
}

version='' push='' run_ci='' self_test=''
while [ $# -gt 0 ]; do
  case "$1" in
    --push) push=yes ;;
    --run-ci) run_ci=yes ;;
    --self-test) self_test=yes ;;
    -*) fail "there is no option $1; the first lines of this file say which there are" ;;
    *)
      [ -z "$version" ] || fail "give one version"
      version="${1#v}"
      ;;
  esac
  shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cut_release() {
  local branch commit before
  branch="$(git symbolic-ref --quiet --short HEAD || true)"
  [ "$branch" = main ] || fail "a release is cut on the branch main, and this is ${branch:-no branch}"
  [ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed; see git status"
  git fetch --quiet --tags origin main || fail "origin cannot be reached"
  commit="$(git rev-parse HEAD)"
  [ "$commit" = "$(git rev-parse FETCH_HEAD)" ] || fail "main is not what origin has; pull or push first"
  ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || fail "the tag v$version is there already"
  # In a fork the action has to download the fork's releases.
  if [[ "$(git config remote.origin.url)" =~ github\.com[:/]([^/]+/[^/]+)$ ]]; then
    local repository="${BASH_REMATCH[1]%.git}" source=.github/actions/hob/source
    [ "$(<"$source")" = "$repository" ] ||
      fail "the action downloads releases of $(<"$source"), and this is $repository; write $repository into $source"
  fi

  if [ -n "$run_ci" ]; then
    bash .ci/run || fail "CI is not green"
    [ -z "$(git status --porcelain)" ] || fail "CI left changes behind; see git status"
  else
    command -v gh >/dev/null || fail "gh is not installed; give --run-ci to run CI here"
    local conclusion
    conclusion="$(gh run list --workflow ci.yml --commit "$commit" --limit 1 --json conclusion --jq '.[0].conclusion')"
    [ "$conclusion" = success ] || fail "CI is not green for $commit: ${conclusion:-there is no run that has ended}"
  fi

  before="$(python3 scripts/version.py show)"
  # Whatever fails from here on, the files are as they were.
  trap 'git checkout --quiet -- .' EXIT
  python3 scripts/version.py set "$version" >/dev/null
  # Cargo compares Cargo.lock with Cargo.toml, and asks nobody where it has the packages.
  cargo metadata --locked --format-version 1 >/dev/null || fail "Cargo.lock does not fit Cargo.toml"
  git commit --quiet --all --message "release: Version $version"
  trap - EXIT
  git tag --annotate "v$version" --message "Hob $version"
  printf 'Hob %s follows %s: commit %s, tag v%s\n' "$version" "$before" "$(git rev-parse --short HEAD)" "$version"
  if [ -n "$push" ]; then
    git push --quiet --atomic origin main "v$version"
    printf 'Pushed. The workflow makes a draft of the release: read it, and publish it.\n'
  else
    printf 'Go on:        git push --atomic origin main v%s\n' "$version"
    printf 'Take it back: git tag --delete v%s && git reset --hard %s\n' "$version" "${commit:0:12}"
  fi
}

# Prints what was tried. Nothing of the real checkout changes.
self_test() {
  local work copy
  work="$(mktemp -d)"
  # shellcheck disable=SC2064 # the folder is that of now
  trap "rm -rf '$work'" EXIT
  copy="$work/copy"
  export GIT_CONFIG_GLOBAL="$work/gitconfig" GIT_CONFIG_NOSYSTEM=1
  git config --global user.name "A maintainer"
  git config --global user.email maintainer@example.com
  git config --global init.defaultBranch main
  git init --quiet --bare "$work/origin"
  mkdir "$copy"
  # What git would commit here, as one commit.
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
  done | tar --null --files-from=- -cf - | tar -xf - -C "$copy"
  cd "$copy"
  # The test is not that of CI.
  printf '#!/bin/sh\n' >.ci/run
  git init --quiet
  git add --all
  git commit --quiet --message "A copy"
  git remote add origin "$work/origin"
  git push --quiet origin main
  local old
  old="$(python3 scripts/version.py show)"

  # refused SENTENCE ARGUMENTS…: it has to fail with the sentence, and to leave everything as it was.
  refused() {
    local sentence="$1" head says
    shift
    head="$(git rev-parse HEAD)"
    if says="$(bash scripts/cut_release.sh "$@" 2>&1)"; then fail "it was not refused: $*"; fi
    case "$says" in *"$sentence"*) ;; *) fail "it says: $says" ;; esac
    if [ "$(git rev-parse HEAD)" != "$head" ] || [ -n "$(git tag)" ]; then fail "it left something behind: $*"; fi
    printf 'ok   refused: %s\n' "$sentence"
  }
  # git goes to the folder whatever the address says.
  git config --global "url.$work/origin.insteadOf" https://github.com/ann/fork.git
  git remote set-url origin https://github.com/ann/fork.git
  refused "write ann/fork into .github/actions/hob/source" 99.0.0 --run-ci
  echo ann/fork >.github/actions/hob/source
  git commit --quiet --all --message "Releases of the fork"
  git push --quiet origin main
  refused "is not later than" "$old" --run-ci
  refused "is not a version" 99.0 --run-ci
  refused "is not a version" 99.0.0-rc.01 --run-ci
  printf 'exit 1\n' >.ci/run
  refused "not committed" 99.0.0 --run-ci
  git commit --quiet --all --message "A change that is not pushed"
  refused "not what origin has" 99.0.0 --run-ci
  git push --quiet origin main
  refused "CI is not green" 99.0.0 --run-ci
  git switch --quiet --create other
  refused "on the branch main" 99.0.0 --run-ci
  git switch --quiet main
  printf '#!/bin/sh\n' >.ci/run
  git commit --quiet --all --message "Green again"
  git push --quiet origin main

  local given
  for given in 99.0.0-rc.1 99.0.0; do
    bash scripts/cut_release.sh "$given" --run-ci --push >/dev/null
    [ "$(git -C "$work/origin" rev-parse "v$given^{commit}")" = "$(git -C "$work/origin" rev-parse main)" ] ||
      fail "origin does not have main at v$given"
    [ "$(git show "v$given:Cargo.toml" | sed -n '/^\[workspace\.package\]/,/^\[/s/^version = //p')" = "\"$given\"" ] ||
      fail "Cargo.toml has another version at v$given"
    [ -z "$(git status --porcelain)" ] || fail "there are changes left"
    python3 scripts/version.py notes "$given" >"$work/notes"
    [ -s "$work/notes" ] || fail "there are no notes of $given"
    printf 'ok   %s: %s\n' "$given" "$(git show --stat --format=%s "v$given^{commit}" | tr -s ' \n' ' ')"
    # The next one needs something to say.
    sed -i 's/^## \[Unreleased\]$/&\n\n### Fixed\n\n- A thing./' CHANGELOG.md
    git commit --quiet --all --message "A change"
    git push --quiet origin main
  done
}

if [ -n "$self_test" ]; then
  self_test
else
  [ -n "$version" ] || fail "give a version, such as 1.2.3"
  cut_release
fi
