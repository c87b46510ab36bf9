"""`[gateway.providers]` in company.toml: what is wrong is named with its place, and a key put there is not repeated."""

from pathlib import Path

import pytest

from core.agents.models.providers import GatewayConfig, ProviderConfig
from core.config import CONFIG, Config, read_config, write_config
from core.domain.errors import Invalid

GOOD = """
[gateway.providers.claude]
url = "https://api.anthropic.com/"
wires = ["anthropic"]
key = "env:PROVIDER_KEY"
rename = {"claude-haiku-*" = "small"}
"""


def of(folder: Path, text: str) -> Config:
    (folder / CONFIG).write_text(text)
    return read_config(folder)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    provider = ProviderConfig(url="http://127.0.0.1:1/v1", wires=("openai", "responses"), rename={"a-*": "b"})
    config = Config(gateway=GatewayConfig(providers={"local": provider}))
    write_config(tmp_path, config)
    assert read_config(tmp_path) == config
    found = of(tmp_path, GOOD).gateway.providers["claude"]
    assert (found.url, found.wires, found.requests_per_run) == ("https://api.anthropic.com", ("anthropic",), 1000)
    assert of(tmp_path, "").gateway.providers == {}


@pytest.mark.parametrize(("old", "new", "place"), [
    ("https://api.anthropic.com/", "api.anthropic.com", "url: "), ("https://", "https://me:secret-1@", "url: "),
    ('["anthropic"]', "[]", "wires: "), ('["anthropic"]', '["grpc"]', "wires.0: "),
    ("wires", "wire", "wires: it is needed"),
    ("env:PROVIDER_KEY", "sk-ant-secret-1", "key: "), ("env:PROVIDER_KEY", "env:", "key: "),
    ("rename", "requests_per_run = 0 #", "requests_per_run: it is at least 1"),
    ("rename", "answer_s = -1 #", "answer_s: it is more than 0"),
    ("rename", "secret = 1 #", "secret: there is no such"),
    ("providers.claude", 'providers."Claude/1"', "gateway.providers.Claude/1"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    with pytest.raises(Invalid) as found:
        of(tmp_path, GOOD.replace(old, new, 1))
    assert "gateway.providers." in found.value.message
    assert place in found.value.message
    assert "secret-1" not in str(found.value)
