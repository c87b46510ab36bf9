"""Every theme can be read, in both senses, and a faulty file names all its faults at once."""

from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from tui.themes import DEFAULT_THEME, ThemeProblem, load_themes, read_theme, usable

THEMES = {theme.name: theme for theme in load_themes()[0]}
TEXTS = ("foreground", "text-primary", "text-success", "text-warning", "text-error")


def contrast(one: Color, other: Color) -> float:
    def luminance(colour: Color) -> float:
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.normalized]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def a_theme_file(folder: Path, text: str = "", **changes: str) -> Path:
    colours = dict.fromkeys(("primary", "warning", "error", "success"), '"#5aa9e6"')
    colours |= dict.fromkeys(("foreground", "background", "surface", "panel"), '"#101010"')
    lines = [f"{key} = {value}" for key, value in ({"name": '"mine"'} | colours | changes).items() if value]
    file = folder / "mine.toml"
    file.write_text("\n".join([*lines, text]), encoding="utf-8")
    return file


def test_the_room_comes_with_sound_themes() -> None:
    themes, problems = load_themes()
    assert problems == []
    assert {t.name for t in themes} == {
        DEFAULT_THEME,
        "opsroom-light",
        "high-contrast",
        "colour-blind-safe",
        "terminal",
    }
    assert not THEMES["opsroom-light"].dark


# of the terminal's own colours nobody knows how they look
@pytest.mark.parametrize("theme", [each for each in THEMES.values() if not each.ansi], ids=lambda theme: theme.name)
def test_every_text_can_be_read_on_every_ground(theme: Theme) -> None:
    colours = theme.to_color_system().generate()
    surface, primary = Color.parse(colours["surface"]), Color.parse(colours["primary"])
    grounds = [surface, Color.parse(colours["background"]), surface + primary.with_alpha(0.3)]
    least = 7.0 if theme.name == "high-contrast" else 4.5
    found = {text: min(contrast(ground + Color.parse(colours[text]), ground) for ground in grounds) for text in TEXTS}
    assert {text: ratio for text, ratio in found.items() if ratio < least} == {}


def test_good_and_bad_differ_in_lightness_where_colour_cannot_be_seen() -> None:
    colours = THEMES["colour-blind-safe"].variables
    texts = [Color.parse(colours[f"text-{name}"]) for name in ("success", "warning", "error")]
    assert contrast(texts[0], texts[2]) > 1.15
    assert contrast(texts[1], texts[2]) > 1.5


def test_every_fault_of_a_file_is_named(tmp_path: Path) -> None:
    file = a_theme_file(
        tmp_path, '[variables]\nborder = "nope"\n"x" = "#fff 200"', primary='"#zzz"', error="3", panel="", dakr="true"
    )
    theme, problems = read_theme(file)
    assert theme is None
    assert {problem.key for problem in problems} == {
        "primary",
        "error",
        "panel",
        "dakr",
        "variables.border",
        "variables.x",
    }
    assert all(problem.file == "mine.toml" and problem.why for problem in problems)


@pytest.mark.parametrize("text", ["not toml", "name = [", 'name = ""'])
def test_a_broken_file_is_a_problem_and_no_crash(tmp_path: Path, text: str) -> None:
    (tmp_path / "broken.toml").write_text(text, encoding="utf-8")
    themes, problems = load_themes(tmp_path)
    assert len(themes) == len(THEMES)
    assert problems


def test_bytes_that_are_no_text_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    assert [problem.file for problem in load_themes(tmp_path)[1]] == ["bytes.toml"]


def test_an_operators_theme_follows_the_rooms_own(tmp_path: Path) -> None:
    a_theme_file(tmp_path, '[variables]\nborder = "#fff 35%"\nbutton-focus-text-style = "bold"')
    themes, problems = load_themes(tmp_path)
    assert ("mine" in {theme.name for theme in themes}, problems) == (True, [])


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    a_theme_file(tmp_path, name=f'"{DEFAULT_THEME}"')
    assert [problem.key for problem in load_themes(tmp_path)[1]] == ["name"]


def test_a_missing_folder_is_no_problem(tmp_path: Path) -> None:
    assert load_themes(tmp_path / "none")[1] == []


def test_a_problem_reads_as_a_line() -> None:
    assert str(ThemeProblem("a.toml", "primary", "#zz", "is no colour")) == "a.toml: primary = '#zz': is no colour"


def test_the_terminals_own_colours_are_refused_without_colour() -> None:
    ansi = next(theme for theme in BUILTIN_THEMES.values() if theme.ansi)
    assert (usable(ansi, no_color=True), usable(ansi, no_color=False)) == (False, True)
    assert [theme.name for theme in THEMES.values() if not usable(theme, no_color=True)] == ["terminal"]


def test_the_terminals_own_colours_need_a_theme_that_says_so(tmp_path: Path) -> None:
    a_theme_file(tmp_path, primary='"ansi_blue"')
    assert "ansi = true" in str(load_themes(tmp_path)[1][0])
    a_theme_file(tmp_path, primary='"ansi_blue"', ansi="true")
    assert load_themes(tmp_path)[1] == []
    a_theme_file(tmp_path, ansi='"yes"')
    assert [problem.key for problem in load_themes(tmp_path)[1]] == ["ansi"]


@pytest.mark.parametrize(
    "name", ["\\u001b]52;c;eA==\\u0007", "[@click=app.quit]x[/]", "a\\u202eb", "\\u200b", "x" * 61, "../up", "日本"]
)
def test_a_name_that_could_act_is_refused_and_drawn(tmp_path: Path, name: str) -> None:
    a_theme_file(tmp_path, name=f'"{name}"')
    themes, problems = load_themes(tmp_path)
    assert len(themes) == len(THEMES)
    assert [problem.key for problem in problems] == ["name"]
    assert str(problems[0]).isprintable()


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text("#" * 100_000)
    assert "longer than" in str(load_themes(tmp_path)[1][0])
