"""What an answer cost, in micro-dollars: by the prices that a package carries, or by the operator's own table."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal

from core.agents.models.conversation import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens (which is micro-dollars for one). Cache prices default to that of input."""

    tokens_in: Decimal
    tokens_out: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None

    def cost(self, usage: Usage) -> Decimal:
        """Micro-dollars."""
        read, write = (self.tokens_in if p is None else p for p in (self.cache_read, self.cache_write))
        plain = max(0, usage.tokens_in - usage.cache_read - usage.cache_write)
        parts = plain * self.tokens_in, usage.cache_read * read, usage.cache_write * write
        return sum(parts, usage.tokens_out * self.tokens_out)


def cost_micros(
    usage: Usage | None, model: str, url: str, at: int, table: Mapping[str, Price] | None = None
) -> int | None:
    """Micro-dollars, rounded up; None is unknown and never shown as 0.

    The provider is known by its `url`, so a local server that serves a model of a known name is not known. For what is
    not known the operator's `table` (by model) is asked; only it can say that a local server costs 0. `at` (ms UTC) is
    when the request was made. Blocks for up to two seconds the first time (it loads the prices; no network, ever).
    """
    if usage is None:
        return None
    known = _known(usage, model, url, at)
    if known is None and table is not None and model in table:
        known = table[model].cost(usage)
    return None if known is None else int(known.to_integral_value(ROUND_CEILING))


def _known(usage: Usage, model: str, url: str, at: int) -> Decimal | None:
    # Only the data that the package carries is used: its updater, the one part with network, is never started.
    import genai_prices

    counted = genai_prices.Usage(
        input_tokens=usage.tokens_in,
        output_tokens=usage.tokens_out,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    when = datetime.fromtimestamp(at / 1000, UTC)
    try:
        told = genai_prices.calc_price(counted, model, provider_api_url=url, genai_request_timestamp=when)
    except (LookupError, ValueError):
        return None
    prices = vars(told.model_price)
    if prices.get("input_mtok") is None or prices.get("output_mtok") is None:
        return None  # without both the package would count 0
    return told.total_price * 1_000_000
