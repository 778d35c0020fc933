"""Ways to break a JSON record by its structure: what stands where, of which kind, how often, how deep, how long."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

LONGEST = 100_000
"""Characters that one long text has at most."""
LARGEST = 256 * 1024
"""Bytes of a line at most; what is longer is cut off there."""
_DEEP = (2, 20, 199, 1_200)
_NUMBERS: tuple[Any, ...] = (0, -1, 1, 2**31, 2**63, -(2**63), 10**18, 10**30, -(10**30), 1e308, 0.5, 10**400)
_NOT_STRICT = (float("nan"), float("inf"), float("-inf"))
_TIMES: tuple[Any, ...] = (
    "", "0000-00-00T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2026-02-30T10:00:00Z",
    "2026-02-03T10:00:00", "2026-02-03T10:00:00+25:00", "2026-02-03", "20260203", "1e400", "-1", "tomorrow",
    0, -1, 1, 1_770_109_200, 1_770_109_200_000, 1_770_109_200_000_000_000, 10**20, -(10**20), 1e300, None, True, [], {},
)  # fmt: skip
PIECES = (
    "a", " ", "\n", "\t", "{", "[", "}", "]", '"', "\\", "`", "<", ">", "*", "#", "-", "=", ":", "|", "(", ")", "\x00",
    "\x1b[31m", "\u202e", "\ud800", "😀", "é", "a ", "ab", "\r\n", "```\n", "<a>", "</a>", "{}", '{"a":', "[{", "- x\n",
    "key: value\n", "a=b ", "/a", "../", "\\n", "0", "9,", "status: done\n", "  ", "<tag ", "&amp;", "%s",
    "<task-notification>", "<result>", "<status>", "<task_result>", '<task id="', "<user_query>", "<teammate-message ",
    "<command-name>", "cd ", "Workspace Directories:\n", "Termination Reason: ", "agentId: ", "## ", "| ", "complete. ",
    "<user_input ", "session ", "<summary>", "x" * 50 + "\n",
)  # fmt: skip
"""Texts that mean something to somebody; many of each are put in a row."""
_OTHERS = 64
_LOOKS_LIKE_A_TIME = re.compile(r"\d{4}-\d\d-\d\d")


class _Spot(NamedTuple):
    """One value in a record, by what holds it."""

    holder: Any
    key: Any

    def get(self) -> Any:
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        self.holder[self.key] = value


class Breaker:
    """Breaks lines, by the same dice always in the same way."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._kept = ["null", '""', "0", "[]", "{}"]
        """Values of other records as they were written, which turn up in the wrong place."""
        self._ways: tuple[Callable[[Any, _Spot], None], ...] = (
            *(self._drop, self._retype, self._nest, self._double, self._swap, self._number, self._time, self._text),
            *(self._rename, self._transplant, self._multiply, self._stretch),
        )

    def line(self, data: bytes, others: Sequence[bytes] = ()) -> bytes:
        """One line broken; what is no JSON, and now and then what is, is broken as bytes."""
        dice = self._dice
        if dice.random() < 0.08:
            return self.torn(data, others)
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return self.torn(data, others)
        for _ in range(dice.choice((1, 1, 1, 2, 4))):
            spots = _spots(value)
            if not spots:
                break
            dice.choice(self._ways)(value, dice.choice(spots))
        text = _dumped(value)
        if dice.random() < 0.05:
            text = self._twice(text)
        return text.encode("utf-8", "surrogatepass")[:LARGEST]

    def value(self, found: Any) -> Any:
        """One value of a column broken: text that is JSON by its structure, and anything else by its kind."""
        dice = self._dice
        if isinstance(found, str) and found[:1] in ("{", "[") and dice.random() < 0.8:
            return self.line(found.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        return dice.choice((None, b"", b"\x00\xff", "", -1, 0, 2**62, -(2**62), 1e300, *_TIMES[:12], self._long("x")))

    def torn(self, data: bytes, others: Sequence[bytes] = ()) -> bytes:
        """Cut off, glued to another, or with other bytes in it."""
        dice = self._dice
        cut = dice.randrange(len(data) + 1)
        other = dice.choice(others) if others else data
        return dice.choice(
            (
                data[:cut],
                data[cut:],
                data[:cut] + other,
                data + other,
                data[:cut] + bytes(dice.randrange(256) for _ in range(dice.randint(1, 8))) + data[cut + 1 :],
                b"\xef\xbb\xbf" + data,
                b"\0" * dice.choice((1, 100, 5_000)) + data,
                data.replace(b'"', b"'"),
                data.replace(b"}", b"", 1),
                b"[" * dice.choice(_DEEP) + data,
                b'{"a":' * dice.choice(_DEEP) + data,
                dice.choice(PIECES).encode("utf-8", "surrogatepass") * dice.choice((1, 100, 2_000)),
            )
        )[:LARGEST].replace(b"\n", b" ")

    # One way each

    def _drop(self, _value: Any, spot: _Spot) -> None:
        del spot.holder[spot.key]

    def _retype(self, _value: Any, spot: _Spot) -> None:
        found = spot.get()
        kinds: tuple[Any, ...] = (
            None,
            True,
            False,
            0,
            1.5,
            "",
            _dumped(found)[:200],
            [],
            {},
            [found],
            {"type": found},
            "null",
            "[]",
        )
        spot.put(self._dice.choice(kinds))

    def _nest(self, _value: Any, spot: _Spot) -> None:
        found = spot.get()
        key = self._dice.choice((None, "content", "message", "type", "a"))
        for _ in range(self._dice.choice(_DEEP)):
            found = [found] if key is None else {key: found}
        spot.put(found)

    def _double(self, _value: Any, spot: _Spot) -> None:
        if isinstance(spot.holder, list):
            spot.holder.insert(spot.key, spot.get())
        else:
            spot.holder[f"{spot.key}2"] = spot.get()

    def _swap(self, value: Any, spot: _Spot) -> None:
        other = self._dice.choice(_spots(value))
        one, two = spot.get(), other.get()
        if not (_holds(one, two) or _holds(two, one)):
            spot.put(two)
            other.put(one)

    def _number(self, _value: Any, spot: _Spot) -> None:
        spot.put(self._dice.choice(_NUMBERS if self._dice.random() < 0.9 else _NOT_STRICT))

    def _time(self, value: Any, spot: _Spot) -> None:
        times = [each for each in _spots(value) if _is_time(each.get())]
        (self._dice.choice(times) if times else spot).put(self._dice.choice(_TIMES))

    def _text(self, value: Any, spot: _Spot) -> None:
        texts = [each for each in _spots(value) if isinstance(each.get(), str)]
        place = self._dice.choice(texts) if texts else spot
        place.put(self._long(_dumped(place.get()) if not isinstance(place.get(), str) else place.get()))

    def _rename(self, value: Any, spot: _Spot) -> None:
        if isinstance(spot.holder, dict):
            keys = [each.key for each in _spots(value) if isinstance(each.key, str)]
            spot.holder[self._dice.choice([*keys, spot.key.upper(), "", "__proto__"])] = spot.holder.pop(spot.key)

    def _transplant(self, _value: Any, spot: _Spot) -> None:
        if len(text := _dumped(spot.get())) < 2_000:
            self._kept = [*self._kept[-_OTHERS:], text]
        spot.put(json.loads(self._dice.choice(self._kept)))

    def _multiply(self, value: Any, spot: _Spot) -> None:
        lists = [each for each in _spots(value) if isinstance(each.get(), list) and each.get()]
        place = self._dice.choice(lists) if lists else spot
        found = place.get() if lists else [place.get()]
        if len(_dumped(found)) < 2_000:
            place.put(found * self._dice.choice((2, 10, 100)))

    def _stretch(self, _value: Any, spot: _Spot) -> None:
        """Many keys that nobody knows."""
        found = spot.get()
        spot.put({f"key{number}": found for number in range(500)} if len(_dumped(found)) < 200 else {})

    def _long(self, text: str) -> str:
        """A long text of pieces that mean something to somebody, or of pieces of the text itself."""
        dice = self._dice
        start = dice.randrange(len(text)) if text else 0
        piece = text[start : start + dice.randint(1, 60)] if text and dice.random() < 0.5 else dice.choice(PIECES)
        length = dice.choice((100, 5_000, 50_000, LONGEST))
        if dice.random() < 0.3:
            return "".join(dice.choice(PIECES) for _ in range(length // 10))
        long = (piece * (length // len(piece) + 1))[:length]
        return dice.choice((long, text + long, long + text, text[:start] + long + text[start:]))[:LONGEST]

    def _twice(self, text: str) -> str:
        """The same key twice, which no JSON library writes and every one reads."""
        found = list(re.finditer(r'"[a-zA-Z_]{1,30}":', text))
        if not found:
            return text
        key = self._dice.choice(found)
        return f"{text[: key.start()]}{key[0]}{self._dice.choice(('null', '{}', '1', '[]'))},{text[key.start() :]}"


def _spots(value: Any) -> list[_Spot]:
    """Every value in it but the outermost; of a very large one the first thousand."""
    found: list[_Spot] = []
    waiting = [value]
    while waiting and len(found) < 1_000:
        holder = waiting.pop()
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, inner in pairs:
            found.append(_Spot(holder, key))
            if isinstance(inner, (dict, list)):
                waiting.append(inner)
    return found


def _holds(outer: Any, inner: Any) -> bool:
    """Whether one is in the other: put in each other's place they would be a circle."""
    if not isinstance(inner, (dict, list)):
        return False
    return outer is inner or any(spot.get() is inner for spot in _spots(outer))


def _is_time(value: Any) -> bool:
    if isinstance(value, str):
        return _LOOKS_LIKE_A_TIME.match(value) is not None
    return isinstance(value, (int, float)) and value > 1_000_000_000


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):  # deeper than Python writes, or a circle
        return '{"a":' * 1_000 + "1" + "}" * 1_000
