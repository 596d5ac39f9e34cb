#!/usr/bin/env python3
"""A stand-in for a command line that speaks MCP, by the arguments that GitHub documents for Copilot's.

It plays the calls of `calls.json` beside it, from where `next` says; what it was told and heard is in `told` and `heard`.
"""

import json
import os
import sys
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.realpath(__file__))
if "--version" in sys.argv:
    print("1.0.102")
    sys.exit()


def value(flag):
    return sys.argv[sys.argv.index(flag) + 1]


def path(name):
    return os.path.join(HERE, name)


server = json.loads(value("--additional-mcp-config"))["mcpServers"]["hob"]
assert server["type"] == "http" and server["tools"] == ["*"], server
number = 0


def post(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    kinds = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    # A program that waits for a person gets a stream of events, otherwise one object.
    with urllib.request.urlopen(urllib.request.Request(server["url"], body, kinds)) as answer:
        text = answer.read().decode()
        kind = answer.headers.get("content-type") or ""
    if kind.startswith("text/event-stream"):
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: "))
    return json.loads(text) if text else None


def ask(method, params):
    global number
    number += 1
    answer = post({"id": number, "method": method, "params": params})
    assert answer["id"] == number, answer
    return answer["result"]


with open(path("told"), "a") as told:
    told.write(value("--prompt") + "\n=====\n")
hello = ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
assert hello["protocolVersion"] == "2025-06-18" and hello["capabilities"] == {"tools": {}}, hello
assert post({"method": "notifications/initialized"}) is None
tools = {tool["name"] for tool in ask("tools/list", {})["tools"]}
calls = json.load(open(path("calls.json")))
at = int(open(path("next")).read()) if os.path.exists(path("next")) else 0
while at < len(calls) and calls[at] != "ends":
    with open(path("next"), "w") as file:
        file.write(str(at + 1))
    name, arguments = calls[at]
    assert name in tools or name == "write", (name, tools)
    said = ask("tools/call", {"name": name, "arguments": arguments})
    with open(path("heard"), "a") as heard:
        heard.write(("failed: " if said["isError"] else "") + said["content"][0]["text"] + "\n=====\n")
    at += 1
if at < len(calls):
    with open(path("next"), "w") as file:
        file.write(str(at + 1))
print(json.dumps({"type": "assistant.message", "data": {"content": "That is all."}}))
