"""Full-text search that finds one- and two-character Chinese words: bigrams are made here, not by SQLite.

Which text of which table is found stands here too.
"""

import re

SEARCHED: dict[str, tuple[str, ...]] = {
    "goals": ("title", "description"),
    "tasks": ("title", "intent", "end_state"),
    "comments": ("body",),
    "outputs": ("title", "summary", "content"),
    "experiences": ("body",),
    "knowledge": ("heading", "body"),
}
_PLACES = {"goals": 1, "tasks": 2, "comments": 3, "outputs": 4, "experiences": 5, "knowledge": 6}
_BEFORE, _LONGEST = 24, 96

_CJK = "぀-ヿ㐀-䶿一-鿿豈-﫿가-힯"
_RUN = re.compile(f"[{_CJK}]+|[^\\W{_CJK}]+", re.UNICODE)


def _is_cjk(run: str) -> bool:
    return re.match(f"[{_CJK}]", run) is not None


def words_of(text: str) -> str:
    """The words to index: other scripts as they are, CJK runs as single characters and overlapping pairs."""
    words: list[str] = []
    for run in _RUN.findall(text):
        if _is_cjk(run):
            words.extend(run)
            words.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            words.append(run)
    return " ".join(words)


def query_of(text: str) -> str:
    """An FTS5 query in which every word must occur; nothing of the text acts as query syntax. Empty if no word."""
    terms: list[str] = []
    for run in _RUN.findall(text):
        if not _is_cjk(run):
            terms.append(f'"{run}"*')
        elif len(run) == 1:
            terms.append(f'"{run}"')
        else:
            terms.extend(f'"{run[i : i + 2]}"' for i in range(len(run) - 1))
    return " AND ".join(terms)


def place_of(table: str, entity_id: int) -> int:
    """The row of the index that belongs to an entity: finding it by its other columns would read the whole index."""
    return entity_id * 16 + _PLACES[table]


def snippet_of(text: str, query: str) -> str:
    """The part of `text` around the first place where a word of `query` stands, in a line of at most 98 characters."""
    line = " ".join(text.split())
    places = [found.start() for run in _RUN.findall(query) if (found := re.search(re.escape(run), line, re.IGNORECASE))]
    start = max(0, min(places, default=0) - _BEFORE)
    end = start + _LONGEST
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
