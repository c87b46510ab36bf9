"""What an answer cost, and that what is not known is never called 0."""

import subprocess
import sys
from decimal import Decimal

import pytest

from core.agents.models.conversation import Usage
from core.agents.models.prices import Price, cost_micros
from tests.models.world import START

OPENAI = "https://api.openai.com/v1"
LOCAL = "http://127.0.0.1:8080/v1"
USAGE = Usage(1000, 100, 500)


def test_a_known_model_at_its_provider() -> None:
    """2.50 and 10.00 dollars a million, 1.25 for what came from the cache."""
    assert cost_micros(USAGE, "gpt-4o", OPENAI, START) == 500 * 2.5 + 500 * 1.25 + 100 * 10


def test_what_goes_to_the_cache_costs_more() -> None:
    """3.00, 15.00, 0.30 read and 3.75 written."""
    told = cost_micros(Usage(1000, 100, 500, 100), "claude-sonnet-4-5", "https://api.anthropic.com", START)
    assert told == 400 * 3 + 500 * 0.3 + 100 * 3.75 + 100 * 15


@pytest.mark.parametrize(("model", "url"), [
    ("gpt-4o", LOCAL), ("gpt-4o", "https://elsewhere.example/v1"), ("of-tomorrow", OPENAI), ("", OPENAI),
])  # fmt: skip
def test_what_is_not_known_is_unknown(model: str, url: str) -> None:
    assert cost_micros(USAGE, model, url, START) is None
    assert cost_micros(USAGE, model, url, START, {"another": Price(Decimal(1), Decimal(1))}) is None


def test_without_usage_nothing_is_known() -> None:
    free = {"qwen": Price(Decimal(0), Decimal(0))}
    assert cost_micros(None, "qwen", LOCAL, START, free) is None


def test_a_local_server_is_free_when_the_operator_says_so() -> None:
    assert cost_micros(USAGE, "qwen", LOCAL, START, {"qwen": Price(Decimal(0), Decimal(0))}) == 0


def test_the_operators_own_prices() -> None:
    table = {"ours": Price(Decimal("0.5"), Decimal(2), cache_read=Decimal("0.1"))}
    assert cost_micros(Usage(1000, 100, 400, 100), "ours", LOCAL, START, table) == 300 + 40 + 200
    assert cost_micros(Usage(1, 0), "ours", LOCAL, START, table) == 1, "a part of a micro-dollar is not nothing"


def test_prices_are_known_without_network() -> None:
    """In a process where every socket fails, and the updater was never loaded to work."""
    program = (
        "import socket\n"
        "def refused(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused\n"
        "import threading\n"
        "from core.agents.models.conversation import Usage\n"
        "from core.agents.models.prices import cost_micros\n"
        f"print(cost_micros(Usage(1000), 'gpt-4o', {OPENAI!r}, {START}), threading.active_count())\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["2500", "1"]
