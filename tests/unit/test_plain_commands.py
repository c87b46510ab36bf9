"""Over which plain commands a yes for the run stretches: a short list, whose arguments can do nothing else (S4-08)."""

from pathlib import Path

import pytest

from core.domain.plain_commands import KNOWN, words_of

COVERED = [
    ("pytest", "pytest"),
    ("  pytest  -q ", "pytest"),
    ("pytest -qx tests/unit/test_a.py::test_b -k 'a and not b' --tb=short -n4 -n auto -rA", "pytest"),
    ("python -m pytest -q", "python -m pytest"),
    ("ruff check . --select E,F", "ruff check"),
    ("ruff format --check src", "ruff format --check"),
    ("mypy --strict core", "mypy"),
    ("eslint --ext .js,.ts src --max-warnings 0", "eslint"),
    ("tsc --noEmit --strict", "tsc --noEmit"),
    ("npm test", "npm test"),
    ("npm test -s -- links tests/a.js", "npm test"),
    ("cargo test -p site --release links -- --nocapture", "cargo test"),
    ("cargo check --all-targets", "cargo check"),
    ("go test ./... -run=TestA -count 1 -v", "go test"),
    ("go vet ./...", "go vet"),
    ("make test", "make test"),
    ("make lint -k -j4", "make lint"),
    ("git status -s", "git status"),
    ("git diff --stat main..work src", "git diff"),
    ("git log --oneline -5 HEAD~3", "git log"),
    ("git show HEAD:src/a.py", "git show"),
]
ALONE = [
    # not on the list: they run, write, delete, connect, or read anything
    "", " ", "ls", "cat a", "cat /etc/passwd", "head a", "rg --pre id x", "fd -x rm", "grep x a", "man x", "less x",
    "nodejs -e 1", "ipython -c 1", "tsx x.ts", "java -jar x", "ed x", "nano /etc/x", "ionice id", "chroot / id",
    "bundle exec id", "pipx run x", "tox", "nix-shell --run x", "psql -c x", "sqlite3 x", "aws s3 rm x", "crontab x",
    "kill 1", "install a b", "touch x", "mkfs /dev/x", "rm build", "curl http://a", "bash -c ls", "env pytest",
    "sudo pytest", "timeout 5 pytest", "find . -delete", "python x.py", "python -m http.server", "npx x", "node x",
    # other acts of programs that are on it
    "npm run-script x", "npm run build", "npm install x", "npm exec x", "cargo r", "cargo run", "cargo install x",
    "cargo +nightly test", "docker compose exec a b", "gh api x", "git", "git push", "git clean -fdx", "git add .",
    "git submodule foreach id", "git rebase -x id", "git grep --open-files-in-pager=id x", "git config alias.x '!sh'",
    "git -C /elsewhere status", "git -c core.pager=x log", "kubectl delete x", "terraform destroy", "go run .", "make",
    "make -f x test", "ruff format .", "black .", "tsc", "prettier --write .",
    # options that run, write or load something else
    "pytest -p evil", "pytest -vp evil", "pytest -c x.ini", "pytest -o addopts=x", "pytest --basetemp=x",
    "pytest --junitxml=src/a.py", "pytest --pdbcls=a:b", "pytest --pyargs x", "pytest -k", "pytest -k --basetemp=x",
    "ruff check --fix", "ruff check --config x", "mypy --python-executable x", "mypy --install-types", "mypy @x",
    "eslint --rulesdir x", "eslint -f ./x.js", "eslint --fix .", "eslint -o a.js .",
    "tsc --noEmit false", "tsc --noEmit --outDir x", "tsc --noEmit --noEmit false", "tsc --noEmit --strict false",
    "npm test --script-shell=x", "npm test x", "npm test -- --config=x", "npm test --prefix x",
    "cargo test --config x", "cargo test --target-dir x", "cargo test -- --logfile x", "cargo clippy --fix",
    "go test -exec id ./...", "go test --exec id", "go build -toolexec id", "go vet -vettool=x", "go build -o x",
    "go test -pkgdir x", "go test github.com/a/b", "go test ./x -args -y", "go test -coverprofile=x",
    "make test SHELL=x", "make test deploy", "make test -f x", "make test -j deploy", "make test -j -fx",
    "make test --eval=x", "make test -C x", "make test -e",
    "git log --output=x", "git diff --ext-diff", "git diff --no-index a b", "git log --output x", "git status --x",
    # places beyond the folder
    "pytest /tmp/x.py", "pytest ../x", "pytest a/../../x", "pytest ~/x", "pytest --tb=/x", "git diff a:/x",
    "git show HEAD:../x", "go test ./../x", "eslint http://a/x", "npm test -- /x",
    # signs of a shell, settings, and programs by a path
    "pytest; rm x", "pytest && rm x", "pytest | sh", "pytest > x", "pytest $(rm x)", "pytest `rm x`", "pytest *",
    "pytest\nrm x", "pytest \\\n x", "pytest \u202ex", "pytest 'x", "pytest #x", "pytest x!y", "pytest {a,b}",
    "A=1 pytest", "./pytest", "/usr/bin/pytest", ".venv/bin/pytest", "Pytest",
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), COVERED)
def test_a_plain_command_of_the_list_is_known_again_by_its_words(text: str, words: str) -> None:
    assert " ".join(words_of(text)) == words


@pytest.mark.parametrize("text", ALONE)
def test_whatever_could_do_something_else_is_covered_by_the_same_again_alone(text: str) -> None:
    assert words_of(text) == ()


def test_no_entry_hides_another_and_none_lets_a_place_be_an_option() -> None:
    begins = [known.words for known in KNOWN]
    assert len(set(begins)) == len(begins)
    for known in KNOWN:
        assert all(option.startswith("-") for option in known.flags | known.valued | (known.after or frozenset()))


def test_the_documentation_names_every_command_of_the_list() -> None:
    text = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    told = text.partition("**For this run** covers")[2].partition("What these programs find")[0].replace("`", " ")
    for known in KNOWN:
        for word in known.words:
            assert word.removesuffix("3") in told or word == "-m", known.words
