"""What a model answers, and what it is told, through real HTTP in both wire formats."""

import json
from dataclasses import replace
from typing import Any

import pytest

from core.agents.models.conversation import (
    AnswerSchema,
    Assistant,
    Finish,
    FinishReason,
    Message,
    ModelRequest,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from tests.models.script import Call, Raw, Refuse, Tokens, Turn
from tests.models.server import ModelServer
from tests.models.world import ASK, KEY, Wire, asking


async def test_a_text_comes_in_pieces_then_usage_and_the_finish(wire: Wire) -> None:
    turn = Turn("Здравствуй, 世界 \u2028 there", usage=Tokens(70, 20, 10, 5), size=3)
    with ModelServer(turn, key=KEY.reveal()) as server:
        async with asking(server, wire) as world:
            pieces, error = await world.streamed()
    assert error is None
    texts = [piece.text for piece in pieces if isinstance(piece, Text)]
    assert len(texts) > 3
    assert "".join(texts) == turn.text
    written = 0 if wire == "openai" else 10
    assert pieces[-2:] == [
        Usage(100, 5, 20, written),
        Finish(FinishReason.END, "stop" if wire == "openai" else "end_turn"),
    ]


async def test_parallel_calls_whose_arguments_come_in_pieces(wire: Wire) -> None:
    calls = Call("claim", {"task": 7, "why": "半" * 40}), Call("claim", {"task": 8}), Call("claim")
    with ModelServer(Turn("On it.", calls, size=2)) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(ASK)
    assert answer.text == "On it."
    assert [call.arguments for call in answer.calls] == [dict(call.arguments) for call in calls]  # type: ignore[arg-type]
    assert len({call.id for call in answer.calls}) == 3
    assert answer.finish.reason is FinishReason.CALLS


@pytest.mark.parametrize("stream", [True, False])
async def test_a_conversation_with_calls_and_results_is_taken_back(wire: Wire, stream: bool) -> None:
    """The server refuses calls that are not answered, so two turns show that ids and order are kept."""
    turns = Turn("", (Call("claim", {"task": 7}), Call("claim", '{"task": ')), thought="Hm."), Turn("Done.")
    with ModelServer(*turns) as server:
        async with asking(server, wire, stream=stream) as world:
            first = await world.client.complete(ASK)
            results = [ToolResult(call.id, call.problem or "claimed", bool(call.problem)) for call in first.calls]
            second = await world.client.complete(replace(ASK, messages=(*ASK.messages, first.message(), *results)))
        assert server.requests[1].results[0] == "claimed"
        assert "no JSON" in server.requests[1].results[1]
        assert server.requests[1].said == "Claim a task."
    assert second.text == "Done."
    assert first.usage == Usage(100, 10, 20, 0)
    assert "".join(thought.text for thought in first.thoughts) == "Hm."
    back = json.dumps(server.requests[1].body["messages"][1 if wire == "anthropic" else 2])
    assert "Hm." in back
    assert ("c2lnbmVk" in back) is (wire == "anthropic")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ('{"task": ', "no JSON"),
        ("[7]", "one JSON object, not list"),
        ('{"task": NaN}', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('"' + "x" * 50 + '"', "one JSON object, not str"),
    ],
)
async def test_arguments_that_are_no_json_are_kept_as_text(wire: Wire, wrong: str, why: str) -> None:
    with ModelServer(Turn("", (Call("claim", wrong),), size=4096)) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(ASK)
    call = answer.calls[0]
    assert (call.text, call.arguments) == (wrong, None)
    assert why in call.problem
    assert call.sendable() == {"not_json": wrong}


async def test_a_call_that_the_bound_cut_off_is_no_call(wire: Wire) -> None:
    turn = Turn("", (Call("claim", {"task": 7}), Call("claim", "")), finish="length")
    with ModelServer(turn) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(ASK)
    assert answer.finish.reason is FinishReason.LENGTH
    assert [call.arguments for call in answer.calls] == [{"task": 7}, None]
    assert "cut off" in answer.calls[1].problem


@pytest.mark.parametrize(("finish", "openai", "anthropic"), [
    ("length", FinishReason.LENGTH, FinishReason.LENGTH),
    ("filter", FinishReason.FILTER, FinishReason.REFUSAL),
    ("refusal", FinishReason.REFUSAL, FinishReason.REFUSAL),
])  # fmt: skip
async def test_why_an_answer_ended(wire: Wire, finish: str, openai: FinishReason, anthropic: FinishReason) -> None:
    with ModelServer(Turn("I cannot", finish=finish)) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(ASK)
    assert answer.text == "I cannot"
    assert answer.finish.reason is (openai if wire == "openai" else anthropic)


async def test_the_key_the_system_text_and_the_tools_arrive(wire: Wire) -> None:
    with ModelServer(Turn("ok"), key=KEY.reveal()) as server:
        async with asking(server, wire, headers={"x-title": "ours"}, extra={"top_p": 0.5}) as world:
            await world.client.complete(ASK)
        asked = server.requests[0]
    assert asked.tools == ("claim",)
    assert "You are an executor." in json.dumps(asked.body.get("system", asked.body["messages"][0]))
    assert (asked.headers["x-title"], asked.body["top_p"], asked.model) == ("ours", 0.5, "scripted")


async def test_a_long_answer_that_is_not_streamed(wire: Wire) -> None:
    with ModelServer(Turn("word " * 300_000)) as server:
        async with asking(server, wire, stream=False) as world:
            assert (await world.client.complete(ASK)).text == "word " * 300_000


async def test_a_local_server_needs_no_key(wire: Wire) -> None:
    with ModelServer(Turn("ok")) as server:
        async with asking(server, wire, key=None) as world:
            await world.client.complete(ASK)
        assert server.requests[0].key == ""


async def test_half_a_character_in_the_history_can_be_sent(wire: Wire) -> None:
    with ModelServer(Turn("ok")) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(ModelRequest((User("a \ud83d b"),)))
    assert answer.text == "ok"


async def test_an_answer_bound_to_a_schema_is_text(wire: Wire) -> None:
    schema = {"type": "object", "properties": {"act": {"type": "string"}}, "required": ["act"]}
    request = ModelRequest((User("Act."),), answer=AnswerSchema("decision", schema))
    turn = Turn('{"act": "claim"}') if wire == "openai" else Turn("", (Call("decision", {"act": "claim"}),))
    with ModelServer(turn) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(request)
        body = server.requests[0].body
    assert json.loads(answer.text) == {"act": "claim"}
    assert not answer.calls
    assert answer.finish.reason is FinishReason.END
    if wire == "openai":
        assert body["response_format"]["json_schema"] == {"name": "decision", "schema": schema, "strict": False}
    else:
        assert body["tool_choice"] == {"type": "tool", "name": "decision"}


async def test_a_server_without_schemas_is_told_in_words() -> None:
    def script(asked: Any) -> Turn | Refuse:
        return (
            Refuse(400, "This response_format type is unavailable now")
            if "response_format" in asked.body
            else Turn("{}")
        )

    request = ModelRequest((User("Act."),), answer=AnswerSchema("decision", {"type": "object", "title": "a mark"}))
    with ModelServer() as server:
        server.script = script
        async with asking(server) as world:
            assert (await world.client.complete(request)).text == "{}"
            await world.client.complete(request)
        assert len(server.requests) == 3
    assert "a mark" in server.requests[1].body["messages"][0]["content"]


async def test_closed_schemas_are_asked_for_strictly() -> None:
    inner = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
    closed = {**inner, "properties": {"a": inner}}
    with ModelServer(Turn("{}")) as server:
        async with asking(server) as world:
            for schema in (closed, {**closed, "properties": {"a": {"type": "object"}}}):
                await world.client.complete(ModelRequest((User("Act."),), answer=AnswerSchema("x", schema)))
        formats = [asked.body["response_format"]["json_schema"]["strict"] for asked in server.requests]
    assert formats == [True, False]


async def test_stable_layers_are_marked_for_the_cache_and_no_more_than_four() -> None:
    talk: list[Message] = [
        User("brief", stable=True),
        Assistant("a", (ToolCall("t1", "claim", "{}", {}),)),
        ToolResult("t1", "r"),
    ]
    users: list[Message] = [User(f"layer {number}", stable=True) for number in range(6)]
    with ModelServer(Turn("ok")) as server:
        async with asking(server, "anthropic") as world:
            await world.client.complete(replace(ASK, messages=(*users, *talk)))
            await world.client.complete(replace(ASK, system=()))
        first, second = (asked.body for asked in server.requests)
    assert [block.get("cache_control") for block in first["system"]] == [{"type": "ephemeral"}, None]
    assert first["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert second["tools"][-1]["cache_control"] == {"type": "ephemeral"}


async def test_usage_is_unknown_when_no_server_told_it() -> None:
    with ModelServer(Turn("ok", usage=None)) as server:
        async with asking(server) as world:
            assert (await world.client.complete(ASK)).usage is None


@pytest.mark.parametrize("message", ["Unrecognized request argument supplied: stream_options", "Bad Request"])
async def test_a_server_that_does_not_know_usage_in_streams_is_asked_without(message: str) -> None:
    def script(asked: Any) -> Turn | Refuse:
        return Refuse(400, message) if "stream_options" in asked.body else Turn("ok")

    with ModelServer() as server:
        server.script = script
        async with asking(server) as world:
            assert (await world.client.complete(ASK)).text == "ok"
            assert (await world.client.complete(ASK)).text == "ok"
        assert len(server.requests) == 3
    assert not world.clock.slept


async def test_a_request_that_is_wrong_anyhow_unlearns_the_guess() -> None:
    with ModelServer(Refuse(400, "messages: nonsense"), Refuse(400, "messages: nonsense"), Turn("ok")) as server:
        async with asking(server) as world:
            assert "nonsense" in str(await world.failed())
            await world.client.complete(ASK)
        assert ["stream_options" in asked.body for asked in server.requests] == [True, False, True]


async def test_models_that_know_only_the_new_name_of_the_bound() -> None:
    told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    def script(asked: Any) -> Turn | Refuse:
        return Refuse(400, told, "unsupported_parameter") if "max_tokens" in asked.body else Turn("ok")

    with ModelServer() as server:
        server.script = script
        async with asking(server) as world:
            assert (await world.client.complete(ASK)).text == "ok"
        assert server.requests[-1].body["max_completion_tokens"] == ASK.max_tokens


def chunks(*deltas: dict[str, Any], finish: str | None = "stop", done: bool = True) -> Raw:
    """A stream of these deltas as other servers send them."""
    told = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish:
        told.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    lines = [json.dumps(each) for each in told] + (["[DONE]"] if done else [])
    return Raw("".join(f"data: {line}\r\n\r\n" for line in lines).encode())


def part(arguments: Any, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": "claim", "arguments": arguments}, **more}]}


@pytest.mark.parametrize(
    "answer",
    [
        # All calls with index 0, each whole (Gemini's compatible server); none with an index; an object for a text.
        chunks(part('{"task": 1}', index=0, id="a"), part('{"task": 2}', index=0, id="b")),
        chunks(part('{"task": 1}', id="a"), part('{"task": 2}', id="b"), finish=None),
        chunks(part({"task": 1}, index=0), part({"task": 2}, index=1), finish="tool_calls", done=False),
    ],
    ids=["same index", "no index, no finish", "objects, no ids, no done"],
)
async def test_servers_that_number_calls_in_their_own_way(answer: Raw) -> None:
    with ModelServer(answer) as server:
        async with asking(server) as world:
            told = await world.client.complete(ASK)
    assert [call.arguments for call in told.calls] == [{"task": 1}, {"task": 2}]
    assert len({call.id for call in told.calls}) == 2
    assert told.finish.reason is FinishReason.CALLS


async def test_what_a_server_keeps_with_a_call_goes_back_with_it() -> None:
    kept: dict[str, Any] = {"extra_content": {"google": {"thought_signature": "sig"}}}
    with ModelServer(chunks(part("{}", index=0, id="a", **kept)), Turn("ok")) as server:
        async with asking(server) as world:
            told = await world.client.complete(ASK)
            await world.client.complete(replace(ASK, messages=(*ASK.messages, told.message(), ToolResult("a", "r"))))
        assert server.requests[1].body["messages"][2]["tool_calls"][0]["extra_content"] == kept["extra_content"]


async def test_contents_in_parts_and_thoughts_under_either_name() -> None:
    answer = chunks({"reasoning": "Let me"}, {"reasoning": " see."}, {"content": [{"type": "text", "text": "Yes."}]})
    with ModelServer(answer) as server:
        async with asking(server) as world:
            told = await world.client.complete(ASK)
    assert (told.text, told.thoughts) == ("Yes.", (Thought("Let me see.", "reasoning"),))


async def test_comments_and_unknown_events_are_passed_over(wire: Wire) -> None:
    if wire == "openai":
        body = chunks({"content": "ok"}).body
    else:
        told: list[dict[str, Any]] = [
            {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}},
            {"type": "of_tomorrow", "x": [1]},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ]
        body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in told).encode()
    with ModelServer(Raw(b"\xef\xbb\xbf: waiting\n\nid: 4\nretry: 5\n\n" + body)) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(ASK)
    assert answer.text == "ok"
    assert answer.usage == (None if wire == "openai" else Usage(3, 2))
