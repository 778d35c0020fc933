"""The list prices of models: US dollars for a million tokens, as the vendors published them.

Read on 2026-11-17. Each row names where its numbers were read and of which day that is; the page docs/cost.md says what
they leave out. A price that changed has a row for each time, from the day on which it changed. Names are those that
vendors list, without day and seller.
"""

from datetime import UTC, datetime

from delegtop.base.clock import SECOND, Millis
from delegtop.model.prices import ListPrice, Rates

READ_ON = "2026-11-17"

_CLAUDE = "platform.claude.com, its price page, a copy of September 2026; fast modes and long prompts: models.dev"
_CLAUDE_NEW = "platform.claude.com, model pages, as docs.rs/synaps 0.10.2 quotes them, 2026-10-10"
_MODELS_DEV = "models.dev, a copy read on 2026-11-17"
_OPENAI = "models.dev, from OpenAI's price page, a copy read on 2026-11-17"
_CUT = "docs.laozhang.ai, on OpenAI's price cuts, 2026-08-01 and 2026-09-24"
_GPT6 = "codexometer 0.18.4, on OpenAI's prices of 2026-09-22"
_LONG_GPT = 272_000
_LONG = 200_000


def _day(text: str) -> Millis:
    return Millis(int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND)


def _claude(into: float, out: float, read: float | None = None) -> Rates:
    """A write to the cache costs a quarter more than the input, twice as much if it is kept for an hour."""
    return Rates(into, out, into / 10 if read is None else read, into * 1.25, into * 2)


def _gpt(into: float, out: float, read: float, write: float | None = None) -> Rates:
    """Before GPT-5.6 a write to the cache cost what the input does."""
    kept = into if write is None else write
    return Rates(into, out, read, kept, kept)


def _long(into: float, out: float, read: float, write: float | None = None) -> tuple[tuple[int, Rates], ...]:
    """A GPT whose prompt is long costs twice the input and half as much again for the output."""
    return ((_LONG_GPT, _gpt(2 * into, 1.5 * out, 2 * read, None if write is None else 2 * write)),)


def _one(rates: Rates, source: str, **more: object) -> tuple[ListPrice, ...]:
    return (ListPrice(rates, source, **more),)  # type: ignore[arg-type]  # `over` and `fast`, as ListPrice has them


_OPUS_4_5 = _claude(5, 25)
_SONNET = _claude(3, 15)
_SONNET_LONG = ((_LONG, Rates(6, 22.5, 0.6, 7.5, 12)),)
_GEMINI_PRO = Rates(2, 12, 0.2, 2, 2)
_GEMINI_PRO_LONG = ((_LONG, Rates(4, 18, 0.4, 4, 4)),)
_GPT_5 = _gpt(1.25, 10, 0.125)
_GPT_5_2 = _gpt(1.75, 14, 0.175)
_GROK = Rates(2, 6, 0.5, 2, 2)
_GROK_LONG = ((_LONG, Rates(4, 12, 1, 4, 4)),)

PRICES: dict[str, tuple[ListPrice, ...]] = {
    # Claude
    "claude-fable-5-1": _one(_claude(10, 50, 0.25), _CLAUDE),
    "claude-fable-5": _one(_claude(10, 50), _CLAUDE),
    "claude-opus-5-5": _one(_claude(4, 20, 0.2), _CLAUDE_NEW, fast=_claude(8, 40, 0.4)),
    "claude-opus-5": _one(_OPUS_4_5, _CLAUDE, fast=_claude(10, 50)),
    "claude-opus-4-8": _one(_OPUS_4_5, _CLAUDE, fast=_claude(10, 50)),
    "claude-opus-4-7": _one(_OPUS_4_5, _CLAUDE),
    "claude-opus-4-6": _one(_OPUS_4_5, _CLAUDE, fast=_claude(30, 150)),
    "claude-opus-4-5": _one(_OPUS_4_5, _CLAUDE),
    "claude-opus-4-1": _one(_claude(15, 75), _CLAUDE),
    "claude-opus-4": _one(_claude(15, 75), _CLAUDE),
    "claude-opus-4-0": _one(_claude(15, 75), _CLAUDE),
    "claude-sonnet-5-5": (
        ListPrice(_claude(2, 10, 0.2), "platform.claude.com, its model page, 2026-09"),
        ListPrice(_claude(2, 10, 0.1), _CLAUDE_NEW, _day("2026-10-07")),
    ),
    "claude-sonnet-5": _one(_claude(2, 10), "platform.claude.com, its model page, 2026-09"),
    "claude-sonnet-4-6": _one(_SONNET, _CLAUDE),
    "claude-sonnet-4-5": _one(_SONNET, _CLAUDE, over=_SONNET_LONG),
    "claude-sonnet-4": _one(_SONNET, _CLAUDE, over=_SONNET_LONG),
    "claude-sonnet-4-0": _one(_SONNET, _CLAUDE, over=_SONNET_LONG),
    "claude-3-7-sonnet": _one(_SONNET, _MODELS_DEV),
    "claude-3-5-sonnet": _one(_SONNET, _MODELS_DEV),
    "claude-haiku-5-5": _one(_claude(0.1, 0.5), _CLAUDE_NEW, over=((100_000, _claude(0.5, 2.5)),)),
    "claude-haiku-4-5": _one(_claude(1, 5), _CLAUDE),
    "claude-3-5-haiku": _one(_claude(0.8, 4), _CLAUDE_NEW),
    # GPT, as Codex and others ask it
    "gpt-6-astra": _one(_gpt(10, 50, 1, 12.5), _OPENAI, over=_long(10, 50, 1, 12.5), fast=_gpt(20, 100, 2, 25)),
    "gpt-6-sol": _one(_gpt(2, 10, 0.2, 2.5), _GPT6, over=_long(2, 10, 0.2, 2.5)),
    "gpt-6-luna": _one(_gpt(0.1, 0.5, 0.01, 0.125), _GPT6, over=_long(0.1, 0.5, 0.01, 0.125)),
    "gpt-5.6-sol": (
        ListPrice(_gpt(5, 30, 0.5, 6.25), _CUT, over=_long(5, 30, 0.5, 6.25)),
        ListPrice(_gpt(4, 20, 0.4, 5), _CUT, _day("2026-08-21"), over=_long(4, 20, 0.4, 5)),
    ),
    "gpt-5.6-terra": (
        ListPrice(_gpt(2.5, 15, 0.25, 3.125), _CUT, over=_long(2.5, 15, 0.25, 3.125)),
        ListPrice(_gpt(2, 12, 0.2, 2.5), _CUT, _day("2026-07-30"), over=_long(2, 12, 0.2, 2.5)),
    ),
    "gpt-5.6-luna": (
        ListPrice(_gpt(1, 6, 0.1, 1.25), _CUT, over=_long(1, 6, 0.1, 1.25)),
        ListPrice(_gpt(0.2, 1.2, 0.02, 0.25), _CUT, _day("2026-07-30"), over=_long(0.2, 1.2, 0.02, 0.25)),
    ),
    "gpt-5.5": _one(_gpt(5, 30, 0.5), _OPENAI, over=_long(5, 30, 0.5), fast=_gpt(12.5, 75, 1.25)),
    "gpt-5.4": _one(_gpt(2.5, 15, 0.25), _OPENAI, over=_long(2.5, 15, 0.25)),
    "gpt-5.3-codex": _one(_GPT_5_2, _OPENAI),
    "gpt-5.3-codex-spark": _one(_GPT_5_2, _OPENAI),
    "gpt-5.2": _one(_GPT_5_2, _OPENAI),
    "gpt-5.2-codex": _one(_GPT_5_2, _OPENAI),
    "gpt-5.1": _one(_GPT_5, _OPENAI),
    "gpt-5.1-codex": _one(_GPT_5, _OPENAI),
    "gpt-5.1-codex-mini": _one(_gpt(0.25, 2, 0.025), _OPENAI),
    "gpt-5": _one(_GPT_5, _OPENAI),
    "gpt-5-codex": _one(_GPT_5, _OPENAI),
    "gpt-5-mini": _one(_gpt(0.25, 2, 0.025), _OPENAI),
    # Gemini
    "gemini-3.5-flash": _one(Rates(1.5, 9, 0.15, 1.5, 1.5), _MODELS_DEV),
    "gemini-3.1-pro-preview": _one(_GEMINI_PRO, _MODELS_DEV, over=_GEMINI_PRO_LONG),
    "gemini-3-pro-preview": _one(_GEMINI_PRO, _MODELS_DEV, over=_GEMINI_PRO_LONG),
    "gemini-3-flash-preview": _one(Rates(0.5, 3, 0.05, 0.5, 0.5), _MODELS_DEV),
    "gemini-2.5-pro": _one(
        Rates(1.25, 10, 0.125, 1.25, 1.25), _MODELS_DEV, over=((_LONG, Rates(2.5, 15, 0.25, 2.5, 2.5)),)
    ),
    "gemini-2.5-flash": _one(Rates(0.3, 2.5, 0.03, 0.3, 0.3), _MODELS_DEV),
    # Kimi
    "kimi-k3": _one(Rates(3, 15, 0.3, 3, 3), "platform.kimi.ai/docs/pricing/chat-k3, as of 2026-07-18"),
    "kimi-k2.7-code": _one(Rates(0.95, 4, 0.19, 0.95, 0.95), "apidog.com, on Moonshot's prices, 2026-06-15"),
    "kimi-k2.6": _one(Rates(0.95, 4, 0.16, 0.95, 0.95), _MODELS_DEV),
    # Grok
    "grok-4.6": _one(_GROK, "models.dev, from docs.x.ai, a copy read on 2026-11-17", over=_GROK_LONG),
    "grok-4.5": _one(_GROK, _MODELS_DEV, over=_GROK_LONG),
    "grok-build-0.1": _one(Rates(1, 2, 0.2, 1, 1), _MODELS_DEV),
    "grok-code-fast-1": _one(Rates(0.2, 1.5, 0.02, 0.2, 0.2), _MODELS_DEV),
}
"""By the name of the model; of several prices the oldest first."""
