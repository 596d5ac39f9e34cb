"""An agent that speaks the Agent Client Protocol and does what its argument says."""

import json
import os
import sys

SCENE = sys.argv[1]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(kind, /, **fields):
    send({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}})


def says(text):
    update("agent_message_chunk", content={"type": "text", "text": text})


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def may(kind, title):
    """Asks for permission; returns the chosen option."""
    says("I look next.")
    call = {"toolCallId": "c1", "title": title, "kind": kind}
    # Some tell a call only by its update.
    update("tool_call" if kind == "edit" else "tool_call_update", status="pending", **call)
    options = [{"optionId": name, "name": name, "kind": name} for name in ("reject_once", "allow_always", "allow_once")]
    update("tool_call_update", status="in_progress", **call)
    send({"id": "ask", "method": "session/request_permission",
          "params": {"sessionId": "s", "toolCall": call, "options": options}})
    while True:
        answer = read()
        if answer.get("id") == "ask":
            update("tool_call_update", status="completed", **call)
            return answer["result"]["outcome"].get("optionId", "cancelled")


def works(prompt):
    update("plan", entries=[{"content": "Greet", "priority": "high", "status": "in_progress"}])
    with open("asked.txt", "a") as file:
        file.write(may("edit", "Write greeting.txt") + " " + may("execute", "make\ttest") + "\n")
    with open("prompt.txt", "a") as file:
        file.write(prompt)
    update("usage_update", used=10, size=100, cost={"amount": 0.125, "currency": "USD"})
    says("Title: Greet")
    says(" politely\n\nIt was rude.")


def prompted(message):
    stop = "end_turn"
    if SCENE in ("works", "key", "older"):
        works(message["params"]["prompt"][0]["text"])
    elif SCENE == "refuses":
        says("No.")
        stop = "refusal"
    elif SCENE == "signed out":
        says("API Error: 403 no such flag")
        return send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required"}})
    elif SCENE == "dies":
        sys.exit("no such table")
    elif SCENE == "floods":
        sys.stdout.write("x" * (17 << 20) + "\n")
        sys.stdout.flush()
        read()
    elif SCENE == "ends its turn":
        stop = "cancelled"
    elif SCENE == "fails in words":
        return send({"id": message["id"], "error": "no such table"})
    elif SCENE == "fails by name":
        return send({"id": message["id"], "error": {"code": "E42", "message": "no such table"}})
    elif SCENE == "cannot read":
        return send({"id": None, "error": {"code": -32700, "message": "no such table"}})
    elif SCENE == "asks oddly":
        options = [{"optionId": "no", "kind": "deny"}, {"optionId": "yes", "kind": "allow_session"}]
        call = {"toolCallId": "c1", "kind": "teleport"}
        for params in ({"sessionId": "s", "toolCall": call, "options": options}, {"sessionId": "s"}):
            send({"id": "ask", "method": "session/request_permission", "params": params})
            answer = read()
            said = answer["error"]["code"] if "error" in answer else answer["result"]["outcome"]["optionId"]
            with open("asked.txt", "a") as file:
                file.write(f"{said}\n")
        update("hologram", data=[1])
        update("plan", entries="none")
        update("usage_update", used=1, size=2, cost={"amount": 3.5, "currency": "EUR"})
        says("Done.")
        return send({"id": str(message["id"]), "result": {"stopReason": stop}})
    elif SCENE == "limited":
        return send({"id": message["id"], "error": {"code": -32603, "message": "429: rate limit, try again in 1h"}})
    elif SCENE == "waits":
        update("tool_call", toolCallId="c1", title="Wait", kind="think")
        while read().get("method") != "session/cancel":
            pass
        open("cancelled", "w").close()
        stop = "cancelled"
    send({"id": message["id"], "result": {"stopReason": stop}})


def main():
    options = [{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "small",
                "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]}]
    signed_in = False
    while True:
        message = read()
        method = message.get("method")
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "scripted", "version": "1.0"}}
            if SCENE == "key":
                result["authMethods"] = [
                    {"id": "browser", "name": "Browser"},
                    {"id": "another-api-key", "name": "Key", "type": "env_var", "vars": [{"name": "ANOTHER_API_KEY"}]},
                    {"id": "own-api-key", "name": "Key", "type": "env_var", "vars": [{"name": "PATH"}]},
                ]
            send({"id": message["id"], "result": result})
        elif method == "authenticate":
            signed_in = message["params"]["methodId"] == "own-api-key"
            send({"id": message["id"], "result": {}})
        elif method == "session/new" and (SCENE == "login" or SCENE == "key" and not signed_in):
            send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required"}})
        elif method == "session/new":
            assert message["params"]["cwd"] == os.getcwd(), message
            result = {"sessionId": "s"}
            if SCENE == "older":
                result["models"] = {"availableModels": [{"modelId": "large", "name": "Large"}], "currentModelId": "auto"}
                modes = [{"id": "auto", "name": "Auto"}, {"id": "default", "name": "Ask"}]
                result["modes"] = {"availableModes": modes, "currentModeId": "auto"}
            elif SCENE != "plain":
                result["configOptions"] = options
            send({"id": message["id"], "result": result})
        elif method == "session/set_config_option":
            open("model-" + message["params"]["value"], "w").close()
            send({"id": message["id"], "result": {"configOptions": options}})
        elif method in ("session/set_model", "session/set_mode"):
            params = message["params"]
            open("model-" + params["modelId"] if "modelId" in params else "mode-" + params["modeId"], "w").close()
            send({"id": message["id"], "result": {}})
        elif method == "session/prompt":
            prompted(message)


main()
