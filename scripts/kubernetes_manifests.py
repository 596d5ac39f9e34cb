#!/usr/bin/env python3
"""Holds packaging/kubernetes to the API of two versions of Kubernetes, offline.

    python3 scripts/kubernetes_manifests.py

Every object has to be one that its version's schema knows, with no field that the schema lacks: those that `kustomization.yaml` names,
the Job of `job.yaml`, and the Job within KEDA's `ScaledJob`, whose own schema is not at hand. Each file has to be named by
`kustomization.yaml`, but for `keda.yaml`. Before, it plants mistakes, and ends with 1 if one of them is not found.

Needs PyPI's kubernetes-validate, which brings the schemas; scripts/schemas.txt pins it.
"""

import copy
import pathlib
import sys

import kubernetes_validate
import yaml

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "packaging" / "kubernetes"
# The oldest version whose API `k8s-openapi` knows here, and the newest with a schema.
VERSIONS = ("1.33", "1.37")
# Objects of other APIs: what has no schema here, and what is within.
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "planted"}}


def objects(path):
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


def known(one):
    """The object as far as there is a schema for it; none if there is none."""
    if one["kind"] == "ScaledJob":
        return JOB | {"spec": one["spec"]["jobTargetRef"]}
    return None if one["apiVersion"].startswith(("keda.sh/", "kustomize.")) else one


def faults(one, version):
    try:
        kubernetes_validate.validate(one, version, strict=True)
    except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as fault:
        return [f"{version}: {one['kind']} {one['metadata']['name']}: {fault.message}"]
    return []


def planted(version):
    """Mistakes that were not found."""
    job = objects(FOLDER / "job.yaml")[0]
    job["metadata"]["name"] = "planted"
    pod = ("spec", "template", "spec")
    for path, value in [(("spec", "backofLimit"), 0), ((*pod, "containers"), "hob"), (("spec", "template"), 7), (("kind",), "Jobs")]:
        wrong = copy.deepcopy(job)
        place = wrong
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        if not faults(wrong, version):
            yield f"{version}: `{'.'.join(path)}: {value}` was planted and not found"


def main():
    found = []
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    named = kustomization["resources"] + kustomization["configMapGenerator"][0]["files"]
    there = {path.name for path in FOLDER.iterdir()}
    found += [f"`{name}` is not there" for name in named if name not in there]
    rest = there - set(named) - {"kustomization.yaml", "keda.yaml"}
    found += [f"kustomization.yaml does not name `{name}`" for name in sorted(rest)]
    checked = 0
    for version in VERSIONS:
        found += planted(version)
        for path in sorted(FOLDER.glob("*.yaml")):
            for one in filter(None, map(known, objects(path))):
                # A Job gets its name from Hob.
                one["metadata"].setdefault("name", "planted")
                found += [f"{path.name}: {fault}" for fault in faults(one, version)]
                checked += 1
    print("\n".join(found) or f"{checked // len(VERSIONS)} objects are as Kubernetes {' and '.join(VERSIONS)} have them")
    sys.exit(bool(found))


main()
