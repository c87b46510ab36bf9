"""The shipped templates and a company's own: which text is used, what is refused, and what is said about it."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.errors import Invalid
from core.prompting.catalogue import LOCALES, TEMPLATES
from core.prompting.templates import OWN, TOKENS_MAX, Library, shipped

MENTION = "talk/mention"
FACTS = TEMPLATES[MENTION][0]


# What would run for ever, fill the memory, or stop the compiler.
HOSTILE = [
    ("{% for a in range(9) %}x{% endfor %}", "for goes over a fact"),
    ("{% for a in 'aaaaaaaaa' %}x{% endfor %}", "for goes over a fact"),
    ("{% for a in author %}x{% endfor %}", "for goes over a list"),
    ("{% for a in b %}{% for c in b %}{% for d in b %}{% endfor %}{% endfor %}{% endfor %}", "at most 2 loops"),
    ("{{ 'a' * 10**9 }}", "may not be used"),
    ("{{ '%999999999d' % 1 }}", "% may not be used"),
    ("{{ '{:>999999999}'.format(1) }}", "nothing may be called"),
    ("{{ author | center(10**9) }}", "may not be used"),
    ("{{ author | center(1000000000) }}", "the filter center"),
    ("{{ author | join('aaaaaaaaaaaaaaaaaaaa') }}", "join takes a fact"),
    ("{{ author | join('aaaa') | join('aaaa') }}", "join takes a fact"),
    ("{{ author | replace('a', 'aa') }}", "replace takes two"),
    ("{{ author | replace('', 'a') }}", "replace takes two"),
    ("{{ lipsum(9999) }}", "nothing may be called"),
    ("{{ lipsum }}", "'lipsum' is undefined"),
    ("{% set a = namespace(b='x') %}", "set makes tables"),
    ("{% set a = author ~ author %}{% set a = a ~ a %}{{ a }}", "set makes tables"),
    ("{% set a %}x{% endset %}", "set without ="),
    ("{% macro a() %}{{ a() }}{% endmacro %}", "macro may not be used"),
    ("{{ author[:3] }}", "[a:b]"),
    ("{{ author is divisibleby 3 }}", "the test divisibleby"),
]


TOO_COMPLICATED = {
    "parentheses": "{{ " + "(" * 500 + "1" + ")" * 500 + " }}",
    "ifs": "{% if author %}" * 300 + "x" + "{% endif %}" * 300,
    "tests": "{% if author %}" * 60 + "x" + "{% endif %}" * 60,
    "sums": "{{ " + "1+" * 5_000 + "1 }}",
    "nots": "{{ " + "not " * 3_000 + "1 }}",
    "digits": "{{ " + "9" * 9_000 + " }}",
    "long": "{{ author }}" * 20_000,
    "surrogate": "{{ '\\ud800' }}",
}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of a company's own texts."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    return folder


def write(folder: Path, text: str | bytes, name: str = MENTION, locale: str = "en") -> Path:
    path = folder / f"{name}.{locale}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    # Two writes within the clock's grain are two versions all the same.
    os.utime(path, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns + len(text)))
    return path


def said(library: Library, name: str = MENTION, locale: str = "en", **facts: Any) -> str:
    library.refresh()
    return library.render(name, locale, {**TEMPLATES[name][0], **facts}).text


def test_every_shipped_file_is_in_the_catalogue_and_the_other_way_round() -> None:
    there = {path.relative_to(shipped()).as_posix() for path in shipped().glob("*/*.md")}
    assert there == {f"{name}.{locale}.md" for name in TEMPLATES for locale in LOCALES}
    assert Library().check() == []


def test_a_companys_own_text_goes_before_the_shipped_one_in_its_language_only(own: Path) -> None:
    write(own, "## Hello {{ agent_name }}\n")
    library = Library(overrides=own)
    assert said(library) == "## Hello Zhao Yun"
    assert library.render(MENTION, "en", FACTS).source == f"prompts/{MENTION}.en.md{OWN}"
    assert said(library, locale="zh") == said(Library(), locale="zh")
    (entry,) = [one for one in library.entries() if one.is_overridden]
    assert (entry.file, entry.own) == (f"prompts/{MENTION}.en.md", "## Hello {{ agent_name }}\n")
    assert entry.shipped is not None


def test_edits_are_picked_up_and_a_removed_file_leaves_the_shipped_one(own: Path) -> None:
    library = Library(overrides=own)
    before = said(library)
    path = write(own, "## One")
    assert said(library) == "## One"
    path.write_text("## Two", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert said(library) == "## Two"
    path.unlink()
    assert said(library) == before


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("## A\n{{ nobody }}\n", 2, "'nobody' is undefined"),
        ("## A\n\n{% if author %}\n", 3, "endif"),
        ("## A\n{{ author.__class__ }}", 2, "unsafe"),
        ("{% include 'x' %}", 1, "include may not"),
        ("## A\n\n{{ 1 / 0 }}", 3, "/ may not be used"),
        *((f"## A\n{text}", 2, what) for text, what in HOSTILE),
        ("  \n", 1, "says nothing"),
        ("word " * (TOKENS_MAX + 3), 0, f"it has {TOKENS_MAX + 3} tokens and may have {TOKENS_MAX}: cut 3"),
        (b"## A\n\n\xff", 3, "no UTF-8"),
        (b"x" * 17_000, 1, "more than 16 KiB"),
    ],
)
def test_an_own_text_that_does_not_render_is_refused_with_its_line(
    own: Path, text: str | bytes, line: int, what: str
) -> None:
    write(own, text)
    library = Library(overrides=own)
    (problem,) = library.check()
    assert (problem.file, problem.line, problem.is_fatal) == (f"prompts/{MENTION}.en.md{OWN}", line, False)
    assert what in problem.what
    rendered = library.render(MENTION, "en", FACTS)
    assert rendered.text == Library().render(MENTION, "en", FACTS).text
    assert rendered.source == f"prompts/{MENTION}.en.md"
    (warning,) = rendered.warnings
    assert f"prompts/{MENTION}.en.md{OWN}{f', line {line}' if line else ''}: " in warning
    assert "the shipped text is used" in warning


@pytest.mark.parametrize("text", TOO_COMPLICATED.values(), ids=TOO_COMPLICATED)
def test_no_own_text_stops_a_company(own: Path, text: str) -> None:
    write(own, text)
    library = Library(overrides=own)
    assert [problem.file for problem in library.check()] == [f"prompts/{MENTION}.en.md{OWN}"]
    rendered = library.render(MENTION, "en", FACTS)
    assert rendered.text == Library().render(MENTION, "en", FACTS).text
    assert "the shipped text is used" in rendered.warnings[0]


@pytest.mark.parametrize("name", ["roles/executor", "layers/task", "layers/review", "layers/guardrails"])
@pytest.mark.parametrize("locale", LOCALES)
def test_a_shipped_text_may_be_taken_over_as_it_is(own: Path, name: str, locale: str) -> None:
    write(own, (shipped() / f"{name}.{locale}.md").read_bytes(), name, locale)
    library = Library(overrides=own)
    assert library.check() == []
    assert library.render(name, locale, TEMPLATES[name][0]).source.endswith(OWN)


def test_a_text_that_cannot_be_sent_with_real_facts_leaves_the_shipped_one(own: Path) -> None:
    write(own, "## A{% if author == 'eve' %}{{ '\\ud800' }}{% endif %}\n")
    library = Library(overrides=own)
    assert library.check() == []
    assert library.render(MENTION, "en", FACTS | {"author": "eve"}).warnings


def test_an_own_text_that_fails_with_real_facts_only_leaves_the_shipped_one(own: Path) -> None:
    write(own, "## A\n{% if author == 'eve' %}{{ nobody }}{% endif %}\n")
    library = Library(overrides=own)
    assert library.check() == []
    assert said(library) == "## A"
    rendered = library.render(MENTION, "en", FACTS | {"author": "eve"})
    assert rendered.text == Library().render(MENTION, "en", FACTS | {"author": "eve"}).text
    assert f"{OWN}, line 2" in rendered.warnings[0]


def test_an_own_text_that_grows_with_real_facts_leaves_the_shipped_one(own: Path) -> None:
    name = "layers/experiences"
    write(own, "## E\n{% for one in items %}{% for other in items %}{{ other.tag }} {% endfor %}{% endfor %}\n", name)
    library = Library(overrides=own)
    assert library.check() == []
    item = {"tag": "word " * 9, "author": "eve", "text": "word"}
    few, many, huge = ({"items": [item] * number, "left_out": []} for number in (5, 50, 500))
    assert library.render(name, "en", few).source.endswith(OWN)
    for facts, why in ((many, r"has 2\d,\d{3} tokens and may have .*: cut "), (huge, "more than 1,000,000 characters")):
        rendered = library.render(name, "en", facts)
        assert rendered.text == Library().render(name, "en", facts).text
        assert re.search(why, rendered.warnings[0])


def test_values_are_no_templates_and_are_rendered_once(own: Path) -> None:
    write(own, "## {{ author }}\n")
    assert said(Library(overrides=own), author="{{ 7 * 7 }}{% x %}") == "## {{ 7 * 7 }}{% x %}"


@pytest.mark.parametrize("where", ["prompts", "prompts/talk", f"prompts/{MENTION}.en.md"])
def test_nothing_is_read_where_a_link_leads(own: Path, where: str) -> None:
    write(own, "## Secret")
    at = own.parent / where
    at.rename(own.parent / "elsewhere")
    at.symlink_to(own.parent / "elsewhere")
    library = Library(overrides=own)
    assert said(library) == said(Library())
    (problem,) = library.check()
    assert "link" in problem.what


def test_an_edit_that_keeps_size_and_time_is_picked_up(own: Path) -> None:
    library = Library(overrides=own)
    for text in ("## One", "## Two"):
        path = own / f"{MENTION}.en.md"
        path.parent.mkdir(exist_ok=True)
        (own / "next").write_text(text)
        os.utime(own / "next", ns=(1, 1))
        (own / "next").replace(path)
        assert said(library) == text


def test_a_file_that_cannot_be_read_is_read_as_soon_as_it_can(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(own, "## One")
    library = Library(overrides=own)
    opened = os.open

    def refuses(path: Any, *more: Any, **named: Any) -> int:
        if str(path).startswith(str(own)):
            raise OSError(24, "Too many open files")
        return opened(path, *more, **named)

    with monkeypatch.context() as broken:
        broken.setattr(os, "open", refuses)
        assert said(library) == said(Library())
        assert "Too many open files" in library.render(MENTION, "en", FACTS).warnings[0]
    assert said(library) == "## One"


def test_a_link_to_nowhere_a_folder_and_a_name_that_nothing_reads_are_told(own: Path) -> None:
    (own / "talk").mkdir()
    (own / "talk" / "mention.en.md").symlink_to(own / "gone")
    os.mkfifo(own / "talk" / "mention.zh.md")
    (own / "elsewhere").mkdir()
    (own / "elsewhere" / "claim.en.md").write_text("## A")
    (own / "broadcast").symlink_to(own / "elsewhere")
    (own / "talk" / "delegate.zh.md").mkdir()
    write(own, "## A", "roles/excutor")
    write(own, "## A", "claim")
    write(own, "## A", "roles/old/executor")
    (own / "roles" / "executor.md.txt").write_text("## A")
    (own / ".git").mkdir()
    (own / ".git" / "HEAD").write_text("ref")
    (own / "roles" / ".executor.en.md.swp").write_text("## A")
    told = [str(problem) for problem in Library(overrides=own).check()]
    assert [re.sub(r"^prompts/(\S+) .*?: ", r"\1: ", one) for one in told] == [
        "broadcast/claim.en.md: its folder is a link: put a folder in its place",
        "talk/mention.en.md: it is a link: put a file in its place",
        "talk/mention.zh.md: it is no file",
        "talk/delegate.zh.md: it is no file",
        "claim.en.md: nothing reads it: no template has this name",
        "elsewhere/claim.en.md: nothing reads it: no template has this name",
        "roles/excutor.en.md: nothing reads it: no template has this name",
        "roles/executor.md.txt: nothing reads it: no template has this name",
        "roles/old/executor.en.md: nothing reads it: no template has this name",
    ]


def a_copy(folder: Path) -> Path:
    return Path(shutil.copytree(shipped(), folder / "copy", ignore=shutil.ignore_patterns("__pycache__")))


def test_a_shipped_english_text_that_does_not_render_stops_the_start_and_another_language_does_not(
    tmp_path: Path,
) -> None:
    copy = a_copy(tmp_path)
    write(copy, "## A\n{{ nobody }}", locale="zh")
    (warning,) = Library(copy).require()
    assert f"prompts/{MENTION}.zh.md, line 2" in warning
    write(copy, "## A\n{{ nobody }}")
    with pytest.raises(Invalid, match=rf"prompts/{MENTION}\.en\.md, line 2: .*nothing was started"):
        Library(copy).require()


async def test_a_company_starts_with_a_warning_about_its_own_broken_text(tmp_path: Path) -> None:
    folder = tmp_path / "company"
    await create_company(folder, Config(name="Test"))
    write(folder / "prompts", "## A\n\n{{ nobody }}")
    company = await OpenCompany.open(folder)
    try:
        assert company.warnings == ()
        await company.start()
        (warning,) = company.warnings
    finally:
        await company.close()
    assert warning.startswith(f"prompts/{MENTION}.en.md{OWN}, line 3: 'nobody' is undefined")
