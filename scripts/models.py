#!/usr/bin/env python3
"""Writes crates/hob-config/src/models.json, what Hob knows of models, from the table of the PyPI package `litellm`.

    python3 scripts/models.py               installs the newest package into a temporary environment, and writes the file
    python3 scripts/models.py --wheel FILE  takes the table of a package that was downloaded (`pip download --no-deps litellm`)
    python3 scripts/models.py --check       fails where the file is not what this script writes; reads no network

The table is `model_prices_and_context_window_backup.json`, by BerriAI and contributors, under the MIT licence. Its facts are taken,
and none of its text. CORRECTIONS has what vendors' pages say otherwise.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

FILE = pathlib.Path(__file__).resolve().parent.parent / "crates/hob-config/src/models.json"
TABLE = "litellm/model_prices_and_context_window_backup.json"
VENDORS = ("anthropic", "deepseek", "gemini", "mistral", "openai", "xai")
# Models that do not write code in a conversation: other media, searches, tunings, experiments that are over, other models' hosts.
LEFT_OUT = re.compile(
    r"^ft:|audio|tts|lyria|robotics|omni|image|search|container|deep-research|computer-use|learnlm|realtime|voxtral|fim|exp-|-exp$"
    r"|rosalind|cyber|daybreak|-law$|beta|experimental|multi-agent|-gv2|vibe|leanstral|gemma|glm-|mistral/deepseek|^gpt-3|^gpt-4(-|$)"
)
DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
# OpenAI's windows with the output in them: the table has these for some models, and the rest without the output for others.
WITH_OUTPUT = (400_000, 1_050_000)
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# How the families edit files, by the beginnings of their models' names; the longest counts. `replace`: exact texts of a file, as in
# Claude's own agent. `patch`: patches of OpenAI's form as an argument. `patch_text`: as a custom tool's plain text. `patch_tool`: those that
# know it as a tool of their interface, from GPT-5.1 on (developers.openai.com/api/docs/guides/tools-apply-patch, read 2026-11).
EDITS = {"claude": "replace", "codex": "patch", "gpt-5": "patch_text", "gpt-5.": "patch_tool", "gpt-6": "patch_tool"}
# developers.openai.com/api/docs/models, read 2026-11.
CORRECTIONS = {
    "gpt-5-pro": {"efforts": ["high"]},
    "gpt-5.1-codex-max": {"efforts": ["none", "low", "medium", "high", "xhigh"]},
    "gpt-5.2-codex": {"efforts": ["low", "medium", "high", "xhigh"]},
}
FIELDS = {
    "vendor": str, "window": int, "output": int, "images": bool, "thinking": str, "efforts": list, "prices": list, "above": dict,
    "flex": bool, "retires": str, "successor": str,
}  # fmt: skip
PRICES = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost")


def prices(entry, suffix=""):
    """US dollars for a million tokens in, out, in from the cache, in to the cache; `None` for that of tokens in."""
    found = [entry.get(name + suffix) for name in PRICES]
    if found[0] is None or found[1] is None:
        return None
    rounded = [None if each is None else round(each * 1e6, 6) for each in found]
    # A free write is told as 0 where a vendor has no price for it: tokens in are billed then.
    rounded[3] = rounded[3] or None
    while rounded[-1] is None:
        rounded.pop()
    return [int(each) if each is not None and each == int(each) else each for each in rounded]


def checked(name, entry):
    """Fails where a factor that Hob computes with is not the table's."""
    for suffix, of, factor in (("_flex", PRICES[0], 0.5), ("_flex", PRICES[1], 0.5), ("_above_1hr", PRICES[3], 1.6)):
        one, other = entry.get(of), entry.get(of + suffix)
        if one and other and abs(other / one - factor) > 1e-6:
            sys.exit(f"{name}: {of}{suffix} is {other / one:.3f} times {of}, not {factor}: crates/hob-egress/src/usage.rs has that")


def efforts(name, entry):
    if not entry.get("supports_reasoning"):
        return []
    if entry.get("reasoning_effort_levels"):
        return [word for word in EFFORTS if word in entry["reasoning_effort_levels"]]
    if "-chat" in name:
        return ["medium"]
    usual = ("low", "medium", "high")
    flag = lambda word: entry.get(f"supports_{word}_reasoning_effort", word in usual)
    return [word for word in EFFORTS if flag(word)]


def thinking(vendor, entry):
    """How the model is asked to think; `always`: it does unasked, and needs room for it."""
    if not entry.get("supports_reasoning"):
        return None
    if entry.get("thinking_always_on"):
        return "always"
    if entry.get("supports_adaptive_thinking"):
        return "unasked" if entry.get("thinking_on_by_default") else "adaptive"
    return "budget" if vendor == "anthropic" else "effort"


def model(name, entry):
    vendor, window, output = entry["litellm_provider"], entry.get("max_input_tokens"), entry.get("max_output_tokens")
    if not window or not output:
        return None
    checked(name, entry)
    if vendor == "openai" and window in WITH_OUTPUT:
        window -= output
    steps = {re.search(r"_above_(\d+)k_tokens$", key) for key in entry if key.startswith(PRICES[0])} - {None}
    above = [{"tokens": int(step[1]) * 1000, "prices": prices(entry, step[0])} for step in steps]
    if len(above) > 1:
        sys.exit(f"{name}: prices of several lengths; crates/hob-config/src/known_models.rs has one")
    kind = thinking(vendor, entry)
    facts = {
        "vendor": vendor,
        "window": window,
        "output": output,
        "images": bool(entry.get("supports_vision")),
        "thinking": kind,
        "efforts": efforts(name, entry) if vendor in ("openai", "mistral", "gemini") or kind in ("always", "unasked", "adaptive") else [],
        "prices": prices(entry),
        "above": above[0] if above and above[0]["prices"] else None,
        "flex": "input_cost_per_token_flex" in entry,
        "retires": entry.get("deprecation_date"),
        "successor": (entry.get("successor_model") or "").split("/")[-1],
    } | CORRECTIONS.get(DATE.sub("", name), {})
    return {key: value for key, value in facts.items() if value not in (None, [], "") and (value is not False or key == "images")}


def models(table):
    found = {}
    for name, entry in table.items():
        if entry.get("litellm_provider") in VENDORS and entry.get("mode") in ("chat", "responses") and not LEFT_OUT.search(name):
            made = model(name.split("/")[-1], entry)
            # A name with its vendor is the newer of two entries.
            if made and (name.count("/") or name not in found):
                found[name.split("/")[-1]] = made
    same = [name for name in found if found[name] == found.get(DATE.sub("", name)) and DATE.search(name)]
    return {name: found[name] for name in sorted(found) if name not in same}


def text(source, found):
    """The file: a line for each model."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(facts, separators=(', ', ': '))}" for name, facts in found.items())
    return f'{{\n"source": {json.dumps(source)},\n"edits": {json.dumps(EDITS)},\n"models": {{\n{lines}\n}}\n}}\n'


def check(written):
    """What is wrong with a written file."""
    read = json.loads(written)
    wrong = [f"{name}: `{key}`" for name, facts in read["models"].items() for key, value in facts.items()
             if key not in FIELDS or not isinstance(value, FIELDS[key])]  # fmt: skip
    wrong += [f"{name}: not what the corrections say" for name, facts in CORRECTIONS.items()
              if name in read["models"] and not facts.items() <= read["models"][name].items()]  # fmt: skip
    wrong += [f"{name}: left out by now" for name in read["models"] if LEFT_OUT.search(name)]
    if written != text(read["source"], dict(sorted(read["models"].items()))):
        wrong.append("not as this script writes it")
    return wrong


def wheel(folder):
    """The newest package, which is not installed: its code is not needed."""
    pip = pathlib.Path(folder) / "venv/bin/pip"
    subprocess.run([sys.executable, "-m", "venv", pip.parent.parent], check=True)
    subprocess.run([pip, "download", "--quiet", "--no-deps", "--only-binary=:all:", "litellm", "-d", folder], check=True)
    return next(pathlib.Path(folder).glob("*.whl"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="read the file, and fail where it is not what this writes")
    arguments.add_argument("--wheel", type=pathlib.Path, help="a package that was downloaded")
    given = arguments.parse_args()
    if given.check:
        wrong = check(FILE.read_text())
        sys.exit("\n".join([f"{FILE.name} needs `python3 scripts/models.py`:", *wrong]) if wrong else None)
    with tempfile.TemporaryDirectory() as folder:
        package = given.wheel or wheel(folder)
        with zipfile.ZipFile(package) as archive:
            table = json.loads(archive.read(TABLE))
    source = {
        "package": "litellm", "version": package.name.split("-")[1], "file": TABLE, "licence": "MIT",
        "date": datetime.date.today().isoformat(),
    }  # fmt: skip
    found = models(table)
    FILE.write_text(text(source, found))
    print(f"{FILE.name}: {len(found)} models, {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
