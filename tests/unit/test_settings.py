"""Settings of the person: the file with its comments, and where each fault of it stands."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from core.domain.errors import Invalid
from tui.keymap import USUAL
from tui.settings import Settings, as_file, parse, place_of, read_settings

PATH = Path("config.toml")


def test_without_a_file_everything_is_as_usual(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "none.toml") == (Settings(), USUAL)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('theme = "x"\nthem = 1\n', "line 2, column 1: them: there is no such setting"),
        ("# first\n\n  theme = 5\n", "line 3, column 3: theme: it is a text in quotes, not 5"),
        ("theme = \n", "at line 1, column 9"),
        ('keys = { room = { approve = 3 } }\n', "line 1, column 19: keys.room.approve"),
        ('[keys.room]\nundo = "x"\napprove = [\n  "a",\n  3,\n]\n', "line 3, column 1: keys.room.approve"),
        ('theme = """\nkeys = 3\n"""\nkeys = 3\n', "line 4, column 1: keys"),
        ("theme = 'a'\ntheme = 'b'\n", "at line 2, column"),
        ("remember = 'perhaps'\n", "line 1, column 1: remember"),
        ("when_terminal_closes = 'never'\n", "line 1, column 1: when_terminal_closes: it is 'stop' or 'go on'"),
        ("[notify]\nterminal = 'x'\n", "line 2, column 1: notify.terminal: it is 'auto', 'off', 'osc9' or 'osc777'"),
        ("[notify]\nquiet_hours = ['22-7']\n", "line 2, column 1: notify.quiet_hours: hours are written like"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line_and_column(text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse(text, PATH)
    assert said in refused.value.message
    assert "config.toml" in refused.value.message


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://example.org/hooks/SECRET?token=SECRET", ""),
        ("https://example.org:8443", ""),
        ("http://127.0.0.1:9000/x", ""),
        ("http://[::1]:9000/x", ""),
        ("http://localhost/x", ""),
        ("http://example.org/SECRET", "begins with https://"),
        ("http://127.0.0.1.example.org/SECRET", "begins with https://"),
        ("http://0.0.0.0/SECRET", "begins with https://"),
        ("https://me:SECRET@example.org", "no name or password"),
        ("ftp://example.org/SECRET", "begins with https://"),
        ("https:///SECRET", "begins with https://"),
        ("https://example.org/ SECRET", "begins with https://"),
        ("https://example.org/\\u001bSECRET", "begins with https://"),
        ("https://example.org:99999/SECRET", "no address"),
        ("SECRET", "begins with https://"),
    ],
)
def test_a_webhook_is_safe_or_refused_without_being_repeated(url: str, said: str) -> None:
    text = f'[notify]\nwebhook = "{url}"\n'
    if not said:
        assert parse(text, PATH).notify.webhook == url
        return
    with pytest.raises(Invalid) as refused:
        parse(text, PATH)
    assert said in refused.value.message
    assert "line 2, column 1: notify.webhook" in refused.value.message
    assert "SECRET" not in str(refused.value)


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        parse("theme = 1\nno = 2\n[keys]\nroom = 3\n", PATH)
    assert all(f"line {line}," in refused.value.message for line in (1, 2, 4))


@pytest.mark.parametrize("data", [b"theme = '\xff'", b"#" * 300_000], ids=["bytes", "size"])
def test_what_is_no_text_is_refused_in_words(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(data)
    with pytest.raises(Invalid, match=r"config\.toml"):
        read_settings(path)


def test_a_folder_in_its_place_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        read_settings(tmp_path)


def test_the_written_file_has_a_comment_for_each_setting_and_is_read_again() -> None:
    changed = Settings(theme="high-contrast")
    lines = as_file(changed).splitlines()
    for path, model in _models(Settings, ()):
        for name, info in model.model_fields.items():
            assert info.description, (*path, name)
            assert f"# {info.description}" in lines
    assert parse(as_file(changed), PATH) == changed
    assert parse(as_file(Settings()), PATH) == Settings()


def test_every_line_that_is_a_comment_can_be_taken_in_use() -> None:
    text = "\n".join(line.removeprefix("# ") if " = " in line else line for line in as_file(Settings()).splitlines())
    assert parse(text, PATH) == Settings()


def _models(model: type[BaseModel], path: tuple[str, ...]) -> list[tuple[tuple[str, ...], type[BaseModel]]]:
    found: list[tuple[tuple[str, ...], type[BaseModel]]] = [(path, model)]
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            found += _models(info.annotation, (*path, name))
    return found


def test_the_place_of_what_is_not_there_is_not_known() -> None:
    assert place_of("theme = 'x'\n", ("remember",)) is None
