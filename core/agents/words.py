"""What the program itself says to a model in the middle of a run, in the company's language."""

from collections.abc import Mapping

_EN: Mapping[str, str] = {
    "owes": "Your words alone change nothing on the board. Call one of: {commands}.",
    "owes_or_silent": (
        "Your words alone change nothing on the board. Call one of: {commands}. If there is nothing for you to do,"
        " answer exactly NO_REPLY."
    ),
    "cut": "Your answer was cut off at {bound} tokens. Go on in fewer words, and with calls.",
    "empty": "Your answer was empty.",
    "shortened": (
        "(What is known beyond this was left out, since this model's window is small. Look up what you lack.)"
    ),
    "operator_refused": "The operator refused some of what you asked, and says why:\n{text}",
    "remark": "The operator says to you, in the middle of this run:\n{text}",
    "result_cut": "… (cut; ask for less, or for the rest)",
}
_ZH: Mapping[str, str] = {
    "owes": "只说话不会改变看板上的任何内容。请调用其中之一：{commands}。",
    "owes_or_silent": (
        "只说话不会改变看板上的任何内容。请调用其中之一：{commands}。如果没有要做的事，请只回答 NO_REPLY。"
    ),
    "cut": "你的回答在 {bound} 个 token 处被截断。请用更少的文字继续，并使用调用。",
    "empty": "你的回答是空的。",
    "shortened": "（由于该模型的窗口较小，其余已知内容已省略。缺少什么请自行查询。）",
    "operator_refused": "操作员拒绝了你的一些请求，理由如下：\n{text}",
    "remark": "操作员在本次运行中对你说：\n{text}",
    "result_cut": "…（已截断；请少要一些，或要其余部分）",
}
_BY_LOCALE: Mapping[str, Mapping[str, str]] = {"en": _EN, "zh": _ZH}


def words(locale: str, name: str, **values: object) -> str:
    """The words of this name; English where the language is not known."""
    return _BY_LOCALE.get(locale, _EN)[name].format(**values)
