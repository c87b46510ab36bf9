"""Small real git repositories for tests, made without anybody's settings."""

import os
import subprocess
from pathlib import Path

FILES = {"README.md": "# Site\n", "src/page.html": "<p>Hello</p>\n<p>World</p>\n"}
_ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_AUTHOR_DATE": "2026-01-01T12:00:00Z",
    "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org", "GIT_COMMITTER_DATE": "2026-01-01T12:00:00Z",
}  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    """What git answers there; it has to succeed."""
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments], cwd=folder,
        env=_ENVIRONMENT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def written(folder: Path, files: dict[str, str]) -> None:
    """Files with these texts below the folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def committed(folder: Path, files: dict[str, str], message: str = "Change it") -> str:
    """A commit with these files; answers its name."""
    written(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def a_repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    """A repository on `main` with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    committed(folder, FILES if files is None else files, "Begin")
    return folder
