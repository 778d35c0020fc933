"""Secrets in foreign text: prompts and transcripts hold keys, and a screen is seen by more people than a file.

`mask` hides what has the form of a secret (`secret_forms.py`) or stands where one does (`secret_places.py`), and leaves
a word or a prefix by which its owner knows which one it was. Hashes, uuids and session ids have neither and stay.

Most text holds no secret, and is asked only for literals: a pattern is made, and run, when its literal is there.
"""

import base64
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from delegtop.base.text import MARK_BREAK, MARK_CUT, cut

if TYPE_CHECKING:
    from delegtop.base.secret_forms import SecretForm
    from delegtop.base.secret_values import SecretPlace

MASKED = "[masked]"

_pattern = cache(re.compile)
_SPELLED = (
    r"\\{1,7}(?:u00(?:2[013-9a-fA-F]|[3467fF][0-9a-fA-F]|5[0-9abdefABDEF])"
    r"|u(?:04[0-9a-fA-F]|30[4-9a-fA-F]|[4-9][0-9a-fA-F]{2})[0-9a-fA-F]|/)"
)
"""A character that JSON spells in numbers though it need not, also a letter of the languages that have a word for a
password in our table; the quote and the backslash stay as they are."""
_UNSEEN = (
    r"(?:[\x1b␛]|\\{1,7}u001b)\[[0-9;?]{0,20}[A-Za-z]|[\u00ad\u200b-\u200f\u2060\ufeff]"
    r"|<U\+(?:00AD|200[B-F]|2060|FEFF)>"
)
"""Colours and characters that nobody sees, as they are or made visible: a secret goes on behind them."""
_HIDING = "[␛\u00ad\u200b-\u200f\u2060\ufeff]"
_BEFORE = "[A-Za-z0-9_-]"
_BLANK = r"\\[nrt]"
"""An escaped line end or tab; the letter of it does not belong to what follows."""
_AFTER_ESCAPE = ("%[0-9A-F][0-9A-F]", r"[0-9\[]m", "bot")
"""Letters that belong to what stands before: an encoded character, the end of a colour, the name of a bot."""
_NARROWEST = 20
"""Lines that are cut at a column are not shorter."""
_ESCAPED_QUOTE = r'\\+"'
_CUT = f"[A-Za-z0-9_.+/-]{{1,200}}{MARK_CUT}"
_NO_RUN = r"[^A-Za-z0-9_-]+"
_ESCAPE = r"%[0-9A-F]{2}|\x1b\[[0-9;]*m"
_START = 3
_LONGER = 30
"""No secret whose sign is not its beginning is shorter."""
_WORD = r"[A-Z]?[a-z]{1,12}[.,;:]?"

StandIn = Callable[[str, str], str]
"""What stands in the place of a secret, by its kind and itself."""


class _Span(NamedTuple):
    start: int
    end: int
    kind: str
    whole: int
    """Where the secret begins with what of it is shown."""


def mask(text: str) -> str:
    """`text` with everything that looks like a secret hidden. Masking twice changes nothing more."""
    return hide(text, _masked)


def mask_beginning(text: str, length: int) -> str:
    """So much of it, masked: a secret that is cut there is known by the mark of the cut."""
    return mask(cut(text, length))


def _masked(_kind: str, _secret: str) -> str:
    return MASKED


def hide(text: str, stand_in: StandIn) -> str:
    """The same with something else in the place of each secret; what begins with `MASKED` is not masked again."""
    plain = _plain(text)
    found = _spans(plain)
    if not found:
        return text
    text = plain
    parts, done = list[str](), 0
    for start, end, kind, whole in found:
        parts += text[done:start], stand_in(kind, text[whole:end])
        done = end
    return "".join((*parts, text[done:]))


def _plain(text: str) -> str:
    """The text as it is meant: without colours and invisible characters, and no letter of it spelled as a number."""
    if "\x1b[" in text or "<U+" in text or (not text.isascii() and _pattern(_HIDING).search(text)):
        text = _pattern(_UNSEEN).sub("", text)
    if "\\" in text:
        if "u001b[" in text:
            text = _pattern(_UNSEEN).sub("", text)
        if "\\u" in text or "\\/" in text:
            text = _pattern(_SPELLED).sub(_spelled_out, text)
    return text


def _spelled_out(found: re.Match[str]) -> str:
    return "/" if found[0].endswith("/") else chr(int(found[0][-4:], 16))


def _spans(text: str) -> list[_Span]:
    """Where secrets stand, in order, none in another."""
    escaped = "\\" in text
    found = _found(_pattern(_BLANK).sub("  ", text) if escaped else text)
    if "\n" in text:
        found += _over_breaks(text, "\n")
    if MARK_BREAK in text:
        found += _over_breaks(text, MARK_BREAK)
    if escaped:  # as JSON has it, or JSON in JSON
        for line_end in filter(text.__contains__, ("\\n", "\\\\n", "\\\\\\\\n")):
            found += _over_breaks(text, line_end)
    return _merged(found) if found else found


def _found(text: str) -> list[_Span]:
    found: list[_Span] = []
    words = [word for word in text.split() if len(word) >= _SHORTEST]
    if MARK_CUT in text:
        words += [word for word in text.split() if MARK_CUT in word]
    if words:
        found += _by_form(text, words)
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.translate(_SMALL)
    near = [word for sign, words in _near(lowered.isascii()) if sign in lowered for word in words if word in lowered]
    if near:
        index = _places()
        near.sort(key=[*index].index)
        found += _by_place(text, lowered, dict.fromkeys(place for word in near for place in index[word]))
    if "-----" in text or "Private-Lines" in text or (near and not _BLOCK_WORDS.isdisjoint(near)):
        from delegtop.base.secret_blocks import blocks  # few texts hold any

        found += (_Span(*block) for block in blocks(text, lowered))
    return found


_SHORTEST = 18
_BLOCK_WORDS = frozenset({"pass", "key", "token", "secre"})
"""Of these one is near every secret that is told by more than a pattern, unless it is a key over many lines."""
_RUNS = "".join(each if each.isalnum() or each in "_-" else " " for each in map(chr, range(128)))
"""Everything but letters, digits and what joins them becomes a blank."""
_SMALL = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _by_form(text: str, words: list[str]) -> list[_Span]:
    """Those whose sign is there; by the first letters of each run, so that most signs are not looked for one by one."""
    heads, others = _forms()
    joined = " ".join(words)
    if "%" in joined or "\x1b" in joined:
        joined = _pattern(_ESCAPE).sub(" ", joined)
    forms: list[SecretForm] = []
    if max(map(len, words)) >= _LONGER or MARK_CUT in joined:
        forms = [form for sign, form in others if sign in joined and _holds(joined, form)]
    runs = joined.translate(_RUNS).split() if joined.isascii() else _pattern(_NO_RUN).split(joined)
    starts = [start for run in runs if (start := run[:_START]) in heads]
    if starts:
        forms += [form for start in set(starts) for form in heads[start] if form.sign in joined]
    if not forms:
        return []
    return [
        _Span(match.end(1) if form.shown else match.start(), match.end(), form.counted_as, match.start())
        for form in forms
        for match in _form_pattern(form).finditer(text)
    ]


def _holds(joined: str, form: "SecretForm") -> bool:
    if form.within and not _pattern(form.within).search(joined):
        return False
    return _form_pattern(form).search(joined) is not None


def _by_place(text: str, lowered: str, places: "Iterable[SecretPlace]") -> Iterator[_Span]:
    for place in places:
        if not place.also or any(map(lowered.__contains__, place.also)):
            yield from _at_place(place, text, lowered)


def _at_place(place: "SecretPlace", text: str, lowered: str) -> Iterator[_Span]:
    for match in _pattern(place.pattern).finditer(text if place.checked == "as written" else lowered):
        begin, start, end = match.start(), match.end(match.lastindex or 0), match.end()
        if place.before and not _stands_before(place.before, lowered[max(0, begin - 24) : begin]):
            continue
        if place.checked == "pair" and not _is_pair(text[start:end]):
            continue
        yield _Span(start, end, place.counted_as, start)


def _stands_before(wanted: str, before: str) -> bool:
    refused = wanted.startswith("!")
    return bool(_pattern(f"(?:{wanted.removeprefix('!')})\\Z").search(before)) != refused


def _is_pair(encoded: str) -> bool:
    """Whether it is base64 of a name and a password: words in prose are not."""
    try:
        pair = base64.b64decode(encoded.rstrip("=") + "=" * (-len(encoded.rstrip("=")) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in pair and pair.isprintable()


def _over_breaks(text: str, line_end: str) -> Iterator[_Span]:
    """Secrets that go on in the next line, where lines are cut at a column: those are the longest, or as long
    as the next."""
    lines = text.split(line_end)
    lengths, widest = [len(each) for each in lines], 0
    if line_end == "\n":
        widest = max(lengths)
    else:  # the first stands behind other words
        if line_end != MARK_BREAK:
            lengths = [_length_in_json(each, line_end) for each in lines]
        lengths[0] = lengths[1]
    begins = list(accumulate((len(each) + len(line_end) for each in lines), initial=0))
    is_full = [
        length >= _NARROWEST and length in (before, after, widest)
        for before, length, after in zip((0, *lengths), lengths, (*lengths[1:], 0), strict=False)
    ]
    number, last = 0, len(lines) - 1
    while number < last:
        first = number
        while number < last and is_full[number]:
            number += 1
        if number > first:
            yield from _over(lines[first : number + 1], begins[first], len(line_end))
        number += 1


def _length_in_json(line: str, line_end: str) -> int:
    """Of a line in a text in JSON, without what stands before the text; a quote is more than one character there."""
    if '"' not in line:
        return len(line)
    begin = r"(?<!\\)" + r"\\" * (len(line_end) - 2) + '"'
    return len(_pattern(_ESCAPED_QUOTE).sub('"', _pattern(begin).split(line)[-1]))


def _over(lines: list[str], offset: int, gap: int) -> Iterator[_Span]:
    joined = "".join(lines)
    ends = list(accumulate(map(len, lines)))[:-1]
    for span in _found(joined):
        if span.kind == "private key":  # known over all its lines anyway
            continue
        begins, starts, stops = (bisect_right(ends, place) for place in (span.whole, span.start, span.end - 1))
        end = span.end + gap * stops
        if stops > starts and _pattern(_WORD).fullmatch(joined, ends[stops - 1], span.end):
            stops -= 1  # that is the first word of the next line, and no longer the secret
            end = ends[stops] + gap * stops
        yield _Span(offset + span.start + gap * starts, offset + end, span.kind, offset + span.whole + gap * begins)


def _merged(found: list[_Span]) -> list[_Span]:
    """Those that overlap as one; of a key that stands at a place, what of it may be shown stays."""
    merged = list[_Span]()
    for span in sorted(found, key=lambda each: (each.whole, -each.end)):
        last = merged[-1] if merged else None
        if last is None or span.whole >= last.end:
            merged.append(span)
            continue
        start = max(last.start, span.start) if span.whole == last.whole else last.start
        kind = "key" if "key" in (last.kind, span.kind) and span.whole == last.whole else last.kind
        merged[-1] = _Span(start, max(last.end, span.end), kind, last.whole)
    return merged


# -- what the tables say, made when it is first asked for --------------------------------------------------------------


class _Forms(NamedTuple):
    heads: "dict[str, list[SecretForm]]"
    """By the first letters of their signs, which they begin with."""
    others: "list[tuple[str, SecretForm]]"
    """With their signs."""


@cache
def _forms() -> _Forms:
    from delegtop.base.secret_forms import FORMS

    forms = _Forms({}, [])
    for form in FORMS:
        start = _pattern(_NO_RUN).split(form.sign)[0][:_START]
        if len(start) == _START and form.pattern.startswith(start):
            forms.heads.setdefault(start, []).append(form)
        else:
            forms.others.append((form.sign, form))
    return forms


@cache
def _form_pattern(form: "SecretForm") -> re.Pattern[str]:
    shown, hidden = form.shown, form.hidden
    if not shown:  # its first character is told first, so that the others are passed over quickly
        before = "|".join((f"(?<!{_BEFORE}.)", *(f"(?<={escape}.)" for escape in _AFTER_ESCAPE)))
        first, times, rest = re.split(r"(?<=\])\{([0-9,]+)\}", hidden, maxsplit=1)
        times = ",".join(str(int(each) - 1) for each in times.split(","))
        return re.compile(f"(?:{first})(?:{before}){first}{{{times}}}{rest}")
    if shown.replace("[", "").replace("]", "") != form.sign:
        return re.compile(f"({shown})(?:{hidden}|{_CUT})")
    before = "|".join((f"(?<!{_BEFORE}{shown})", *(f"(?<={escape}{shown})" for escape in _AFTER_ESCAPE)))
    return re.compile(f"({shown})(?:{before})(?:{hidden}|{_CUT})")


@cache
def _places() -> "dict[str, list[SecretPlace]]":
    """By the words one of which is there."""
    from delegtop.base.secret_places import PLACES

    places: dict[str, list[SecretPlace]] = {}
    for place in PLACES:
        for word in place.words:
            places.setdefault(word, []).append(place)
    return places


_RARE = ' :%"<'
"""Characters that most names have none of."""


@cache
def _near(is_ascii: bool) -> list[tuple[str, list[str]]]:
    """The same words by a rare character that is in each of them; of texts in ASCII those that are not."""
    words: dict[str, list[str]] = {}
    for word in _places():
        if word.isascii() or not is_ascii:
            words.setdefault(next((sign for sign in _RARE if sign in word), ""), []).append(word)
    return [*words.items()]


def names() -> Iterable[tuple[str, str, str]]:
    """Every kind that is known: its family, its name and how sure it is; for the page on privacy."""
    from delegtop.base import secret_blocks
    from delegtop.base.secret_forms import FORMS
    from delegtop.base.secret_places import PLACES

    yield "tokens and keys", "private key", "certain"
    yield from ((form.family, form.name, "certain") for form in FORMS)
    yield from (("by the place", place.name, "likely") for place in PLACES)
    yield from (("by the place", name, "likely") for name in secret_blocks.names())
