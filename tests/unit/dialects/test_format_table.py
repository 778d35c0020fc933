"""The table of delegtop's own formats says what their classes say, and its signatures hide no format from a file."""

import importlib
import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delegtop.dialects import GROUP, OWN, Dialect, Sample, load, recognise
from delegtop.dialects import loaded as with_loaded
from delegtop.dialects.format_table import FORMATS, PRODUCTS
from delegtop.dialects.signature import Format, Head, Signature
from delegtop.sources.database import MAGIC, columns_of

HEAD = 64 * 1024
REAL = os.environ.get("DELEGTOP_REAL_LOGS", "")


def declared(project: Path) -> dict[str, str]:
    text = (project / "pyproject.toml").read_text("utf-8")
    points: dict[str, str] = tomllib.loads(text)["project"]["entry-points"][GROUP]
    return points


def formats(project: Path) -> list[Format]:
    return [
        Format(name, place, dialect.surest, dialect.files, dialect.signatures)
        for name, place in declared(project).items()
        for dialect in (loaded(place),)
    ]


def loaded(place: str) -> type[Dialect]:
    module, _, name = place.partition(":")
    dialect: type[Dialect] = getattr(importlib.import_module(module), name)
    assert issubclass(dialect, Dialect)
    return dialect


def products(project: Path) -> dict[str, str]:
    """The packages of the products, in the order of their formats in pyproject.toml."""
    found = {}
    for place in declared(project).values():
        if (product := loaded(place).product) is not None:
            package = place.partition(":")[0].rpartition(".")[0]
            assert importlib.import_module(package).PRODUCT is product, f"{place}: not the product of its package"
            found[product.name] = package
    return found


def table(project: Path) -> str:
    """The text of the generated module."""
    lines = [
        '"""The formats of delegtop, so that none has to be imported to be found. Generated from their classes by',
        '`pytest tests/unit/dialects/test_format_table.py --update-golden`: no line here is written by hand."""',
        "# ruff: noqa: E501 - the names in a row decide how long it is",
        "",
        "from delegtop.dialects.signature import Format, Signature",
        "",
        "# fmt: off",
        "FORMATS: tuple[Format, ...] = (",
    ]
    for each in formats(project):
        lines.append(f"    Format({each.name!r}, {each.place!r}, {each.surest}, {each.files!r}, (")
        for signature in each.signatures:
            columns = f", {signature.columns!r}" if signature.columns else ""
            lines.append(f"        Signature({signature.words!r}, {signature.path!r}{columns}),")
        lines.append("    )),")
    lines += [")", "", "PRODUCTS: dict[str, str] = {"]
    lines += [f"    {name!r}: {package!r}," for name, package in products(project).items()]
    lines += ["}", '"""The package that declares each product."""', "# fmt: on", ""]
    return "\n".join(lines)


def test_the_table_is_what_the_classes_say(project: Path, update_golden: bool) -> None:
    file = project / "tui" / "delegtop" / "dialects" / "format_table.py"
    if update_golden:
        file.write_text(table(project), "utf-8")
    assert file.read_text("utf-8") == table(project), "run this test with --update-golden"


@pytest.fixture
def _table_of_now(update_golden: bool) -> None:
    if update_golden:
        pytest.skip("the table was loaded before it was written")


@pytest.mark.usefixtures("_table_of_now")
def test_the_table_has_every_entry_point_of_ours_under_its_own_name(project: Path) -> None:
    assert {each.name: each.place for each in FORMATS} == declared(project)
    assert [each.name for each in FORMATS] == [loaded(each.place).name for each in FORMATS]


@pytest.mark.usefixtures("_table_of_now")
def test_every_product_is_in_the_table(project: Path) -> None:
    packages = {
        ".".join(path.parent.relative_to(project / "tui").parts)
        for path in (project / "tui" / "delegtop").rglob("__init__.py")
        if "\nPRODUCT = " in path.read_text("utf-8")
    }
    assert set(PRODUCTS.values()) == packages


def _names(word: bytes) -> list[str]:
    return re.findall(r"\w+", word.decode())


# -- signatures -----------------------------------------------------------------------------------------------------


def sample_of(path: Path) -> Sample:
    with path.open("rb") as file:
        head = file.read(HEAD + 1)
    columns = columns_of(str(path)) if head.startswith(MAGIC) else frozenset[str]()
    return Sample(str(path), head[:HEAD], len(head) <= HEAD, columns)


def files(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file())


def hidden(sample: Sample) -> list[str]:
    """The formats that would read the sample, though it bears none of their signatures."""
    beginning = Head(sample.path, sample.head, sample.columns)
    return [
        each.name
        for each in FORMATS
        if each.signatures and load(each.name).sniff(sample) > 0 and not beginning.bears(each.signatures)
    ]


def chosen(sample: Sample) -> list[str | None]:
    """The format by the table, by asking every class, and by asking those first that many files have shown to be."""
    partly = with_loaded(load("claude-code"), FORMATS)
    found = (recognise(sample, FORMATS), recognise(sample, map(load, OWN)), recognise(sample, partly))
    return [dialect.name if dialect else None for dialect in found]


def mutated(sample: Sample) -> Iterator[Sample]:
    """The same beginning, cut, glued, spread out and encoded otherwise."""
    head = sample.head
    heads = [head[:1], head[:100], head[: len(head) // 2], head[len(head) // 2 :], head[7:], b"\xef\xbb\xbf" + head]
    heads += [
        b"\0\0" + head,
        head + head,
        head.replace(b"\n", b""),
        head.replace(b":", b" :\t"),
        head.partition(b"\n")[0],
    ]
    heads += [head.replace(b"{", b"{\n\v"), head.decode("utf-8", "replace").encode("utf-16")]
    for value in documents(head.partition(b"\n")[0], head):
        spelled = json.dumps(value).replace("e", "\\u0065").replace("s", "\\u0073")
        heads += [json.dumps(value, indent=2).encode(), spelled.encode(), json.dumps([value]).encode()]
    for each in heads:
        yield Sample(sample.path, each, True, sample.columns)
        yield Sample("notes.txt", each, False, sample.columns)


def documents(*texts: bytes) -> Iterator[object]:
    for text in texts:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def test_signatures_hide_no_format_from_a_sample_and_leave_the_choice_as_it_is(project: Path) -> None:
    assert [
        (path.name, hidden(sample_of(path))) for path in files(project / "sample_logs") if hidden(sample_of(path))
    ] == []
    for path in files(project / "sample_logs"):
        by_table, by_all, partly_loaded = chosen(sample_of(path))
        assert by_table == by_all == partly_loaded, path


def test_signatures_hide_no_format_from_a_sample_that_is_cut_glued_or_encoded_otherwise(project: Path) -> None:
    for path in files(project / "sample_logs"):
        for sample in mutated(sample_of(path)):
            assert not hidden(sample), (path, sample)


@pytest.mark.skipif(not REAL, reason="DELEGTOP_REAL_LOGS is not set")
def test_signatures_hide_no_format_from_a_real_log() -> None:
    for path in files(Path(REAL)):
        sample = sample_of(path)
        assert not hidden(sample), path
        by_table, by_all, partly_loaded = chosen(sample)
        assert by_table == by_all == partly_loaded, path


WORDS = sorted({word for each in FORMATS for signature in each.signatures for word in signature.words})
PATHS = sorted({signature.path for each in FORMATS for signature in each.signatures} | {"x.jsonl"})
KEYS = sorted({word.strip(b'":{[,').decode() for word in WORDS if b'"' in word} | {"sess_1766743200_abc123", "id"})
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2**40) | st.sampled_from([*KEYS, "user", "2026-02-03T09:00:00Z"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=8),
    max_leaves=20,
)


@given(st.lists(values, max_size=3), st.sampled_from(PATHS), st.booleans(), st.sampled_from([None, 2]))
@example([{}], "registry.json", True, 2)
@example([{"": "child_session_id", "subagent_id": {"parent_session_id": None}}], "", False, None)
def test_signatures_hide_no_format_from_objects_made_of_their_own_words(
    made: list[object], name: str, whole: bool, indent: int | None
) -> None:
    head = "\n".join(json.dumps(value, indent=indent) for value in made).encode()
    assert not hidden(Sample(f"/x/{name}", head, whole))


def test_words_have_no_blanks_or_they_would_never_be_found() -> None:
    assert [
        word for word in WORDS if word.strip(b"\n").translate(None, b"\0 \t\r\n\v\f\xef\xbb\xbf") != word.strip(b"\n")
    ] == []


QUOTED = st.lists(st.sampled_from([b'"', b"a", b"b", b":", b"{", b":\n", b"{\n"]), max_size=12).map(b"".join)
"""No line ends within a word."""


@given(QUOTED, st.lists(QUOTED, min_size=20, max_size=40, unique=True))
def test_a_word_is_there_whether_it_is_asked_for_first_or_last(head: bytes, words: list[bytes]) -> None:
    beginning, plain = Head("x", head), b"\n" + head.replace(b"\n", b"") + b"\n"
    assert [word for word in words if beginning.bears([Signature((word,))])] == [
        word for word in words if word in plain
    ]


@pytest.mark.parametrize(
    ("head", "path", "names"),
    [
        (
            b'{"event":"cancel","at":"2026-03-03T10:00:00Z","session_id":"sess_1772532000_c7m1aa"}\n',
            "x",
            ["session-log"],
        ),
        (b"SQLite format 3\0", "/home/a/.crush/crush.db", ["crush"]),
        (b"dear diary", "x.txt", []),
    ],
)
def test_a_file_bears_the_signatures_of_few_formats(head: bytes, path: str, names: list[str]) -> None:
    beginning = Head(path, head)
    assert [each.name for each in FORMATS if beginning.bears(each.signatures)] == names


# -- words are looked for in the bytes as they are --------------------------------------------------------------------

NAMES = sorted({name for each in FORMATS for mark in each.signatures for word in mark.words for name in _names(word)})
VALUES = st.recursive(
    st.sampled_from(["", "planned", "sess_1", 5, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)
SIGNS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\t: ")])


@settings(max_examples=300)
@given(
    st.lists(RECORDS, max_size=3), SIGNS, st.sampled_from([None, 1]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
)
def test_a_word_is_there_however_json_is_spaced_and_encoded(
    records: list[dict[str, Any]], signs: tuple[str, str], indent: int | None, encoding: str
) -> None:
    """As if all blanks had been taken out of the whole beginning first."""
    text = "\n".join(json.dumps(record, separators=signs, indent=indent) for record in records)
    head = text.encode(encoding)
    bare = b"\n" + head.translate(None, b"\0\xef\xbb\xbf \t\r\n\v\f") + b"\n"
    for path in ("chats/agent-1.jsonl", "journal.jsonl"):
        beginning = Head(path, head)
        for each in FORMATS:
            fits = [
                mark.path in path and not mark.columns and all(w in bare for w in mark.words)
                for mark in each.signatures
            ]
            assert beginning.bears(each.signatures) == any(fits), each.name
