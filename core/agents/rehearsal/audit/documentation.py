"""The README with its sections, and the dead relative links of all Markdown files."""

import os
import re
from collections.abc import Iterator

from core.agents.rehearsal.audit import links
from core.agents.rehearsal.audit.files import FileEntry, iter_files
from core.agents.rehearsal.audit.reading import opened
from core.agents.rehearsal.audit.shapes import DeadLink, Documentation, Heading, Readme
from core.agents.rehearsal.audit.survey import Folder, Progress, Survey, reason, shown, silent

LARGEST_MARKDOWN = 5 << 20
_ENDINGS = (b".md", b".markdown")
_SECTIONS = {
    "installation": re.compile(r"\b(?:install\w*|set-?up|getting started|quick ?start)\b", re.IGNORECASE),
    "usage": re.compile(r"\b(?:usage|using|how to|examples?|tutorial)\b", re.IGNORECASE),
    "tests": re.compile(r"\b(?:tests?|testing)\b", re.IGNORECASE),
    "licence": re.compile(r"\b(?:licen[cs]ed?|copying|copyright)\b", re.IGNORECASE),
}


def documentation(folder: Folder, tell: Progress = silent) -> Documentation:
    """Check a folder's documentation; raises AuditError when the folder cannot be read.

    Markdown files larger than 5 MiB are skipped; README is looked for in the folder itself.
    """
    survey = Survey.of(folder, tell)
    dead: list[DeadLink] = []
    read = 0
    for entry in markdown_files(survey):
        found = dead_targets(survey, entry.path)
        if found is not None:
            read += 1
            dead += [{"file": shown(entry.path), "target": target} for target in found]
    return {
        "readme": _readme(survey),
        "markdown_files": read,
        "dead_links": sorted(dead, key=lambda link: (link["file"], link["target"])),
        **survey.audited(),
    }


def markdown_files(survey: Survey) -> Iterator[FileEntry]:
    """The files to audit whose names end as Markdown does."""
    for number, entry in enumerate(iter_files(survey), 1):
        survey.tell(number, None, "checking links")
        if entry.path.lower().endswith(_ENDINGS):
            yield entry


def dead_targets(survey: Survey, path: bytes) -> list[str] | None:
    """The distinct dead relative targets of one Markdown file, sorted; None when it was skipped."""
    text = _text(survey, path)
    if text is None:
        return None
    try:
        found = links.targets(text)
    except Exception as error:  # whatever a strange text does to the parser, the audit goes on
        survey.skip(path, f"not readable as Markdown ({type(error).__name__})")
        return None
    return sorted(
        shown(target.encode("utf-8", "surrogateescape"))
        for target in found
        if links.is_relative(target) and links.leads_nowhere(survey.root, path, target)
    )


def _readme(survey: Survey) -> Readme | None:
    name = _readme_name(survey)
    if name is None:
        return None
    real = os.path.relpath(os.path.realpath(survey.at(name)), survey.root)
    # A README that links out of the folder is there, but what it says is not the folder's.
    text = None if real.startswith(b"../") else _text(survey, real)
    markdown = name.lower().endswith(_ENDINGS)
    found = _headings(text) if text and markdown else []
    titles = "\n".join(heading["text"] for heading in found)
    sections = {
        section: "heading" if words.search(titles) else "text" if words.search(text or "") else None
        for section, words in _SECTIONS.items()
    }
    return {"path": shown(name), "headings": found, "sections": sections}


def _headings(text: str) -> list[Heading]:
    try:
        return links.headings(text)
    except Exception:  # as for links; the same text has told the reason there
        return []


def _readme_name(survey: Survey) -> bytes | None:
    try:
        names = os.listdir(survey.root)
    except OSError:
        return None
    readmes = [name for name in names if name.lower().split(b".")[0] == b"readme" and os.path.isfile(survey.at(name))]
    return min(readmes, key=lambda name: (not name.lower().endswith(_ENDINGS), len(name), name), default=None)


def _text(survey: Survey, path: bytes) -> str | None:
    try:
        with opened(survey.at(path)) as file:
            if file.binary or file.size > LARGEST_MARKDOWN:
                survey.skip(path, "binary" if file.binary else "larger than 5 MiB")
                return None
            return b"".join(file.chunks()).decode("utf-8", "surrogateescape")
    except OSError as error:
        survey.skip(path, reason(error))
        return None
