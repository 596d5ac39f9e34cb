#!/usr/bin/env python3
"""Writes the rules by which Hob finds secrets: crates/hob-text/src/secrets/rules.json.

    python3 scripts/secret_rules.py FOLDER

FOLDER is a clone of https://github.com/gitleaks/gitleaks, with or without a work tree. Its rules are data under the MIT licence, whose
notice is kept beside them. Only rules that know a secret by its own form are taken: no others, because a word such as "adobe" beside
32 letters is in many a lock file, and none of those that `LEFT_OUT` names, each with the reason.

Needs Python 3.11 and git.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ROOT / "crates/hob-text/src/secrets/rules.json"
# How a rule begins that knows a secret by the words around it.
BY_WORDS = r"(?i)[\w.-]{0,50}?"
LEFT_OUT = {
    "curl-auth-header": "a command with any header",
    "curl-auth-user": "a command with any user",
    "generic-api-key": "any word beside any value",
    "heroku-api-key": "a UUID",
    "jwt": "tests and documents are full of tokens that are signed for nothing",
    "jwt-base64": "the same",
    "kubernetes-secret-yaml": "any value in a manifest",
    "nuget-config-password": "any password",
    "pkcs12-file": "a file's name",
    "private-key": "Hob has its own rule, which reads every kind",
    "flutterwave-public-key": "public",
    "sidekiq-secret": "any value beside the word",
    "sidekiq-sensitive-url": "any user and password in an address",
    "square-access-token": "begins as pictures in base64 do",
    "twilio-api-key": "two letters and a hash",
}


def main():
    git = ["git", "-C", sys.argv[1]]
    show = lambda path: subprocess.run([*git, "show", f"HEAD:{path}"], check=True, capture_output=True, text=True).stdout
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    rules = []
    for rule in tomllib.loads(show("config/gitleaks.toml"))["rules"]:
        regex = rule.get("regex", "")
        if not regex or regex.startswith(BY_WORDS) or rule["id"] in LEFT_OUT or "path" in rule:
            continue
        allowed = [allowed for entry in rule.get("allowlists", []) for allowed in entry.get("regexes", [])]
        rules.append({
            "id": rule["id"],
            "regex": regex,
            "keywords": rule["keywords"],
            "entropy": rule.get("entropy", 0),
            "allowed": allowed,
        })
    source = {"name": "gitleaks", "commit": commit, "licence": "MIT", "notice": show("LICENSE").strip()}
    RULES.write_text(json.dumps({"source": source, "rules": rules}, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(rules)} rules")


main()
