"""What is about risk control or live trading is of high risk, whatever was said (S3-16)."""

import pytest

from core.domain.risk import raised
from core.domain.states import Risk


@pytest.mark.parametrize(
    "text",
    [
        "Rewrite the risk control module",
        "RISK-CONTROL: raise the limit",
        "check the risk limits before the order",
        "Switch the bot to live trading",
        "place live orders at noon",
        "a stop-loss of 2 %",
        "real money accounts",
        "调整风控参数",
        "接入实盘",
        "修改止损线",
    ],
)
def test_risk_control_and_live_trading_are_high(text: str) -> None:
    assert raised(Risk.LOW, ("A title", text)) == Risk.HIGH


@pytest.mark.parametrize("tag", ["risk-control", "Live_Trading", " real-money ", "风控"])
def test_a_tag_raises_as_well(tag: str) -> None:
    assert raised(Risk.STANDARD, ("Tidy up",), (tag,)) == Risk.HIGH


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Count the files",
        "The risk of rain; control the valves",
        "A live demo of trading cards",
        "asterisk controls",
        "deliver orders of paper",
        "stop the loss of data",
        "风景照片",
    ],
)
@pytest.mark.parametrize("risk", list(Risk))
def test_other_work_keeps_the_risk_that_was_named(text: str, risk: Risk) -> None:
    assert raised(risk, (text,), ("live-demo", "docs")) == risk
