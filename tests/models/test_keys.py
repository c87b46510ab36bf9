"""Where keys come from, and that they stay out of what is shown and written."""

import base64
import copy
import json
import os
import pickle
import sys
import traceback
from pathlib import Path
from types import ModuleType
from urllib.parse import quote

import pytest

from core.agents.models.endpoint import Endpoint
from core.agents.models.keys import REMOVED, Secret, key_from, scrub
from core.domain.errors import Forbidden, Invalid, NotFound, OpsroomError

VALUE = 'sk-a/very+"secret"=key-0123456789'


def kept(folder: Path, content: str, mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(content)
    path.chmod(mode)
    return path


def test_a_key_of_the_environment() -> None:
    assert key_from("env:MODEL_KEY", {"MODEL_KEY": f" {VALUE}\n"}).reveal() == VALUE
    with pytest.raises(NotFound, match="MODEL_KEY"):
        key_from("env:MODEL_KEY", {})


def test_a_key_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    assert key_from(f"file:{kept(tmp_path, VALUE + chr(10))}").reveal() == VALUE


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(Forbidden, match=f"mode {mode:o}.*chmod 600"):
        key_from(f"file:{kept(tmp_path, VALUE, mode)}")


def test_what_is_no_file_with_a_key(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path, tmp_path / "pipe", kept(tmp_path, "x" * 100_000)):
        with pytest.raises(Invalid, match="no file with a key"):
            key_from(f"file:{path}")
    with pytest.raises(NotFound, match="cannot be read"):
        key_from(f"file:{tmp_path / 'none'}")


@pytest.mark.parametrize("content", ["", "two words", "a\nb", "clé-0123456789", "a\x00b"])
def test_what_is_no_key(tmp_path: Path, content: str) -> None:
    with pytest.raises(Invalid, match="no key has"):
        key_from(f"file:{kept(tmp_path, content)}")


@pytest.mark.parametrize("source", [VALUE, f"key:{VALUE}", f"keyring:{VALUE.replace('/', '')}", "env:", "file:", ""])
def test_a_key_where_its_source_belongs_is_not_repeated(source: str) -> None:
    with pytest.raises(Invalid, match="only where it comes from") as refused:
        key_from(source, {})
    assert "0123456789" not in str(refused.value)


def test_a_key_of_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {("opsroom", "anthropic"): VALUE}
    keyring = ModuleType("keyring")
    monkeypatch.setitem(vars(keyring), "get_password", lambda service, user: entries.get((service, user)))
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    assert key_from("keyring:opsroom/anthropic").reveal() == VALUE
    with pytest.raises(NotFound, match="holds nothing for opsroom/openai"):
        key_from("keyring:opsroom/openai")

    def locked(service: str, user: str) -> str:
        raise RuntimeError(VALUE)

    monkeypatch.setitem(vars(keyring), "get_password", locked)
    with pytest.raises(NotFound, match="RuntimeError") as refused:
        key_from("keyring:opsroom/anthropic")
    assert VALUE not in "".join(traceback.format_exception(refused.value))
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(NotFound, match="No keyring is installed"):
        key_from("keyring:opsroom/anthropic")


def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret(VALUE)
    endpoint = Endpoint("http://127.0.0.1:1/v1", "m", key=secret, headers={"x": VALUE}, extra={"x": VALUE})
    shown = f"{secret} {secret!r} {[secret]} {endpoint} {endpoint.line} {OpsroomError(str(secret))!r} %s" % secret
    assert VALUE not in shown
    assert secret == Secret(VALUE) != Secret(VALUE + "x")
    assert secret.fingerprint not in VALUE
    for write in (pickle.dumps, copy.copy, json.dumps):
        with pytest.raises(TypeError):
            write(secret)


def test_scrub_takes_out_every_form() -> None:
    secret = Secret(VALUE)
    forms = VALUE, json.dumps(VALUE), quote(VALUE, safe=""), base64.b64encode(VALUE.encode()).decode()
    told = scrub(" ".join(forms) + " and words", [secret])
    assert told.count(REMOVED) == 4
    assert "secret" not in told.replace(REMOVED, "")
    assert told.endswith("and words")


def test_scrub_takes_the_longer_of_two_and_leaves_short_ones() -> None:
    longer = Secret("abcdefgh-more")
    assert scrub("abcdefgh-more abcdefgh ollama", [Secret("abcdefgh"), longer, Secret("ollama")]) == (
        f"{REMOVED} {REMOVED} ollama"
    )


@pytest.mark.parametrize("url", [
    "", "127.0.0.1:8080", "ftp://x/v1", "http://", "http://me:sk-key@x/v1", "https://x/v1?key=1", "http://x:99999/v1",
    "http://[::1/v1", "http://x/v1#a",
])  # fmt: skip
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(Invalid, match="address of a model server") as refused:
        Endpoint(url, "m")
    assert "sk-key" not in str(refused.value)


@pytest.mark.parametrize(("url", "wire", "path", "local"), [
    ("http://127.0.0.1:8080/v1/", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions", True),
    ("https://api.anthropic.com", "/v1/messages", "https://api.anthropic.com/v1/messages", False),
    ("https://proxy.example/v1", "/v1/messages", "https://proxy.example/v1/messages", False),
    ("http://[::1]:1/v1", "/chat/completions", "http://[::1]:1/v1/chat/completions", True),
    ("http://localhost:11434/v1", "/chat/completions", "http://localhost:11434/v1/chat/completions", True),
])  # fmt: skip
def test_addresses(url: str, wire: str, path: str, local: bool) -> None:
    endpoint = Endpoint(url, "m")
    assert (endpoint.address(wire), endpoint.local) == (path, local)
    assert endpoint.line.key == ""


PEM = "-----BEGIN KEY-----\nMIIEvAAA+line/one0123456\r\nBBBBsecretline2BBBBBB\nshort==\n-----END KEY-----\n"


def test_a_key_of_several_lines_is_found_line_by_line() -> None:
    secret = Secret(PEM)
    shown = [scrub(line, [secret]) for line in f"Begin\n{PEM}End".splitlines()]
    assert shown == ["Begin", "-----BEGIN KEY-----", REMOVED, REMOVED, "short==", "-----END KEY-----", "End"]
    one = scrub(f"it is {quote('MIIEvAAA+line/one0123456', safe='')}", [secret])
    assert one == f"it is {REMOVED}"
    assert scrub(json.dumps({"key": PEM.strip()}), [secret]).count(REMOVED) == 2


def test_what_a_key_that_is_json_holds_is_found_alone() -> None:
    told = {"type": "account", "private_key": PEM, "more": [{"id": "0123456789abcdef"}], "uri": "https://example.org/x"}
    secret = Secret(json.dumps(told))
    for part in ("MIIEvAAA+line/one0123456", "BBBBsecretline2BBBBBB", "0123456789abcdef"):
        assert scrub(f"it is {part}.", [secret]) == f"it is {REMOVED}."
    assert scrub("an account at https://example.org/x", [secret]) == "an account at https://example.org/x"


def test_a_key_whose_bytes_are_no_text_is_removed() -> None:
    value = b"sk-\xff-0123456789".decode(errors="surrogateescape")
    assert scrub(f"it is {value}", [Secret(value)]) == f"it is {REMOVED}"
