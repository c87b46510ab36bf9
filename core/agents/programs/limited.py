"""Whether a program failed because its provider takes no requests for now: such an end costs no attempt (F14). Pure."""

import re

_STATUSES = frozenset({429, 529})
_UNSURE = 503  # a server that is down, or one that is overloaded
_KINDS = frozenset({
    "overloaded", "overloaded_error", "rate_limit", "rate_limit_error", "rate_limit_exceeded", "rate_limited",
    "rateLimitExceeded", "resource_exhausted", "RESOURCE_EXHAUSTED", "serverOverloaded", "usageLimitExceeded",
})  # fmt: skip
# Whole phrases of providers and programs: their words alone stand as well in what an ordinary failure says of its work.
_PHRASES = re.compile(
    r"\b(rate|usage|request|token|session|daily|weekly|hour) limits? ((has|have) been |was )?(reached|exceeded|hit)\b"
    r"|\b(reached|exceeded|hit) your [\w -]{0,30}\blimit\b"
    r"|\b(rate_limit_error|rate_limit_exceeded|overloaded_error|resource_exhausted)\b"
    r"|\b429\W{1,4}(too many requests|rate.limit)"
    r"|\b(api error|last status|unexpected status|rejected|error code)\W{1,3}429\b"
    r"|\bfailed with status( code)?:? 429\b"
    # gemini says this of each 429, and its result holds no status.
    r"|\A\[API Error: [^\n]*\n *Please wait and try again later\. To increase your limits, "
    r"|\A\W*(http|status|error)( error| code| status)?\W{0,3}429\b"
    r"|(\A\W*|error: )(too many requests(?=[.,:;!]|\Z)|(rate limit(ed)?|overloaded)\W*\Z)"
    r"|\b529\W{1,3}overloaded|\b(model|provider|service) is (currently |temporarily )?overloaded\b",
    re.IGNORECASE,
)


def limited(why: str, status: object = None, kind: object = "") -> bool:
    """Whether it ended by a limit of its provider. `why` are its words.

    `status` (of HTTP) and `kind` (a name) are fields of its own, as they came: where they tell it, no word counts.
    """
    if isinstance(kind, str) and kind in _KINDS:
        return True
    if isinstance(status, int) and 400 <= status < 600 and status != _UNSURE:
        return status in _STATUSES
    return _PHRASES.search(why) is not None
