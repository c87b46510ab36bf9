"""What an executor hands on: decisions, problems and advice in 50 to 500 characters. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from core.agents.rehearsal.words import counted, cut, named, number
from core.domain.limits import EXPERIENCE_PREFIX, HANDOFF_MAX

Figures = Mapping[str, Any]


def handoff(kind: str, result: Figures, remarks: list[str], serving: str = "") -> str:
    """The handoff of one work; `remarks` (what a review changed, what the operator said) stand before the advice.

    `serving` names must-haves that the work only prepares.
    """
    found, advice, experience = _PARTS[kind](result)
    parts = [serving, found, *(cut(remark, 150) for remark in remarks if remark), problems(result), advice]
    text = cut(" ".join(filter(None, parts)), HANDOFF_MAX)
    with_experience = f"{text}\n{EXPERIENCE_PREFIX}{experience}"
    return with_experience if experience and len(with_experience) <= HANDOFF_MAX else text


def problems(result: Figures) -> str:
    """What the audit could not read."""
    count = result.get("skipped", {}).get("count", 0)
    if not count:
        return "Problems: none."
    first = result["skipped"]["first"][0]
    return f"Problems: {counted(count, 'path')} left out, e.g. {named(first['path'], 40)} ({first['reason']})."


def _inventory(result: Figures) -> tuple[str, str, str]:
    total, languages = result["total"], result["languages"]
    most = max(languages, key=lambda name: languages[name]["bytes"], default=None)
    found = f"Decided: a line ends at a newline byte, a last one without counts. {counted(total['files'], 'file')},"
    found += f" {counted(total['lines'], 'line')} in {counted(len(languages), 'language')}"
    found += f"; {named(most)} has most bytes." if most else "."
    lesson = "In a git repository git lists the files, so ignored ones are left out." if result.get("git") else ""
    return found, "Advice: binary files have bytes here, but no lines.", lesson


def _marks(result: Figures) -> tuple[str, str, str]:
    found = "Decided: TODO and FIXME count as whole words, one mark a line, in text files only."
    found += f" {counted(result['lines'], 'marked line')} in {counted(result['files'], 'file')}."
    if result["top_files"]:
        top = result["top_files"][0]
        found += f" Most: {named(top['path'])} ({number(top['lines'])})."
    lesson = "Give places as path and line; the lines themselves belong to the person." if result["lines"] else ""
    return found, "Advice: of many marks only the first 200 places are listed.", lesson


def _history(result: Figures) -> tuple[str, str, str]:
    by = "commits where git knows the file" if result.get("git") else "the file system, for git knows nothing of it"
    found = f"Decided: the last change is told by {by}."
    if result["largest"]:
        large, old = result["largest"][0], result["untouched"][:1]
        found += f" Largest: {named(large['path'])} ({counted(large['bytes'], 'byte')})."
        found += f" Longest untouched: {named(old[0]['path'])} ({old[0]['date'][:10]})." if old else ""
    return found, "Advice: a shallow clone makes files look younger than they are.", ""


def _documentation(result: Figures) -> tuple[str, str, str]:
    readme = result["readme"]
    missing = [] if readme is None else [name for name, where in readme["sections"].items() if where is None]
    found = (
        f"Decided: only relative links in Markdown are followed. {counted(result['markdown_files'], 'Markdown file')},"
    )
    found += f" {counted(len(result['dead_links']), 'dead link')}; "
    found += "no README." if readme is None else f"the README lacks {', '.join(missing) or 'no expected section'}."
    return found, "Advice: raw HTML and links to the web were not looked at.", ""


def _duplicates(result: Figures) -> tuple[str, str, str]:
    found = "Decided: only whole files of equal bytes count, empty ones never."
    found += f" {counted(len(result['groups']), 'group')} of {counted(result['files'], 'file')};"
    found += f" {counted(result['spare_bytes'], 'byte')} could be spared."
    return found, "Advice: two names of one file (hard links) count as copies here.", ""


def _closer_look(result: Figures) -> tuple[str, str, str]:
    if result.get("path") is None:
        found = "Decided: I counted the files of the folder again, and there is none, so nothing can be looked at."
        return found, "Advice: look whether the right folder was named.", ""
    found = f"Decided: figures of one file only. {named(result['path'])}: {counted(result['lines'], 'line')},"
    found += f" {counted(result['blank_lines'], 'blank one')}, {counted(result['marks'], 'marked line')},"
    found += f" {result['repeated_share']:.0%} of its lines repeated."
    return found, "Advice: many commits and many marks together are where to begin.", ""


def _choice(result: Figures) -> tuple[str, str, str]:
    if result.get("path") is None:
        return "Decided: there is no file to look closer at.", "Advice: look whether the right folder was named.", ""
    found = f"Decided by the approved figures: {named(str(result['finding']), 200)}. It gets the closer look."
    advice = "Advice: the file with most marks goes before the largest one, and that before a copy."
    return found, advice, "Let approved figures choose the next work, not a guess."


_PARTS: Mapping[str, Callable[[Figures], tuple[str, str, str]]] = {
    "inventory": _inventory,
    "marks": _marks,
    "history": _history,
    "documentation": _documentation,
    "duplicates": _duplicates,
    "closer_look": _closer_look,
    "choice": _choice,
}
