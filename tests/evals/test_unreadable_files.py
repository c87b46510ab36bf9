"""Files of scenarios that would never end, or are far too long, are refused instead of read."""

import os
from pathlib import Path

import pytest

from core.domain.errors import Invalid
from core.evals.places import TOML_MAX, read_toml
from core.evals.scenario import read_scenarios


def test_a_pipe_among_scenarios_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.toml")
    with pytest.raises(Invalid, match=r"x\.toml is no regular file"):
        read_scenarios(tmp_path)


def test_a_device_is_no_file_also_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "x.toml").symlink_to("/dev/zero")
    with pytest.raises(Invalid, match="no regular file"):
        read_toml(tmp_path / "x.toml")


def test_a_file_that_is_far_too_long_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "x.toml", "wb") as file:
        file.truncate(TOML_MAX + 1)
    with pytest.raises(Invalid, match="longer than"):
        read_toml(tmp_path / "x.toml")


def test_a_folder_with_the_name_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").mkdir()
    with pytest.raises(Invalid, match=r"no regular file|cannot be read"):
        read_toml(tmp_path / "x.toml")
