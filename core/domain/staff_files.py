"""The files of an agent, made from what was approved: who it is, what it is for, and room for what it learns. Pure."""

from collections.abc import Mapping
from typing import Any

from core.domain.plain_markdown import line, paragraphs

SOUL, IDENTITY, MEMORY = FILES = ("SOUL.md", "IDENTITY.md", "MEMORY.md")
_LINE = 200
_TEXT = 4_000

_WORDS = {
    "en": {
        "soul": "Why {name} is here", "none": "The operator hired it directly.", "role": "Role", "name": "Name",
        "slug": "Short name", "can": "Capabilities", "manager": "Reports to", "runner": "Runner",
        "runs": "Runs at once",
        "budget": "Budget a day", "own": "the company's", "nobody": "nobody", "nothing": "none named",
        "memory": "What {name} remembers", "empty": "Nothing yet. What is written here stays.",
    },
    "zh": {
        "soul": "{name} 为何在此", "none": "由操作者直接聘用。", "role": "角色", "name": "姓名",
        "slug": "短名", "can": "能力", "manager": "汇报对象", "runner": "运行器", "runs": "同时运行数",
        "budget": "每日预算", "own": "与公司共用", "nobody": "无", "nothing": "未注明",
        "memory": "{name} 的记忆", "empty": "暂无。写在这里的内容会保留。",
    },
}  # fmt: skip


def staff_files(hire: Mapping[str, Any], locale: str, why: str = "", manager: str | None = None) -> dict[str, str]:
    """{file name: Markdown} of a hired agent. `hire` holds the fields of its row as it was hired."""
    words = _WORDS.get(locale, _WORDS["en"])
    name = line(str(hire["name"]), _LINE)
    runner = hire.get("runner")
    budget = int(hire.get("budget_micros") or 0)
    facts = [
        (words["name"], name),
        (words["slug"], line(str(hire["slug"]), _LINE)),
        (words["role"], line(str(hire["role"]), _LINE)),
        (words["can"], line(", ".join(hire.get("capabilities") or ()), _TEXT) or words["nothing"]),
        (words["manager"], line(manager or "", _LINE) or words["nobody"]),
        (words["runner"], line(str(runner.get("kind", "")) if isinstance(runner, Mapping) else "", _LINE)),
        (words["runs"], str(hire.get("max_runs", 1))),
        (words["budget"], f"${budget / 1_000_000:.2f}" if budget else words["own"]),
    ]
    return {
        SOUL: f"# {words['soul'].format(name=name)}\n\n{paragraphs(why, _TEXT) or words['none']}\n",
        IDENTITY: f"# {name}\n\n" + "".join(f"- {what}: {value}\n" for what, value in facts),
        MEMORY: f"# {words['memory'].format(name=name)}\n\n{words['empty']}\n",
    }
