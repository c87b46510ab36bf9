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
_PLACES = {"goals": 1, "tasks": 2, "comments": 3, "outputs": 4}
# What is recalled stands together in the index: a search among it walks over no comment.
_TOGETHER = {"experiences": 1 << 48, "knowledge": 2 << 48}
TERMS_MAX = 48  # of a query for any word: each one more costs a walk through its places
_BEFORE, _LONGEST = 24, 96

_CJK = "぀-ヿ㐀-䶿一-鿿豈-﫿가-힯"
_RUN = re.compile(f"[{_CJK}]+|[^\\W{_CJK}]+", re.UNICODE)
# Words that stand in every text say nothing of what it is about.
_IN_EVERY_TEXT = (
    "a all an and any are as at be been but by can do does each for from had has have how if in into is it its may more"
    " must no not of on one only or other our out over should so some such than that the their them then there these"
    " they this those to up use was we were what when where which while who will with you your"
    " 的 了 是 在 和 与 及 或 不 有 这 那 为 对 把 被 也 都 就"
)
_COMMON = frozenset(_IN_EVERY_TEXT.split())


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


def any_of(text: str) -> str:
    """An FTS5 query in which any word of the text is enough; empty if there is no word (S4-01).

    The first TERMS_MAX different words count, so what matters most stands first. Words that stand in every text are
    left out while others are there; a longer word is found by its beginning ("files" finds "file").
    """
    words: dict[str, str] = {}
    for run in _RUN.findall(text):
        run = run.lower()
        if _is_cjk(run) and len(run) > 1:
            words.update({(pair := run[i : i + 2]): f'"{pair}"' for i in range(len(run) - 1)})
        else:
            words[run] = _found_by(run)
    terms = [term for word, term in words.items() if word not in _COMMON] or list(words.values())
    return " OR ".join(dict.fromkeys(terms[:TERMS_MAX]))


def _found_by(word: str) -> str:
    if len(word) < 4 or _is_cjk(word):
        return f'"{word}"'
    return f'"{word.removesuffix("s")}"*'


def place_of(table: str, entity_id: int) -> int:
    """The row of the index that belongs to an entity: finding it by its other columns would read the whole index."""
    return _TOGETHER[table] + entity_id if table in _TOGETHER else entity_id * 16 + _PLACES[table]


def places_of(table: str) -> tuple[int, int]:
    """The first and the last row of the index that `experiences` or `knowledge` may have."""
    first = _TOGETHER[table]
    return first, first + (1 << 48) - 1


def snippet_of(text: str, query: str) -> str:
    """The part of `text` around the first place where a word of `query` stands, in a line of at most 98 characters."""
    line = " ".join(text.split())
    places = [found.start() for run in _RUN.findall(query) if (found := re.search(re.escape(run), line, re.IGNORECASE))]
    start = max(0, min(places, default=0) - _BEFORE)
    end = start + _LONGEST
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
