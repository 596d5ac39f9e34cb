#!/usr/bin/env python3
"""Writes the rules by which Hob finds secrets: crates/hob-text/src/secrets/rules.json.

    python3 scripts/secret_rules.py GITLEAKS NOSEYPARKER

The folders are clones of https://github.com/gitleaks/gitleaks and https://github.com/praetorian-inc/noseyparker, with or without a
work tree. Their rules are data under the MIT licence and the Apache License 2.0, whose texts are kept beside them.

- Of gitleaks, only rules that know a secret by its own form are taken: no others, because a word such as "adobe" beside 32 letters
  is in many a lock file, and none of those that `LEFT_OUT` names, each with the reason.
- Of Nosey Parker, those that `TAKEN` names: forms that gitleaks lacks, and secrets that only the words around them tell. Most of the
  others find any password beside any name, or what is public.
- `OWN` are forms that both lack.

Needs Python 3.11, PyYAML and git.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ROOT / "crates/hob-text/src/secrets/rules.json"
OF_NOSEYPARKER = "crates/noseyparker/data/default/builtin/rules/"
# How a rule begins that knows a secret by the words around it.
BY_WORDS = r"(?i)[\w.-]{0,50}?"
LEFT_OUT = {
    "curl-auth-header": "a command with any header",
    "curl-auth-user": "a command with any user",
    "generic-api-key": "any word beside any value",
    "heroku-api-key": "a UUID",
    "jwt": "tests and documents are full of tokens that are signed for nothing; see `TAKEN`",
    "jwt-base64": "the same",
    "kubernetes-secret-yaml": "any value in a manifest",
    "nuget-config-password": "any password",
    "pkcs12-file": "a file's name",
    "private-key": "Hob has its own rule, which reads every kind",
    "flutterwave-public-key": "public",
    "sidekiq-secret": "any value beside the word",
    "sidekiq-sensitive-url": "any user and password in an address",
    "sourcegraph-access-token": "any commit beside the word; see `TAKEN`",
    "square-access-token": "begins as pictures in base64 do",
    "twilio-api-key": "two letters and a hash",
}
# What gitleaks wants behind a secret, and what it is here, so that secrets in sentences and addresses are found, too.
BEHIND = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
BEHIND_HERE = r"(?:[^\w+/=.~-]|\.(?:\s|$)|\\[nr]|$)"
# Of gitleaks, rules whose group is not the secret, but a part of it.
WITHOUT_GROUPS = {"microsoft-teams-webhook"}
# A value that only stands for a secret.
PLACEHOLDER = r"^[$<{%*]|^(?i:(?:your|my|some|the|test|example|dummy|fake|changeme|secret|password|passwd|token|xxx)[\w-]*)$"
# What is to be before a token that many tests have: a name or a header that gives it as one that is in use.
GIVEN = r"(?i: token | jwt | bearer | authorization | secret | api_?key | password ) [^\n]{0,24}? "
# By the rule's id: words of which a text with such a secret has one, the least entropy, and what is to be before it.
TAKEN = {
    "np.adafruit.1": (["aio_"], 3),
    "np.atlassian.1": (["atatt3xffgf0"], 3),
    "np.aws.5": (["amzn.mws."], 3),
    "np.appsync.1": (["da2-"], 3),
    "np.azure.1": (["accountkey", "sharedaccesskey", "sharedsecretvalue"], 3),
    "np.azure.2": ([".azconfig.io"], 3),
    "np.azure.3": (["ado_pat", "pat_token", "access"], 3.5),
    "np.azure.4": (["azdo"], 3.5),
    "np.bitbucket.1": (["atbb"], 3.5),
    "np.codeclimate.1": (["codeclimate_repo_token", "cc_test_reporter_id"], 3),
    "np.cratesio.1": (["cio"], 4),
    "np.dtrack.1": (["odt_"], 3.5),
    "np.dockerhub.1": (["dckr_pat_"], 3),
    "np.dropbox.1": (["sl."], 4),
    "np.facebook.2": (["eaacedeose0cba"], 3),
    "np.figma.1": (["figma"], 3),
    "np.firecrawl.1": (["fc-"], 3),
    "np.google.2": (["gocspx-"], 3),
    "np.google.4": (["ya29."], 3.5),
    "np.groq.1": (["gsk_"], 3.5),
    "np.hashicorp.1": (["vault", "hashicorp"], 4),
    "np.hashicorp.2": (["vault", "hashicorp"], 4),
    "np.hashicorp.3": (["vault", "hashicorp"], 4),
    "np.hashicorp.6": (["hvr."], 3),
    "np.hashicorp.7": (["unseal"], 4),
    "np.jina.1": (["jina_"], 3.5),
    "np.jwt.1": (["eyj"], 4, GIVEN),
    "np.kagi.1": (["kagi"], 3.5),
    "np.kubernetes.2": (["token-secret:"], 3),
    "np.mailchimp.1": (["mailchimp"], 3),
    "np.mapbox.2": (["mapbox"], 3.5),
    "np.mapbox.3": (["mapbox"], 3.5),
    "np.netrc.1": (["machine"], 3),
    "np.newrelic.1": (["nral"], 3),
    "np.newrelic.4": (["nraa-"], 3),
    "np.newrelic.5": (["nrii-"], 3),
    "np.newrelic.8": (["px-api-"], 3),
    "np.nuget.1": (["oy2"], 4),
    "np.openai.1": (["sk-"], 4),
    "np.pem.2": (["ls0tls1crudjti"], 3),
    "np.salesforce.1": (["00d"], 4),
    "np.segment.1": (["sgp_"], 3.5),
    "np.sonarqube.1": (["sonar"], 3),
    "np.sourcegraph.1": (["sgp_"], 3),
    "np.square.1": (["sq0atp-"], 3),
    "np.square.2": (["sq0csp-"], 3),
    "np.stackhawk.1": (["hawk."], 3.5),
    "np.tavily.1": (["tvly-"], 3.5),
    "np.teamcity.1": (["eyj0exaioiaivenwmij9"], 3),
    "np.telegram.1": ([":aa"], 4),
    "np.twitch.1": (["live_"], 3.5),
    "np.wireguard.1": (["privatekey"], 3.5),
}
OWN = [
    ("discord-webhook", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/([\w-]{60,80})", ["/api/webhooks/"], 3.5),
    (
        "discord-bot-token",
        r"(?i:discord)[^\n]{0,40}?\b([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38})(?:[^\w.-]|$)",
        ["discord"],
        4,
    ),
    ("docker-registry-login", r'(?s)"auths"\s*:\s*\{.{0,300}?"auth"\s*:\s*"([A-Za-z0-9+/]{16,}={0,2})"', ['"auths"'], 3.5),
    # The beginning of `{"auths"`, as a Kubernetes secret has it.
    ("docker-registry-login-base64", r"\b(eyJhdXRocyI6[A-Za-z0-9+/]{40,}={0,2})", ["eyjhdxrocyi6"], 3.5),
]


class Clone:
    """A clone of a scanner."""

    def __init__(self, folder):
        self.git = ["git", "-C", folder]
        self.commit = self.run("rev-parse", "HEAD").strip()

    def run(self, *words):
        return subprocess.run([*self.git, *words], check=True, capture_output=True, text=True).stdout

    def show(self, path):
        return self.run("show", f"HEAD:{path}")

    def source(self, name, licence, rules):
        return {"name": name, "commit": self.commit, "licence": licence, "notice": self.show("LICENSE").strip(), "rules": rules}


def rule(name, regex, keywords, entropy, allowed):
    return {"id": name, "regex": regex, "keywords": keywords, "entropy": entropy, "allowed": allowed}


def of_gitleaks(clone):
    for found in tomllib.loads(clone.show("config/gitleaks.toml"))["rules"]:
        regex = found.get("regex", "")
        if not regex or regex.startswith(BY_WORDS) or found["id"] in LEFT_OUT or "path" in found:
            continue
        if found["id"] in WITHOUT_GROUPS:
            regex = with_the_last_groups(regex, 0)
        regex = regex.replace(BEHIND, BEHIND_HERE)
        allowed = [allowed for entry in found.get("allowlists", []) for allowed in entry.get("regexes", [])]
        yield rule(found["id"], regex, found["keywords"], found.get("entropy", 0), allowed)


def of_noseyparker(clone):
    left, names = dict(TAKEN), set()
    for path in clone.run("ls-tree", "--name-only", "HEAD", OF_NOSEYPARKER).split():
        for found in yaml.safe_load(clone.show(path))["rules"]:
            taken = left.pop(found["id"], None)
            if taken is None:
                continue
            keywords, entropy, *before = taken
            regex = re.sub(r"\(\?\#[^)]*\)", "", found["pattern"]).strip()
            for given in before:
                regex = regex.replace("(?x)", f"(?x) {given}", 1)
            name = re.sub(r"[^a-z0-9]+", "-", found["name"].lower()).strip("-")
            # Some rules have one name.
            name = f"{name}-{found['id'].rsplit('.', 1)[1]}" if name in names else name
            names.add(name)
            yield rule(name, with_the_last_groups(regex, 1), keywords, entropy, [PLACEHOLDER])
    if left:
        raise SystemExit(f"not found: {', '.join(left)}")


def with_the_last_groups(regex, count):
    """The regex, of whose groups only so many, the last, are kept. The last one of Nosey Parker's is the secret."""
    groups = [found.start() for found in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|(\()(?!\?)", regex, re.DOTALL) if found[1]]
    for at in reversed(groups[: len(groups) - count]):
        regex = f"{regex[:at]}(?:{regex[at + 1:]}"
    return regex


def main():
    gitleaks, noseyparker = map(Clone, sys.argv[1:])
    own = [rule(name, regex, keywords, entropy, [PLACEHOLDER]) for name, regex, keywords, entropy in OWN]
    sources = [
        gitleaks.source("gitleaks", "MIT", list(of_gitleaks(gitleaks))),
        noseyparker.source("noseyparker", "Apache-2.0", list(of_noseyparker(noseyparker))),
        {"name": "Hob", "rules": own},
    ]
    RULES.write_text(json.dumps({"sources": sources}, indent=1, ensure_ascii=False) + "\n")
    print(", ".join(f"{len(source['rules'])} of {source['name']}" for source in sources))


main()
