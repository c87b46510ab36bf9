"""What an agent's runner settings run on, in a few words: a program, or a model and where it answers. Pure; no key."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

PROGRAMS = frozenset({"command", "acp"})
"""Kinds of runners whose agents are programs of this machine: they have files, and a way of their own to a model."""


def uses_of(runner: Mapping[str, Any]) -> str:
    """What these settings run on, with where its key comes from (never the key)."""
    kind = str(runner.get("kind", ""))
    if kind == "chat":
        key = str(runner.get("key", ""))
        return told_of(runner) + (f" by {key}" if key.startswith(("env:", "file:", "keyring:")) else "")
    told = told_of(runner)
    return (f"{told} ({kind})" if "program" in runner and kind != "command" else told) or kind or "nothing"


def runner_line(runner: Mapping[str, Any]) -> str:
    """The kind of a runner and what it runs on, e.g. `chat, qwen3 at 127.0.0.1:8080`."""
    return ", ".join(word for word in (str(runner.get("kind") or "none"), told_of(runner)) if word)


def told_of(runner: Mapping[str, Any]) -> str:
    """The model and its address, or the program with its model; empty for a kind that has neither."""
    kind, program, command = str(runner.get("kind", "")), str(runner.get("program", "script")), runner.get("command")
    if kind == "chat":
        return f"{runner.get('model') or 'no model'} at {host_of(str(runner.get('url', '')))}"
    word = str(command[0]) if isinstance(command, list | tuple) and command else ""
    if (kind == "command" and program == "script") or (kind == "acp" and "program" not in runner and word):
        return f"the program {word or '(none)'}"
    if "program" not in runner:
        return ""
    return f"{program} with {runner['model']}" if runner.get("model") else program


def host_of(url: str) -> str:
    """The host and port of an address, without a name or password in it."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "no address"
    except ValueError:
        return "no address"
