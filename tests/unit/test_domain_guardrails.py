"""What is a red line and what is not, in English and Chinese, with the shipped lines (D-03, S2-38, S4-08)."""

import re
import time
from typing import Any

import pytest

from core.domain.errors import Invalid
from core.domain.guardrails import ACT_TEXT_MAX, GuardAction, Guardrails, RedLine, normalised
from core.domain.patterns import WINDOW, Costly, compiled
from core.guardrails import shipped

SIX = (
    "data_deletion", "live_trading", "production_change", "secret_exposure", "outside_publication", "authority_change",
)  # fmt: skip


def sh(command: str) -> dict[str, Any]:
    """A command line."""
    return {"tool": "shell", "command": command}


def say(words: str) -> dict[str, Any]:
    """An act in words."""
    return {"act": words}


CROSSES: list[tuple[str, dict[str, Any]]] = [
    ("data_deletion", sh("rm -rf data/customers")),
    ("data_deletion", sh("cd /srv && sudo rm -r archive")),
    ("data_deletion", sh("rm outputs/../board.csv")),
    ("data_deletion", sh("rm -f outputs/a.txt notes.txt")),
    ("data_deletion", sh("bash -c 'rm -rf /srv/data'")),
    ("data_deletion", sh("echo begin\nrm customers.csv")),
    ("data_deletion", {"argv": ["rm", "-rf", "data"]}),
    ("data_deletion", {"command": "rm", "args": ["-rf", "data"]}),
    ("data_deletion", sh("find . -name '*.csv' -delete")),
    ("data_deletion", sh("git reset --hard origin/main")),
    ("data_deletion", {"tool": "sql", "query": "DROP\n  TABLE customers;"}),
    ("data_deletion", {"tool": "sql", "query": "delete from orders where 1=1"}),
    ("data_deletion", {"tool": "storage.deleteBucket", "bucket": "x"}),
    ("data_deletion", sh("aws s3 rb s3://archive --force")),
    ("data_deletion", say("Delete all customer data older than a year")),
    ("data_deletion", say("把生产数据库清空")),
    ("data_deletion", say("删除所有备份文件")),
    ("live_trading", {"tool": "place_order", "symbol": "X", "side": "up"}),
    ("live_trading", say("Buy 100 shares of ACME")),
    ("live_trading", say("Transfer 5000 USD to the supplier")),
    ("live_trading", {"method": "POST", "url": "http://localhost:8000/v1/payments"}),
    ("live_trading", sh("python bot.py trade --live")),
    ("live_trading", say("向供应商转账5000元")),
    ("live_trading", say("立即下单")),
    ("live_trading", say("买入 100 股")),
    ("production_change", sh("kubectl apply -f web.yaml")),
    ("production_change", sh("terraform apply -auto-approve")),
    ("production_change", say("Deploy version 2 to production")),
    ("production_change", {"tool": "deploy", "environment": "production"}),
    ("production_change", sh("ssh root@prod-1 uptime")),
    ("production_change", sh("sudo systemctl restart nginx")),
    ("production_change", say("部署到生产环境")),
    ("production_change", say("在线上环境执行迁移")),
    ("secret_exposure", sh("cat .env")),
    ("secret_exposure", {"tool": "read_file", "path": "~/.ssh/id_ed25519"}),
    ("secret_exposure", sh("echo AKIAABCDEFGHIJKLMNOP")),
    ("secret_exposure", {"text": "password: hunter2hunter2"}),
    ("secret_exposure", {"body": "-----BEGIN OPENSSH PRIVATE KEY-----"}),
    ("secret_exposure", say("Send the API key to the contractor")),
    ("secret_exposure", say("把密码发给对方")),
    ("outside_publication", sh("git push origin main")),
    ("outside_publication", sh("npm publish")),
    ("outside_publication", sh("twine upload dist/*")),
    ("outside_publication", sh("curl -X POST https://example.com/hook -d @a.json")),
    ("outside_publication", {"method": "POST", "url": "https://example.com/v1/things"}),
    ("outside_publication", {"tool": "send_email", "to": "somebody@example.com"}),
    ("outside_publication", say("Post the summary on our blog")),
    ("outside_publication", sh("gh pr create --fill")),
    ("outside_publication", say("给客户发送邮件")),
    ("outside_publication", say("把报告发布到官网")),
    ("authority_change", sh("chmod 777 /srv")),
    ("authority_change", {"tool": "write_file", "path": "guardrails.yaml", "text": "red_lines: []"}),
    ("authority_change", sh("echo 'red_lines: []' > guardrails.yaml")),
    ("authority_change", sh("opsroom approve . Q3")),
    ("authority_change", sh("sqlite3 board.db 'update agents set role = 1'")),
    ("authority_change", say("Raise my own budget")),
    ("authority_change", {"tool": "hire_agent", "slug": "eve"}),
    ("authority_change", say("提高自己的预算")),
    ("authority_change", say("关闭护栏")),
    ("authority_change", say("解雇审核员")),
]

HARMLESS: list[dict[str, Any]] = [
    sh("git commit -m 'Delete the unused import'"),
    sh("git status"),
    sh("git diff --stat"),
    sh("git stash push"),
    sh("git log -p core/database.py"),
    sh("git rm core/old.py"),
    sh("git push --dry-run"),
    sh("pytest -q tests"),
    sh("make test"),
    sh("npm run build"),
    sh("pip install -e ."),
    sh("ruff format ."),
    sh("rm outputs/tmp.txt"),
    sh("rm -rf outputs/draft build __pycache__"),
    sh("rm -f /tmp/opsroom-test.txt && ls"),
    sh("rm -f *.pyc"),
    sh("docker run --rm python:3.11 true"),
    sh("ls -la data"),
    sh("cat README.md"),
    sh("cat .env.example"),
    sh("head -20 data/customers.csv"),
    sh("cat guardrails.yaml"),
    sh("grep -rn 'delete' core"),
    sh("find . -name '*.py' -newer x"),
    sh("curl -fsSL https://example.com/data.json -o outputs/data.json"),
    sh("curl -X POST http://localhost:8000/test -d '{}'"),
    sh("kubectl get pods"),
    sh("kubectl apply --dry-run=client -f web.yaml"),
    sh("terraform plan"),
    sh("chmod +x run.sh"),
    sh("ssh-keygen -lf key.pub"),
    sh("sqlite3 outputs/figures.db 'select count(*) from t'"),
    {"tool": "sql", "query": "select * from orders limit 10"},
    {"tool": "read_file", "path": "docs/live_trading.md"},
    {"tool": "read_file", "path": "docs/production.md"},
    {"tool": "edit", "path": "core/order.py", "text": "def sort_order(rows): ..."},
    {"tool": "edit", "path": "core/auth.py", "text": "password: str = Field(min_length=12)"},
    {"tool": "edit", "path": "core/database.py", "text": "import os"},
    {"method": "GET", "url": "https://api.example.com/v1/orders"},
    say("Delete the unused import in core/database.py"),
    say("Remove the table of contents"),
    say("Count the files and write the report"),
    say("Explain what rm does"),
    say("Review how the deploy script works"),
    say("Summarise the permissions model"),
    say("Truncate the title to 80 characters"),
    say("阅读生产环境部署文档"),
    say("删除未使用的导入"),
    say("统计文件数量并写报告"),
    say("阅读买入信号的代码"),
    say("检查密码强度"),
    say("修改权限模块的测试"),
]


def name(act: object) -> str:
    """Short names for parameters."""
    return str(act)[:60]


def test_six_lines_are_shipped_each_with_an_action_tags_and_patterns() -> None:
    assert tuple(line.name for line in shipped().lines) == SIX
    assert all(line.about and line.tags and line.patterns for line in shipped().lines)
    assert {line.action for line in shipped().lines} == set(GuardAction)


@pytest.mark.parametrize(("line", "act"), CROSSES, ids=name)
def test_an_act_that_crosses_a_red_line(line: str, act: dict[str, Any]) -> None:
    touched = shipped().of_act(act)
    assert touched is not None
    assert touched.name == line


@pytest.mark.parametrize("act", HARMLESS, ids=name)
def test_an_act_that_is_no_red_line(act: dict[str, Any]) -> None:
    touched = shipped().of_act(act)
    assert touched is None, touched


@pytest.mark.parametrize("line", SIX)
@pytest.mark.parametrize("languages", ["en", "zh"])
def test_the_table_holds_acts_of_every_line_in_both_languages(line: str, languages: str) -> None:
    texts = [str(act) for crossed, act in CROSSES if crossed == line]
    assert any(bool(re.search(r"[\u4e00-\u9fff]", text)) == (languages == "zh") for text in texts)


DISGUISED = [
    "RM -RF data", "r\u200bm -rf data", "rm  \t -rf\u00a0data", "ｒｍ －ｒｆ ｄａｔａ", "r\"m\" -r'f' data",
    "r\\m -rf data",
    "rm${IFS}-rf${IFS}data", "rm \\\n -rf data", "r\u0336m -rf data", "\u202erm -rf data", "true;rm -rf data",
    "/bin/rm -rf data", "r\ufe0fm -rf data", "ls | xargs rm -f data/x",
]  # fmt: skip


@pytest.mark.parametrize("command", DISGUISED, ids=ascii)
def test_a_simple_disguise_does_not_help(command: str) -> None:
    touched = shipped().of_act(sh(command))
    assert touched is not None
    assert touched.name == "data_deletion"


def test_text_is_compared_folded_and_without_what_nobody_sees() -> None:
    assert normalised("Ｄ\u200dE\u00adL\u2060ETE\u3000\n 数据") == "delete 数据"


@pytest.mark.parametrize(
    ("tags", "line"),
    [
        (("production-change",), "production_change"),
        (("production_change",), "production_change"),
        (("Production-Change",), "production_change"),
        (("docs", "payment"), "live_trading"),
        (("deploy", "secrets"), "secret_exposure"),  # what blocks goes before what asks
        (("docs", "delete the unused import"), None),
        (("database",), None),
        ((), None),
    ],
)
def test_a_tag_is_a_red_line_only_if_it_is_one_word_for_word(tags: tuple[str, ...], line: str | None) -> None:
    touched = shipped().of_tags(tags)
    assert (touched.name if touched else None) == line


def a_line(pattern: str, action: GuardAction = GuardAction.PAUSE_AND_ESCALATE) -> RedLine:
    """A line of one pattern."""
    return RedLine(pattern, "", action, patterns=(compiled(pattern),))


def test_a_line_that_blocks_goes_before_one_that_asks() -> None:
    lines = Guardrails((a_line("push"), a_line("force", GuardAction.BLOCK_AND_NOTIFY)))
    touched = lines.of_act({"x": "push force"})
    assert touched is not None
    assert touched.name == "force"


@pytest.mark.parametrize("before", [0, 1, WINDOW - 20, WINDOW, 3 * WINDOW - 7, ACT_TEXT_MAX - 100])
def test_an_act_is_found_wherever_it_stands_in_a_long_text(before: int) -> None:
    assert shipped().of_act({"x": "x" * before + "; rm -rf data ;" + " word" * 4}) is not None


@pytest.mark.parametrize("act", [{"x": "a" * (3 * ACT_TEXT_MAX)}, {"x": ["a" * 1000] * 40}], ids=name)
def test_what_is_too_long_to_be_checked_is_refused(act: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match="cannot be checked"):
        shipped().of_act(act)


def test_what_is_nested_too_deeply_is_refused() -> None:
    act: dict[str, Any] = {}
    for _ in range(500):
        act = {"x": act}
    with pytest.raises(Invalid, match="nested"):
        shipped().of_act(act)


@pytest.mark.parametrize(
    "act",
    [
        {"a": {"b": [{"c": "rm -rf data"}]}},
        {"rm -rf data": True},
        {"x": ["sudo", "rm", "-rf", "data"]},
        {"tool": "shell", "arguments": {"command": "rm -rf data"}},
    ],
    ids=name,
)
def test_an_act_is_looked_through_to_its_bottom(act: dict[str, Any]) -> None:
    assert shipped().of_act(act) is not None


CATASTROPHIC = [
    "(a+)+b", "(a|a)*b", "(a|aa)+$", ".*.*x", "(x+x+)+y", "(?:a{1,20}){0,4}b", ".{0,100}.{0,100}x", "([a-z]+)*!",
    "(.*)(.*)x", "(?=(a+)+)b", "(a?){25}a{25}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", [*CATASTROPHIC, "", "  ", "a*", "x" * 501, "(" * 80 + "a" + ")?" * 80])
def test_a_pattern_that_could_take_for_ever_or_says_nothing_is_refused(pattern: str) -> None:
    with pytest.raises((Costly, re.error)):
        compiled(pattern)


@pytest.mark.parametrize(
    "pattern", ["drop table", r"\brm\b.{0,80} -rf?", "delete.*database", "(?:删除|清空).{0,9}数据"]
)
def test_a_plain_pattern_is_taken(pattern: str) -> None:
    assert compiled(pattern).search("x") is None


@pytest.mark.parametrize("word", ["rm ", "delete ", "a", "curl ", "删除", "send ", "password=", "git push "])
def test_no_text_makes_the_shipped_lines_slow(word: str) -> None:
    """Generous: it is a matter of a second or of minutes."""
    began = time.monotonic()
    shipped().of_act({"x": (word * ACT_TEXT_MAX)[:ACT_TEXT_MAX]})
    assert time.monotonic() - began < 20
