"""What a CEO is told about its mode: the file of the mode, then the footer that all modes share (S0-09…15)."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from core.domain.ceo_mode import SLUGS, CeoMode
from core.domain.errors import Invalid

LOCALES = ("en", "zh")
FALLBACK = "en"
FOOTER = "proactive-footer"


@dataclass(frozen=True, slots=True)
class ModeText:
    """The text of a mode with the footer, and a warning for each file that is missing in the wanted locale."""

    text: str
    warnings: tuple[str, ...] = ()


@cache
def shipped() -> Traversable:
    """The folder of the prompts that come with the program."""
    return files("prompts")


def load_ceo_mode(mode: CeoMode, locale: str, folder: Traversable | None = None) -> ModeText:
    """The text for a mode in a locale; English, with a warning, where the locale has none (S0-11).

    Raises Invalid, which names the file, when the English one is missing too.
    """
    places = (("ceo-modes", SLUGS[mode]), ("ceo-shared", FOOTER))
    found = [_read(folder or shipped(), part, slug, locale) for part, slug in places]
    return ModeText("\n".join(text for text, _ in found), tuple(warning for _, warning in found if warning))


def check_ceo_modes(folder: Traversable | None = None) -> tuple[str, ...]:
    """Read every mode in every locale, and the footer (S0-12). Returns the warnings; raises Invalid as above."""
    texts = [load_ceo_mode(mode, locale, folder) for mode in CeoMode for locale in LOCALES]
    return tuple(dict.fromkeys(warning for text in texts for warning in text.warnings))


def _read(folder: Traversable, part: str, slug: str, locale: str) -> tuple[str, str]:
    wanted, english = (folder / part / f"{slug}.{each}.md" for each in (locale, FALLBACK))
    if wanted.is_file():
        return wanted.read_text(encoding="utf-8"), ""
    if not english.is_file():
        raise Invalid(
            f"prompts/{part}/{slug}.{FALLBACK}.md is missing; nothing was started.",
            "Put it back, or install Opsroom again.",
        )
    warning = f"prompts/{part}/{slug}.{locale}.md is missing: the English text is used instead."
    return english.read_text(encoding="utf-8"), warning
