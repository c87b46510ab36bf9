"""README sections and dead relative links of Markdown files."""

from pathlib import Path

import pytest

from core.agents.rehearsal.audit import documentation as audited
from core.agents.rehearsal.audit.documentation import documentation
from tests.agents.test_audit_world import a_folder, a_repository


def dead(folder: Path, text: str, name: str = "a.md") -> list[str]:
    a_folder(folder, {name: text.encode()})
    return [link["target"] for link in documentation(folder)["dead_links"]]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[x](gone.md)", ["gone.md"]),
        ('![x](gone.png "title")', ["gone.png"]),
        ("[x](<gone with spaces.md>)", ["gone with spaces.md"]),
        ("[x][id]\n\n[id]: gone.md 'title'", ["gone.md"]),
        ("[unused]: gone.md", ["gone.md"]),
        ("[x](gone.md#part) [y](gone.md?raw=1)", ["gone.md#part", "gone.md?raw=1"]),
        ("[x](go%20ne.md)", ["go%20ne.md"]),
        ("[![badge](gone.png)](gone.md)", ["gone.md", "gone.png"]),
        ("| a |\n|---|\n| [x](gone.md) |", ["gone.md"]),
        ("> - [x](b.md) [x](b.md) [x](a)", ["a", "b.md"]),
        ("# [x](gone.md)", ["gone.md"]),
        ("[x](中文.md)", ["中文.md"]),
        ("[x](100%.md)", ["100%.md"]),
        ("[x](gone%00.md)", ["gone%00.md"]),
    ],
)
def test_dead_links_are_told_as_written(tmp_path: Path, text: str, targets: list[str]) -> None:
    assert dead(tmp_path, text) == targets


@pytest.mark.parametrize(
    "text",
    [
        "[x](http://example.org/a) <https://example.org> [x](mailto:a@example.org) [x](//host/a)",
        "[x](#part) [x](?a) [x]()",
        "`[x](gone.md)`\n\n```\n[x](gone.md)\n```\n\n    [x](gone.md)\n",
        "\\[x](gone.md)",
        "<!-- [x](gone.md) -->",
        "A note[^1].\n\n[^1]: gone",
        "[x](there.md) [x](./there.md#p) [x](sub) [x](sub/) [x](sub/../there.md) [x](no/../there.md)",
        "[x](/there.md) [x](sp%20ace.md) [x](<sp ace.md>) [x](caf%E9.md) [x](caf\\_e.md)",
    ],
)
def test_what_is_no_dead_link_is_not_told(tmp_path: Path, text: str) -> None:
    a_folder(tmp_path, {"there.md": b"", "sub/x": b"", "sp ace.md": b"", b"caf\xe9.md": b"", "caf_e.md": b""})
    assert dead(tmp_path, text) == []


def test_links_are_relative_to_their_file_and_a_slash_to_the_folder(tmp_path: Path) -> None:
    a_folder(tmp_path, {"top.md": b"", "sub/near.md": b""})
    text = "[x](near.md) [x](top.md) [x](../top.md) [x](/top.md) [x](/near.md)"
    assert dead(tmp_path, text, "sub/a.md") == ["/near.md", "top.md"]


def test_links_out_of_the_folder_are_looked_up(tmp_path: Path) -> None:
    a_folder(tmp_path, {"beside.md": b"", "folder/x": b""})
    assert dead(tmp_path / "folder", "[x](../beside.md) [x](../gone.md)") == ["../gone.md"]


def test_files_are_named_and_sorted_and_ignored_ones_left_out(tmp_path: Path) -> None:
    link = b"[x](gone)"
    a_repository(tmp_path, {"b.markdown": link, "a.MD": link, ".gitignore": b"c.md\n", "c.md": link, b"\xff.md": link})
    found = documentation(tmp_path)
    assert [one["file"] for one in found["dead_links"]] == ["\\xff.md", "a.MD", "b.markdown"]
    assert found["markdown_files"] == 3


def test_a_target_which_is_no_text_is_shown(tmp_path: Path) -> None:
    a_folder(tmp_path, {"a.md": b"[x](g\xffne)"})
    assert documentation(tmp_path)["dead_links"] == [{"file": "a.md", "target": "g\\xffne"}]


def test_large_and_binary_markdown_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audited, "LARGEST_MARKDOWN", 10)
    a_folder(tmp_path, {"large.md": b"x" * 11, "binary.md": b"\0"})
    found = documentation(tmp_path)
    assert found["markdown_files"] == 0
    assert {one["path"]: one["reason"] for one in found["skipped"]["first"]} == {
        "binary.md": "binary",
        "large.md": "larger than 5 MiB",
    }


def test_a_readme_tells_its_headings_and_sections(tmp_path: Path) -> None:
    text = b"Name `it`\n====\n\n## How to install\n\n```\n# no heading\n```\n\nMIT licensed.\n\n### Usage #\n"
    a_folder(tmp_path, {"README.md": text, "README": b"", "readme_first.txt": b""})
    assert documentation(tmp_path)["readme"] == {
        "path": "README.md",
        "headings": [
            {"level": 1, "text": "Name it"},
            {"level": 2, "text": "How to install"},
            {"level": 3, "text": "Usage"},
        ],
        "sections": {"installation": "heading", "usage": "heading", "tests": None, "licence": "text"},
    }


def test_a_readme_may_be_plain_text_or_a_link_or_missing(tmp_path: Path) -> None:
    assert documentation(tmp_path)["readme"] is None
    a_folder(tmp_path, {"docs/about.md": b"# Usage\n", "Readme.rst": b"Testing\n=======\n"})
    plain = documentation(tmp_path)["readme"]
    assert plain is not None
    assert (plain["headings"], plain["sections"]["tests"]) == ([], "text")
    (tmp_path / "README.md").symlink_to("docs/about.md")
    linked = documentation(tmp_path)["readme"]
    assert linked is not None
    assert linked["headings"] == [{"level": 1, "text": "Usage"}]
