#!/usr/bin/env python3
"""The software bill of materials of a release: CycloneDX 1.6 as JSON, on standard output.

    python3 scripts/sbom.py [--target TARGET] [--features NAMES]

It lists the packages that `cargo build --package hob` compiles for the target, those that only build scripts use included,
and leaves out what only tests use. Names, versions and licences come from `cargo metadata --locked`, and the SHA-256 of each
package from Cargo.lock. Nothing is asked of the network, as long as cargo has the packages. The same commit gives the same
bytes: the time is SOURCE_DATE_EPOCH, else that of the commit, and the serial number is computed from the contents.

<https://cyclonedx.org/docs/1.6/json/>. Needs Python 3.9 and nothing else.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

# A package of Cargo.lock with its checksum. Only Python 3.11 can read TOML, and not each machine that builds releases has it.
LOCKED = re.compile(r'^name = "(.+)"\nversion = "(.+)"\nsource = .*\nchecksum = "([0-9a-f]{64})"$', re.MULTILINE)
ROOT = pathlib.Path(__file__).resolve().parent.parent


def metadata(target, features):
    """What cargo says of all packages, for one target."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += ["--filter-platform", target] if target else []
    command += ["--features", features] if features else []
    return json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)


def reached(nodes, root):
    """The packages below `root`: all, and those that are part of the program and not only of its build."""

    def walk(kinds):
        seen, left = {root}, [root]
        while left:
            for dep in nodes[left.pop()]["deps"]:
                if dep["pkg"] not in seen and any(kind["kind"] in kinds for kind in dep["dep_kinds"]):
                    seen.add(dep["pkg"])
                    left.append(dep["pkg"])
        return seen

    return walk({None, "build"}), walk({None})


def licences(package):
    """The licence in CycloneDX's form. Some packages still write a slash for `OR`."""
    if package["license"]:
        return [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    return [{"license": {"name": f"see {package['license_file']}"}}] if package["license_file"] else []


def component(package, kind, checksums):
    """One package. `kind` is `application` or `library`."""
    name, version = package["name"], package["version"]
    purl = f"pkg:cargo/{name}@{version.replace('+', '%2B')}"
    described = {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if package["description"]:
        described["description"] = " ".join(package["description"].split())
    if found := licences(package):
        described["licenses"] = found
    if checksum := checksums.get((name, version)):
        described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if (package["repository"] or "").startswith("https://"):
        described["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return described


def moment():
    """The time that the document states, in seconds since 1970."""
    if told := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(told)
    return int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, check=True).stdout)


def bill(target, features):
    """The whole document."""
    checksums = {(name, version): checksum for name, version, checksum in LOCKED.findall((ROOT / "Cargo.lock").read_text())}
    known = metadata(target, features)
    packages = {package["id"]: package for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    root = next(id for id in known["workspace_members"] if packages[id]["name"] == "hob")
    all_of_them, in_the_program = reached(nodes, root)

    components = []
    for id in all_of_them - {root}:
        described = component(packages[id], "library", checksums)
        # What only build scripts use is not in the program.
        described["scope"] = "required" if id in in_the_program else "excluded"
        components.append(described)
    reference = {id: component(packages[id], "library", {})["bom-ref"] for id in all_of_them}
    dependencies = [
        {
            "ref": reference[id],
            "dependsOn": sorted({
                reference[dep["pkg"]] for dep in nodes[id]["deps"]
                if dep["pkg"] in all_of_them and any(kind["kind"] != "dev" for kind in dep["dep_kinds"])
            }),
        }
        for id in all_of_them
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(moment(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(packages[root], "application", {}),
            "properties": [
                {"name": "cargo:target", "value": target or "all"},
                {"name": "cargo:features", "value": features or "default"},
            ],
        },
        "components": sorted(components, key=lambda one: one["bom-ref"]),
        "dependencies": sorted(dependencies, key=lambda one: one["ref"]),
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "serialNumber": f"urn:uuid:{serial}", **document}


def main():
    parser = argparse.ArgumentParser(description="The bill of materials of a release, as CycloneDX 1.6.")
    parser.add_argument("--target", default="", help="the target of the release; by default all targets")
    parser.add_argument("--features", default="", help="the features that it is built with, comma-separated")
    given = parser.parse_args()
    json.dump(bill(given.target, given.features), sys.stdout, indent=1, sort_keys=False)
    print()


if __name__ == "__main__":
    main()
