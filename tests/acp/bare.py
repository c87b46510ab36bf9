"""A scripted program that speaks the protocol by the standard library alone: it starts at once, and may err.

A test gives the text of `work(prompt)`, which tells, asks, and returns why its turn ends; and other values of the names
in capital letters.
"""

# What comes before a test's own text.
HEAD = """
import json, os, queue, signal, sys, threading, time

VERSION, AUTH, SESSION = 1, [], "s-1"
CAN = {"mcpCapabilities": {"http": True}}
MODES, MODE, OBEYS = ["default", "auto"], "auto", True
OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
CANCELLED = threading.Event()
GIVEN = {}
lock, requests, waiting = threading.Lock(), queue.Queue(), {}

def write(line):
    with lock:
        sys.stdout.write(line + chr(10))
        sys.stdout.flush()

def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))

def update(what, /, **facts):
    send(method="session/update", params={"sessionId": SESSION, "update": {"sessionUpdate": what, **facts}})

def say(text, kind="agent_message_chunk"):
    update(kind, content={"type": "text", "text": text})

def ask_later(number, options=None, **tool):
    answer = waiting[number] = queue.Queue()  # ours may come before this returns
    asked = {"sessionId": SESSION, "toolCall": tool, "options": OPTIONS if options is None else options}
    send(id=number, method="session/request_permission", params=asked)
    return answer

def ask(number="p-1", **tool):
    return ask_later(number, **{"toolCallId": "t-1", "title": "run it", "kind": "execute", **tool}).get()["outcome"]

def post(path, **fields):
    headers = {"Authorization": "Bearer " + os.environ["OPSROOM_TOKEN"], "Content-Type": "application/json"}
    import urllib.error, urllib.request  # half of what a start takes, and many never call
    request = urllib.request.Request(os.environ["OPSROOM_URL"] + path, json.dumps(fields).encode(), headers)
    try:
        return json.load(urllib.request.urlopen(request))["answer"]
    except urllib.error.HTTPError as error:
        return json.load(error)

def call(name, **fields):
    return post("/api/commands/" + name, **fields)

def modes():
    return {"currentModeId": MODE, "availableModes": [{"id": each, "name": each} for each in MODES]} if MODES else None

def opened():
    return {"modes": modes()}

def listen():
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            waiting.pop(message["id"]).put(message.get("result") or message)
        elif message["method"] == "session/cancel":
            CANCELLED.set()
        else:
            requests.put(message)
    requests.put(None)
"""

# What comes after it. `answer` may be replaced for one method: `def answer_session_new(params): …`.
TAIL = """
def answered(method, params):
    global MODE
    GIVEN[method] = params
    own = globals().get("answer_" + method.replace("/", "_"))
    if own is not None:
        return own(params)
    if method == "initialize":
        return {"protocolVersion": VERSION, "agentCapabilities": CAN, "authMethods": AUTH,
                "agentInfo": {"name": "bare", "version": "7"}}
    if method == "session/new":
        return {"sessionId": SESSION, **opened()}
    if method in ("session/load", "session/resume"):
        return opened()
    if method == "session/set_mode":
        MODE = params["modeId"] if OBEYS else MODE
        return {}
    if method == "session/prompt":
        end = work(params["prompt"][0]["text"])
        return end if isinstance(end, dict) else {"stopReason": end or "end_turn"}
    return {}

class Wrong(Exception):
    pass

threading.Thread(target=listen, daemon=True).start()
while (request := requests.get()) is not None:
    try:
        send(id=request["id"], result=answered(request["method"], request["params"]))
    except Wrong as error:
        send(id=request["id"], error=error.args[0])
"""


def bare(work: str) -> str:
    """The program's whole text. Its command names the mode in which it asks as the setting `mode`."""
    return HEAD + work + TAIL
