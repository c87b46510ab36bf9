"""Work trees in real repositories: made, taken up again, read, and every case in which none can be made."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.entities import WorkTree
from core.domain.errors import Conflict, Invalid
from core.worktrees import git as git_runner
from core.worktrees.changes import FILES_MAX, read_changes, standing_of
from core.worktrees.removing import require_removable
from core.worktrees.trees import open_tree, plan_tree, repository_at, written_by_commits
from tests.repositories import a_repository, committed, git, written


def planned(company: Path, text: str = "../site", task: int = 12, number: int = 1) -> WorkTree:
    """The tree that a task would get, as the board would keep it."""
    found = repository_at(company, text)
    plan = plan_tree(company, found, task, "Mend the page", number)
    return WorkTree(
        id=1, task_id=task, number=plan.number, agent_id=1, repository=str(found.folder), path=plan.path,
        branch=plan.branch, begins_from=found.begins_from, base=found.base, closed_at=None, created_at=0, version=1,
    )  # fmt: skip


@pytest.fixture
def company(tmp_path: Path) -> Path:
    (tmp_path / "company").mkdir()
    a_repository(tmp_path / "site")
    return tmp_path / "company"


def made(company: Path, text: str = "../site") -> tuple[WorkTree, Path]:
    tree = planned(company, text)
    assert open_tree(company, tree) == []
    return tree, company / tree.path


def test_a_tree_begins_at_the_head_on_a_branch_of_its_own(company: Path) -> None:
    tree, folder = made(company)
    assert (folder / "src/page.html").read_text() == "<p>Hello</p>\n<p>World</p>\n"
    assert git(folder, "symbolic-ref", "--short", "HEAD") == "opsroom/T12"
    assert tree.path == "work/trees/T12-mend-the-page"
    assert git(company.parent / "site", "status", "--porcelain") == ""


def test_a_later_run_finds_what_the_first_one_left(company: Path) -> None:
    tree, folder = made(company)
    written(folder, {"src/page.html": "<p>Begun</p>\n"})
    assert open_tree(company, tree) == []
    assert (folder / "src/page.html").read_text() == "<p>Begun</p>\n"
    git(folder, "switch", "-q", "-c", "elsewhere")
    assert open_tree(company, tree) == ["the tree stands on elsewhere, not on opsroom/T12"]


def test_a_named_base_a_bare_repository_and_one_inside_the_company_will_do(company: Path) -> None:
    site = company.parent / "site"
    git(site, "switch", "-q", "-c", "develop")
    late = committed(site, {"new.txt": "n\n"})
    git(site, "switch", "-q", "main")
    _, folder = made(company, "../site#develop")
    assert git(folder, "rev-parse", "HEAD") == late
    git(company, "clone", "-q", "--bare", str(site), "mirror.git")
    _, folder = made(company, "mirror.git")
    assert (folder / "README.md").exists()
    assert folder.name == "T12-2-mend-the-page"  # the folder of the first is taken
    assert (company / "work/trees/.gitignore").read_text() == "*\n"


def test_a_branch_that_is_there_already_is_left_alone(company: Path) -> None:
    git(company.parent / "site", "branch", "opsroom/T12")
    tree = planned(company)
    assert (tree.number, tree.branch) == (2, "opsroom/T12-2")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("../nowhere", "is not there"),
        ("../plain", "is no git repository"),
        ("../site/src", "is no repository itself: it lies within"),
        ("../site/.git", "is no repository itself"),
        ("../empty", "has no commit yet"),
        ("../site#develop", "has no branch, tag or commit 'develop'"),
        ("../site/README.md", "is not there"),
    ],
)
def test_what_is_no_repository_is_told_apart(company: Path, text: str, why: str) -> None:
    (company.parent / "plain").mkdir()
    (company.parent / "empty").mkdir()
    git(company.parent / "empty", "init", "-q")
    with pytest.raises(Invalid, match=why):
        repository_at(company, text)


def test_a_link_to_a_repository_is_that_repository(company: Path) -> None:
    (company / "link").symlink_to(company.parent / "site")
    assert repository_at(company, "link").folder == (company.parent / "site").resolve()


def test_uncommitted_changes_of_the_repository_stay_there_and_are_told(company: Path) -> None:
    written(company.parent / "site", {"README.md": "# Half done\n"})
    tree = planned(company)
    (told,) = open_tree(company, tree)
    assert "not committed are not in the tree" in told
    assert (company / tree.path / "README.md").read_text() == "# Site\n"


def test_a_tree_removed_by_hand_is_made_anew_from_its_branch(company: Path) -> None:
    tree, folder = made(company)
    committed(folder, {"kept.txt": "k\n"})
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    (told,) = open_tree(company, tree)
    assert "made anew from opsroom/T12" in told
    assert (folder / "kept.txt").exists()


def test_a_locked_tree_that_is_gone_is_left_to_the_person_who_locked_it(company: Path) -> None:
    tree, folder = made(company)
    git(folder, "worktree", "lock", "--reason", "on the stick", str(folder))
    folder.rename(company / "stick")
    with pytest.raises(Conflict, match=r"locked \(on the stick\)"):
        open_tree(company, tree)
    (company / "stick").rename(folder)
    assert open_tree(company, tree) == []


def test_what_is_in_the_place_of_a_tree_is_kept(company: Path) -> None:
    tree = planned(company)
    written(company / tree.path, {"mine.txt": "m\n"})
    with pytest.raises(Conflict, match="is no work tree"):
        open_tree(company, tree)
    assert (company / tree.path / "mine.txt").exists()


def test_nothing_is_made_behind_a_link(company: Path, tmp_path: Path) -> None:
    tree = planned(company)
    (tmp_path / "elsewhere").mkdir()
    (company / "work").mkdir()
    (company / "work/trees").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Conflict, match="symbolic link"):
        open_tree(company, tree)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_repository_or_branch_that_vanished_is_told(company: Path) -> None:
    tree, folder = made(company)
    gone = replace(tree, repository=str(company.parent / "gone"))
    with pytest.raises(Invalid, match="not there any more"):
        open_tree(company, gone)
    git(folder, "switch", "-q", "--detach")
    git(company.parent / "site", "switch", "-q", "opsroom/T12")
    folder.rename(company / "moved")
    with pytest.raises(Conflict, match="opsroom/T12 is checked out in"):
        open_tree(company, tree)


def test_no_hook_of_the_repository_runs(company: Path) -> None:
    hook = company.parent / "site/.git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {company}/ran\n")
    hook.chmod(0o755)
    made(company)
    assert not (company / "ran").exists()


def test_settings_that_somebody_puts_into_the_tree_are_not_read(company: Path) -> None:
    tree, folder = made(company)
    (folder / ".git").unlink()
    git(folder, "init", "-q")
    trap = company / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {company}/ran\n")
    trap.chmod(0o755)
    git(folder, "config", "core.fsmonitor", str(trap))
    git(folder, "config", "diff.external", str(trap))
    git(folder, "config", "filter.f.clean", str(trap))
    written(folder, {".gitattributes": "* filter=f\n", "README.md": "# Other\n"})
    assert {file.path for file in read_changes(company, tree).files} >= {"README.md", ".gitattributes"}
    assert not (company / "ran").exists()


def test_settings_that_somebody_has_what_git_keeps_of_the_tree_point_to_are_not_read(company: Path) -> None:
    tree, folder = made(company)
    (admin,) = (company.parent / "site/.git/worktrees").iterdir()
    trap = company / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {company}/ran\n")
    trap.chmod(0o755)
    other = a_repository(company / "other")
    git(other, "config", "filter.f.clean", str(trap))
    (admin / "commondir").write_text(f"{other}/.git\n")
    written(folder, {".gitattributes": "* filter=f\n", "README.md": "# Other\n"})
    assert not read_changes(company, tree).is_there
    with pytest.raises(Conflict, match="no work tree of"):
        open_tree(company, tree)
    with pytest.raises(Conflict, match="is not there"):
        require_removable(company, tree, ())
    assert not (company / "ran").exists()


def test_the_folders_of_a_commit_are_those_of_the_tree_and_hold_no_hooks_nor_settings(company: Path) -> None:
    tree, _ = made(company)
    site = company.parent / "site"
    git(site, "pack-refs", "--all")
    folders = written_by_commits(company, tree)
    common = (site / ".git").resolve()
    (admin,) = (common / "worktrees").iterdir()
    assert folders == (admin, common / "objects", common / "refs/heads/opsroom", common / "logs/refs/heads/opsroom")
    assert all(each.is_dir() for each in folders)
    git(site, "config", "extensions.worktreeConfig", "true")
    assert written_by_commits(company, tree) == ()


def test_committed_uncommitted_new_and_binary_files_are_told_apart(company: Path) -> None:
    tree, folder = made(company)
    committed(folder, {"src/page.html": "<p>Hello</p>\n<p>There</p>\n<p>!</p>\n"}, "Say there")
    written(folder, {"notes [x].txt": "one\ntwo\n"})
    (folder / "logo.png").write_bytes(b"\x89PNG\0\0")
    (folder / "README.md").unlink()
    before = git(folder, "status", "--porcelain")
    found = read_changes(company, tree)
    assert git(folder, "status", "--porcelain") == before
    told = {file.path: (file.added, file.removed, file.is_committed) for file in found.files}
    assert told == {
        "src/page.html": (2, 1, True), "notes [x].txt": (2, 0, False), "logo.png": (None, None, False),
        "README.md": (0, 1, False),
    }  # fmt: skip
    assert (found.added, found.removed, found.commits_total) == (4, 2, 1)
    assert found.commits[0].endswith(" Say there")
    assert "+<p>There</p>" in found.diff
    assert "Binary files" in found.diff
    cut = read_changes(company, tree, most=100)
    assert cut.is_cut
    assert len(cut.diff) == 100


def test_of_however_many_files_each_is_counted_and_told_right(company: Path) -> None:
    tree, folder = made(company)
    written(folder, {f"a/{number:04d}{'n' * 240}": "x\n" for number in range(1100)})
    written(folder, {"README.md": "# Other\n"})
    found = read_changes(company, tree)
    assert (found.files_total, len(found.files)) == (1101, FILES_MAX)
    assert not any(file.is_committed for file in found.files)
    git(folder, "add", "a")
    git(folder, "commit", "-q", "-m", "Many")
    assert [file.path for file in read_changes(company, tree).files if not file.is_committed] == ["README.md"]


def test_of_a_branch_alone_what_was_committed_is_known(company: Path) -> None:
    tree, folder = made(company)
    committed(folder, {"new.txt": "n\n"})
    folder.rename(company / "moved")
    found = read_changes(company, tree)
    assert not found.is_there
    assert [file.path for file in found.files] == ["new.txt"]
    git(company.parent / "site", "worktree", "prune")
    git(company.parent / "site", "branch", "-q", "-D", "opsroom/T12")
    with pytest.raises(Conflict, match="Neither"):
        read_changes(company, tree)


def test_how_a_tree_stands(company: Path) -> None:
    tree, folder = made(company)
    committed(folder, {"new.txt": "n\n"})
    written(folder, {"loose.txt": "l\n"})
    committed(company.parent / "site", {"later.txt": "x\n"})
    found = standing_of(company, tree)
    assert (found.is_there, found.ahead, found.behind, found.uncommitted) == (True, 1, 1, 1)
    assert found.size > 40


def test_a_git_that_hangs_or_is_missing_is_told(company: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    with pytest.raises(git_runner.GitFailed, match=r"git status took longer than 0\.1 s"):
        git_runner.ask(company, "status", within_s=0.1)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(git_runner.GitFailed, match="git is not found"):
        repository_at(company, "../site")
