"""Which language a file is in: by its name as Pygments knows it, else by its shebang line.

Only Pygments' table of names is read; no lexer is loaded.
"""

import os
import re
from functools import cache
from typing import NamedTuple

# Several lexers claim these; the commonest reading wins. Other ties go to the first name.
_TIES = {
    "*.S": "GAS",
    "*.as": "ActionScript 3",
    "*.asm": "NASM",
    "*.bas": "VB.net",
    "*.cl": "Common Lisp",
    "*.cp": "C++",
    "*.ecl": "ECL",
    "*.feature": "Gherkin",
    "*.fs": "F#",
    "*.gd": "GDScript",
    "*.h": "C",
    "*.hh": "C++",
    "*.i": "SWIG",
    "*.inc": "PHP",
    "*.inf": "INI",
    "*.lean": "Lean4",
    "*.m": "Objective-C",
    "*.mm": "Objective-C++",
    "*.pl": "Perl",
    "*.pm": "Perl",
    "*.pro": "Prolog",
    "*.prolog": "Prolog",
    "*.s": "GAS",
    "*.sc": "SuperCollider",
    "*.scd": "SuperCollider",
    "*.sql": "SQL",
    "*.t": "Perl",
    "*.toc": "TeX",
    "*.ttl": "Turtle",
    "*.v": "verilog",
    "*.xsl": "XSLT",
    "*.xslt": "XSLT",
}

_INTERPRETERS = {
    "awk": "Awk",
    "bash": "Bash",
    "dash": "Bash",
    "fish": "Fish",
    "gawk": "Awk",
    "ksh": "Bash",
    "lua": "Lua",
    "node": "JavaScript",
    "nodejs": "JavaScript",
    "perl": "Perl",
    "php": "PHP",
    "pypy": "Python",
    "python": "Python",
    "ruby": "Ruby",
    "sh": "Bash",
    "tclsh": "Tcl",
    "zsh": "Bash",
}


class _Names(NamedTuple):
    exact: dict[str, str]
    endings: dict[str, str]
    patterns: list[tuple[re.Pattern[str], str]]


def language_of(path: bytes, head: bytes) -> str | None:
    """The language as Pygments names it, or None; `head` is how the file begins.

    A whole name counts before an ending, the longest ending first; then endings in lower case,
    then the few other patterns, then the shebang line.
    """
    return _by_name(os.path.basename(path).decode("utf-8", "replace")) or _by_shebang(head)


def _by_name(name: str) -> str | None:
    names = _names()
    if name in names.exact:
        return names.exact[name]
    for written in (name, name.lower()):
        dot = written.find(".")
        while dot >= 0:
            if written[dot:] in names.endings:
                return names.endings[written[dot:]]
            dot = written.find(".", dot + 1)
    return next((language for pattern, language in names.patterns if pattern.match(name)), None)


def _by_shebang(head: bytes) -> str | None:
    if not head.startswith(b"#!"):
        return None
    words = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()
    programs = [os.path.basename(word) for word in words]
    if programs[:1] == ["env"]:  # its options and settings stand before the program
        programs = [word for word in programs[1:] if not word.startswith("-") and "=" not in word]
    return _INTERPRETERS.get(programs[0].rstrip("0123456789.")) if programs else None


@cache
def _names() -> _Names:
    import fnmatch

    from pygments.lexers import get_all_lexers

    claims: dict[str, list[str]] = {}
    for language, _, patterns, _ in get_all_lexers(plugins=False):
        for pattern in patterns:
            claims.setdefault(pattern, []).append(language)
    names = _Names({}, {}, [])
    for pattern, languages in sorted(claims.items()):
        preferred = _TIES.get(pattern)
        language = preferred if preferred in languages else min(languages)
        if not re.search(r"[*?\[]", pattern):
            names.exact[pattern] = language
        elif pattern.startswith("*.") and not re.search(r"[*?\[]", pattern[1:]):
            names.endings[pattern[1:]] = language
        else:
            names.patterns.append((re.compile(fnmatch.translate(pattern)), language))
    return names
