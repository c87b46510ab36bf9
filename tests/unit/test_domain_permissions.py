"""Which later acts a yes "for this run" covers, and what of a wish a person is shown (S4-08)."""

import pytest

from core.domain.permissions import (
    COMMAND_MAX,
    COMPARED_MAX,
    DIFFERENCES_MAX,
    FILES_MAX,
    Change,
    Cover,
    Wish,
    asked,
    cover_as_json,
    cover_from,
    cover_of,
    difference,
    digest_of,
)


def command(text: str, folder: str = "/src", *, is_whole: bool = True) -> Cover:
    return cover_of("command", folder, text, (), f"digest of {text}", is_whole=is_whole)


def files(*paths: str, kind: str = "edit", folder: str = "/src") -> Cover:
    return cover_of(kind, folder, "", paths, f"digest of {paths}", is_whole=True)


@pytest.mark.parametrize(
    ("allowed", "later", "is_covered"),
    [
        (command("npm test"), command("npm test -- links"), True),
        (command("npm test -- links"), command("npm test"), True),
        (command("npm test"), command("npm test --script-shell=x"), False),
        (command("npm test"), command("npm publish"), False),
        (command("npm test"), command("npm test", folder="/other"), False),
        (command("npm test"), command("npm test; rm x"), False),
        (command("pytest -q tests"), command("pytest -x src"), True),
        (command("pytest -q tests"), command("pytest -x /src"), False),
        (command("cat src"), command("cat /etc/passwd"), False),
        (command("cat src"), command("cat src"), True),
        (command("rm build"), command("rm build"), True),
        (command("rm build"), command("rm src"), False),
        (command("sh -c 'ls'"), command("sh -c 'rm x'"), False),
        (command("npm test", is_whole=False), command("npm test -- a"), False),
        (command("npm test"), command("npm test -- a", is_whole=False), False),
        (files("a.py", "b.py"), files("a.py"), True),
        (files("a.py"), files("a.py", "b.py"), False),
        (files("a.py"), files("./a.py"), True),
        (files("a.py"), files("x/../a.py"), False),  # x may be a link to elsewhere
        (files("x/../a.py"), files("a.py"), False),
        (files("x/../a.py"), files("x/../a.py"), True),  # the same digest
        (files("a.py", kind="delete"), files("a.py"), False),
        (files("a.py"), files("a.py", kind="move"), False),
        (files("a.py"), files("../a.py"), False),
        (files("a.py"), files("/src/a.py"), True),
        (files("a.py"), files("a.py", kind="read"), False),
        (files("a.py"), command("a.py"), False),
        (files(), files(), True),  # the same digest
        (files(), files("a.py"), False),
        (files("a.py"), files(), False),
        (cover_of("fetch", "/src", "http://a/x", (), "1", is_whole=True),
         cover_of("fetch", "/src", "http://a/y", (), "2", is_whole=True), False),
        (cover_of("fetch", "/src", "http://a/x", (), "1", is_whole=True),
         cover_of("fetch", "/src", "http://a/x", (), "1", is_whole=True), True),
        (cover_of("other", "/src", "", (), "1", is_whole=True),
         cover_of("other", "/src", "", (), "2", is_whole=True), False),
    ],
)  # fmt: skip
def test_what_a_yes_for_the_run_covers(allowed: Cover, later: Cover, is_covered: bool) -> None:
    assert allowed.covers(later) is is_covered
    assert cover_from(cover_as_json(allowed)).covers(later) is is_covered


def test_the_rule_is_said_in_words() -> None:
    assert command("npm test").in_words() == (
        "every `npm test` in /src, with common options and places in that folder alone"
    )
    assert command("rm x").in_words() == "exactly the same again"
    assert files("a.py", "b.py").in_words() == "every change of /src/a.py, /src/b.py"
    assert files("a.py", kind="read").in_words() == "every reading of /src/a.py"
    assert files(*(f"{n}.py" for n in range(8))).in_words().endswith("and 3 more files")


def test_a_difference_shows_what_changes_and_nothing_acts() -> None:
    found = difference(Change("a", "1\n2\n3\n", "1\n2\r\n\u20283\n"))
    assert (found.added, found.removed, found.is_rough) == (2, 2, False)
    assert "+2\r" in found.text.split("\n")
    assert "+\u20283" in found.text.split("\n")
    assert difference(Change("a", None, "x\n")).text == "@@ -0,0 +1 @@\n+x"
    assert difference(Change("a", "x", "x\n")).text == "@@ only line ends differ @@"
    assert difference(Change("a", "x", "x")).text == ""


@pytest.mark.parametrize("text", ["a" * 600_000, "a\n" * 300_000, "\n".join(map(str, range(60_000)))])
def test_what_is_too_long_to_be_compared_says_so(text: str) -> None:
    assert len(text) > COMPARED_MAX
    found = difference(Change("a", text, text + "b"))
    assert found.is_rough
    assert found.text.startswith("@@ too long to be compared")


def test_a_wish_is_bounded_and_known_by_the_hash_of_the_whole() -> None:
    changes = tuple(Change(f"{n}.py", None, "x\n" * 2_000) for n in range(FILES_MAX + 7))
    wish = Wish("a\nb\x00 \ud800" * 400, "shell", "/f" * 5_000, "c" * 1_000_000, changes, "d" * 1_000_000)
    found = asked(wish)
    assert found["kind"] == "other"
    assert len(found["command"]) == COMMAND_MAX
    assert sum(len(file["difference"]) for file in found["files"]) <= DIFFERENCES_MAX
    assert (len(found["files"]), found["more_files"]) == (FILES_MAX, 7)
    assert {"command", "details", "folder"} <= set(found["cut"])
    assert "\n" not in found["title"]
    assert found["sha256"] == digest_of(wish)
    assert digest_of(wish) != digest_of(Wish(wish.title, wish.kind, wish.folder, wish.command + "c", changes, ""))
