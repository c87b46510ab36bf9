"""The scripted server speaks the formats that our client does not: Responses and Gemini; and keeps the protocols."""

import json
from typing import Any

import httpx2
import pytest

from tests.models.script import Call, Refuse, Turn
from tests.models.server import ModelServer

HTTP = httpx2.Client(trust_env=False, verify=False)  # loopback: reading certificates costs more than the tests
TURN = Turn("On my way.", (Call("shell", {"command": "ls"}),), size=4)


def events(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def responses_body(**more: Any) -> dict[str, Any]:
    tools = [
        {"type": "function", "name": "shell", "parameters": {}},
        {"type": "namespace", "name": "board", "tools": [{"type": "function", "name": "claim"}]},
    ]
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}
    return {"model": "m", "input": [user], "tools": tools, "stream": True, **more}


def test_responses_are_streamed_with_numbered_events_and_one_whole_response() -> None:
    with ModelServer(TURN) as server:
        told = HTTP.post(f"{server.url}/v1/responses", json=responses_body())
        asked = server.requests[0]
    assert told.headers["content-type"].startswith("text/event-stream")
    stream = events(told.text)
    assert [each["sequence_number"] for each in stream] == list(range(len(stream)))
    kinds = [each["type"] for each in stream]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert "".join(e["delta"] for e in stream if e["type"] == "response.output_text.delta") == TURN.text
    arguments = "".join(e["delta"] for e in stream if e["type"] == "response.function_call_arguments.delta")
    assert json.loads(arguments) == {"command": "ls"}
    message, call = stream[-1]["response"]["output"]
    assert (message["type"], call["type"], call["name"]) == ("message", "function_call", "shell")
    assert stream[-1]["response"]["usage"]["input_tokens"] == 100
    assert (asked.tools, asked.said, asked.model) == (("shell", "claim"), "Go.", "m")


def test_responses_with_results_and_namespaces_and_without_stream() -> None:
    with ModelServer(Turn("", (Call("claim"),)), Turn("Done.", finish="length")) as server:
        first = HTTP.post(f"{server.url}/v1/responses", json=responses_body(stream=False)).json()
        call = first["output"][0]
        assert call["namespace"] == "board"
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "claimed"}
        user = responses_body()["input"]
        unanswered = HTTP.post(f"{server.url}/v1/responses", json=responses_body(input=[*user, call]))
        told = HTTP.post(f"{server.url}/v1/responses", json=responses_body(input=[*user, call, result], stream=False))
        assert server.requests[-1].results == ("claimed",)
    assert unanswered.status_code == 400
    assert call["call_id"] in unanswered.json()["error"]["message"]
    assert told.json()["status"] == "incomplete"
    assert told.json()["incomplete_details"] == {"reason": "max_output_tokens"}


def gemini_body(*contents: dict[str, Any]) -> dict[str, Any]:
    tools = [{"functionDeclarations": [{"name": "shell"}]}]
    return {"contents": [{"role": "user", "parts": [{"text": "Go."}]}, *contents], "tools": tools}


def test_gemini_streamed_and_whole() -> None:
    with ModelServer(TURN) as server:
        base = f"{server.url}/v1beta/models/gemini-x"
        streamed = HTTP.post(
            f"{base}:streamGenerateContent?alt=sse", json=gemini_body(), headers={"x-goog-api-key": "k"}
        )
        whole = HTTP.post(f"{base}:generateContent", json=gemini_body()).json()
        asked = server.requests[0]
        assert HTTP.post(f"{base}:countTokens", json=gemini_body()).json() == {"totalTokens": 100}
    parts = [part for each in events(streamed.text) for part in each["candidates"][0]["content"]["parts"]]
    assert "".join(part.get("text", "") for part in parts) == TURN.text
    assert parts[-1]["functionCall"] == {"name": "shell", "args": {"command": "ls"}}
    assert events(streamed.text)[-1]["usageMetadata"]["totalTokenCount"] == 110
    assert whole["candidates"][0]["finishReason"] == "STOP"
    assert (asked.model, asked.key, asked.tools, asked.said, asked.stream) == ("gemini-x", "k", ("shell",), "Go.", True)


def test_gemini_results_have_to_match_the_calls() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "shell", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "shell", "response": {"output": "a file"}}}]}
    with ModelServer(Turn("Done.")) as server:
        address = f"{server.url}/v1beta/models/gemini-x:generateContent"
        assert HTTP.post(address, json=gemini_body(call)).json()["error"]["status"] == "INVALID_ARGUMENT"
        assert HTTP.post(address, json=gemini_body(call, result)).status_code == 200
        assert json.loads(server.requests[-1].results[0]) == {"output": "a file"}


@pytest.mark.parametrize(("path", "body", "where"), [
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}, ("error", "code")),
    ("/v1/responses", {"input": "x"}, ("error", "code")),
    ("/v1/messages", {"messages": [{"role": "user", "content": "x"}], "max_tokens": 5}, ("error", "type")),
    ("/v1beta/models/m:generateContent", gemini_body(), ("error", "status")),
])  # fmt: skip
def test_refusals_have_the_form_of_each_provider(path: str, body: dict[str, Any], where: tuple[str, str]) -> None:
    with ModelServer(Refuse(429, "slow down", "THE_CODE", {"retry-after": "3"}), key="right") as server:
        told = HTTP.post(server.url + path, json=body, headers={"authorization": "Bearer right"})
        wrong = HTTP.post(server.url + path, json=body, headers={"authorization": "Bearer wrong"})
    assert (told.status_code, told.headers["retry-after"]) == (429, "3")
    assert told.json()[where[0]][where[1]] == "THE_CODE"
    assert wrong.status_code == 401


def test_ids_are_the_same_in_every_run() -> None:
    told = []
    for _ in range(2):
        with ModelServer(TURN) as server:
            told.append(HTTP.post(f"{server.url}/v1/responses", json=responses_body()).text)
    assert told[0] == told[1]


def test_models_are_listed_and_unknown_addresses_refused() -> None:
    with ModelServer(models=("a", "b")) as server:
        listed = HTTP.get(f"{server.url}/v1/models").json()["data"]
        assert [each["id"] for each in listed] == ["a", "b"]
        assert HTTP.get(f"{server.url}/v1/nothing").status_code == 404
        assert HTTP.post(f"{server.url}/v1/nothing", json={}).status_code == 404
        counted = HTTP.post(f"{server.url}/v1/messages/count_tokens", json={}).json()
    assert counted == {"input_tokens": 100}


def test_a_script_that_fails_is_not_hidden() -> None:
    def script(asked: Any) -> Turn:
        raise LookupError("a mistake of the test")

    server = ModelServer().__enter__()
    server.script = script
    with pytest.raises(httpx2.RemoteProtocolError):
        HTTP.post(f"{server.url}/v1/responses", json=responses_body())
    with pytest.raises(AssertionError, match="a mistake of the test"):
        server.__exit__()
