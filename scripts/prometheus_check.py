#!/usr/bin/env python3
"""Has the real Prometheus scrape a real `hob run --listen`, load Hob's rules, and answer each query of Hob's board.

    cargo build && python3 scripts/prometheus_check.py target/debug/hob [--prometheus DIR]

It starts the embedded forge, `hob run` with an agent that is a shell script, and Prometheus, on loopback. It needs `prometheus`, of Debian's
package of that name, on the PATH or in DIR. Nothing outside a temporary folder is written, and only processes that were started here are
ended. It ends with 1 and says which, if a scrape failed, an alert fires, or a query gives no answer.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from embedded_forge import Forge, free_ports, until

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = "token-of-prometheus"
AGENT = """cat > /dev/null; echo done > done.txt
echo '{"outcome":"done","summary":"Wrote `done.txt`.","usd":0.25}'"""


def read(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def configuration(folder, port):
    """Prometheus' own settings: one target, whose token is in a file, and Hob's rules."""
    (folder / "token").write_text(TOKEN)
    settings = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(ROOT / "config/prometheus-rules.yml")],
        "scrape_configs": [
            {
                "job_name": "hob",
                "authorization": {"credentials_file": str(folder / "token")},
                "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
            }
        ],
    }
    # JSON is YAML.
    (folder / "prometheus.yml").write_text(json.dumps(settings))
    return str(folder / "prometheus.yml")


def queries():
    """Each query of the board, with its panel's title, as Grafana would send it."""
    board = json.loads((ROOT / "config/grafana.json").read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"].replace("$repository", ".*")
            yield panel["title"], re.sub(r"\$__(rate_interval|range)", "1m", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", type=pathlib.Path)
    parser.add_argument("--prometheus", type=pathlib.Path, help="the folder of the program `prometheus`")
    options = parser.parse_args()
    program = str(options.prometheus / "prometheus") if options.prometheus else "prometheus"
    hob = str(options.hob.resolve())
    with tempfile.TemporaryDirectory(prefix="hob-prometheus-") as folder:
        folder = pathlib.Path(folder)
        forge = Forge(hob, folder)
        children = []
        try:
            check(hob, program, forge, folder, children)
        finally:
            for child in reversed(children):
                child.terminate()
                child.wait(60)
            forge.close()


def check(hob, program, forge, folder, children):
    repository = forge.repository("site")
    agent = folder / "agent.sh"
    agent.write_text(AGENT)
    settings = folder / "hob.toml"
    settings.write_text(
        f'agent = "scripted"\n[agents.scripted]\nbackend = "command"\ncommand = ["sh", "{agent}"]\n[sandbox]\ntier = "none"\n'
    )
    here, there = free_ports(2)
    environment = forge.environment(folder) | {"HOB_LISTEN_TOKEN": TOKEN}
    run = [hob, "--repo", "ann/site", "--config", str(settings), "--state-dir", str(folder / "state"), "run", "--listen", str(here)]
    with open(folder / "hob.log", "wb") as log:
        children.append(subprocess.Popen(run, env=environment, stdout=log, stderr=log))
    data = ["--storage.tsdb.path", str(folder / "data"), "--web.listen-address", f"127.0.0.1:{there}"]
    with open(folder / "prometheus.log", "wb") as log:
        arguments = [program, "--config.file", configuration(folder, here), *data]
        children.append(subprocess.Popen(arguments, stdout=log, stderr=log, env={"PATH": os.environ["PATH"]}))
    api = f"http://127.0.0.1:{there}/api/v1"

    def ask(query):
        found = read(f"{api}/query?" + urllib.parse.urlencode({"query": query}))
        return found["data"]["result"]

    def number(query):
        result = ask(query)
        return float(result[0]["value"][1]) if result else 0

    until("Prometheus scrapes Hob", lambda: number('up{job="hob"}'))
    forge.call("POST", f"{repository}/issues", {"title": "Make done.txt", "labels": ["code"]})
    until("the pull request is counted", lambda: number('hob_attempts_total{end="published"}'))
    # A rate needs two scrapes.
    until("two scrapes are there", lambda: number("count_over_time(hob_cost_usd_total[1m])") >= 3)
    missing = [title for title, query in queries() if not ask(query)]
    for title in missing:
        print(f"bad: the panel `{title}` has no data")
    alerts = read(f"{api}/alerts")["data"]["alerts"]
    for alert in alerts:
        print(f"bad: {alert['labels']['alertname']} is {alert['state']}")
    rules = read(f"{api}/rules")["data"]["groups"][0]["rules"]
    unhealthy = [rule["name"] for rule in rules if rule["health"] != "ok"]
    series = int(number('count({job="hob", __name__!~"up|scrape_.*"})'))
    print(f"{len(list(queries())) - len(missing)} queries answered, {len(rules)} rules, {series} series, ${number('sum(hob_cost_usd_total)'):.2f} spent")
    if missing or alerts or unhealthy or series > 200:
        sys.exit(f"rules that fail: {unhealthy}; series: {series}")


if __name__ == "__main__":
    main()
