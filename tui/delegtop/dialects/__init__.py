"""Log formats. One file a format; each is a `Dialect` registered under the entry point group `delegtop.dialects`.

A dialect is chosen by the shape of the bytes, never by the file's name. delegtop's own stand in a generated table, so
that a file imports only those it may be of; those of other packages are found by their entry points and are all asked.
One that cannot be imported fails loudly by name.
"""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import msgspec

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.base.product import Basis as Basis  # what `About` is told by
from delegtop.base.product import Product
from delegtop.dialects.format_table import FORMATS
from delegtop.dialects.signature import Format, Head, Signature
from delegtop.model.event_runs import EventRun
from delegtop.model.events import Event
from delegtop.sources.records import Line, LineBlock, Record, Unreadable, records

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from delegtop.model.call_counter import CallCounter
    from delegtop.model.spoken import Utterance

GROUP = "delegtop.dialects"


Told: TypeAlias = Event | tuple[Event | Unreadable, ...] | None
"""What one line tells: an event, or any number of them and of notes on what could not be read. None for a sign of life
of which nothing is left after that of a later line."""


class Unit(Enum):
    """What one record of the format is."""

    LINES = "lines"
    """An append-only file of lines."""
    DOCUMENT = "document"
    """A whole file of JSON, rewritten or replaced: only a valid one counts, and the last good one stays."""
    TEXT = "text"
    """A whole file of any text, rewritten or replaced."""
    DATABASE = "database"
    """An SQLite database; each row that one of the `queries` gives is a record."""


class Sample(msgspec.Struct, frozen=True):
    """The beginning of a file, to tell its format by."""

    path: str
    head: bytes
    whole: bool
    """True if `head` is all there is."""
    columns: frozenset[str] = frozenset()
    """Of a database its tables, and their columns as `table.column`; none if they cannot be seen."""

    @property
    def is_database(self) -> bool:
        return self.head.startswith(b"SQLite format 3\0")

    def stores(self, *columns: str, named: str) -> bool:
        """Whether it is a database with all of these, whatever its name; where its tables cannot be seen, that has to
        say whose it is."""
        if not self.is_database:
            return False
        return self.columns.issuperset(columns) if self.columns else PurePath(self.path).match(named)


class Query(msgspec.Struct, frozen=True):
    """The rows of one table that a database format reads."""

    table: str
    columns: tuple[str, ...]
    """Those that are there are read; a table or column that is missing is no error."""
    since: str | None = None
    """The column that grows whenever a row is written; without one the whole table is compared."""
    where: str = ""
    """A condition in SQL, such as `type = 'tool'`."""
    session: str | None = None
    """The column that tells whose row it is. With one, a reading of what is recent leaves out old sessions."""
    parent: str | None = None
    """The column that names the session above."""


class About(msgspec.Struct, frozen=True):
    """What people want to know of a format before they use it."""

    program: str
    """Which program writes it, and in which versions it was seen."""
    where: str
    tells: str
    basis: Basis


class Dialect(ABC):
    """One log format. An instance reads one source, or all sources of one family, and may remember what they said.

    Sources of a family arrive in any order and any interleaving. What one of them tells may have to wait for what
    another says (a transcript for the record that names its parent): the dialect keeps it until then.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    surest: ClassVar[int] = 100
    """The most that `sniff` ever says: a file that another format is surer of need not be shown to this one."""
    product: ClassVar[Product | None] = None
    """The program whose files these are; None for what follows the delegation protocol."""
    about: ClassVar[About | None] = None
    signatures: ClassVar[tuple[Signature, ...]] = ()
    """What a file must bear for `sniff` to say more than 0; with none, any file may be of this format."""
    unit: ClassVar[Unit] = Unit.LINES
    files: ClassVar[tuple[str, ...]] = ()
    """Patterns of file names to look for in folders, beside the usual *.json, *.jsonl, *.ndjson and *.log."""
    queries: ClassVar[tuple[Query, ...]] = ()
    """What to read of a database."""
    outputs: ClassVar[str] = ""
    """What the files are called that lie beside it and must be named in it; a pattern, empty if it names none."""
    outputs_listed_in: ClassVar[str] = ""
    """What it is called itself, by which it is known while nothing is in it yet."""
    is_answer: ClassVar[bool] = False
    """It reads what an agent answered, in a file of text: whatever that says is judged if it is said to be one."""
    second_hand: ClassVar[bool] = False
    """It repeats what other sources said elsewhere: no process and no file that it names is looked for here."""

    lines_stand_alone: ClassVar[bool] = False
    """Each line tells the same whatever stands in others: a log can be read on, and a line of it alone."""

    is_brief = False
    """Whether signs of life may be left out in a block of lines of which nothing is left after the next."""
    counts_calls: ClassVar[bool] = False
    """Whether it counts how long calls took of whatever signs of life say so, if it is asked to: also those it leaves
    out."""
    calls: "CallCounter | None" = None
    """Where it counts them."""
    has_cut = False
    """Whether something it told was too long to be kept."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self.zone = zone
        """The zone of times that do not say theirs."""

    @classmethod
    @abstractmethod
    def sniff(cls, sample: Sample) -> int:
        """How sure it is that this is its format: 0 not at all, 100 certain."""

    @classmethod
    def unit_of(cls, sample: Sample) -> Unit:  # noqa: ARG003 # for the formats that need it
        """What one record of this very file is, if the format has files of several kinds."""
        return cls.unit

    @classmethod
    def family(cls, path: str) -> str:
        """The name of the family the file belongs to: all files of one family are read by one instance."""
        return path

    def translate(self, record: Record) -> Iterable[Event]:  # noqa: ARG002 # for the formats that are made of records
        """The events one record tells of; `Deviation`s for what does not fit."""
        return ()

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        """The events of one line. A dialect may override this to decode bytes straight into events."""
        for record in records(line):
            if isinstance(record, Unreadable):
                yield record
            else:
                yield from self.translate(record)

    def read_block(self, block: LineBlock, longest: int) -> Iterable[Told | EventRun | Line]:  # noqa: ARG002 # for formats of many lines
        """What lines that follow each other tell: for each either the only event that `read` would tell, or all that it
        would tell, or the line itself, which is then read alone; or for several the run of their events. Of a line of
        more than so many bytes no event alone, or in a run: something in it may be too long."""
        return block.lines()

    def vanished(self, origin: Origin, at: Millis) -> Iterable[Event]:  # noqa: ARG002 # for the formats that need it
        """What it means that a whole file (a document or a text) is no longer there."""
        return ()

    def forget(self, path: str) -> None:  # noqa: B027 # for the formats that need it
        """The file was read to its end and is put away, and with it every file of its session.

        If one of them changes, all are read again from their top, so whatever is kept for them alone may go, and what
        would then count twice must. Only of a format that says how are the files of a family put away.
        """

    def is_apart(self, path: str) -> bool:  # noqa: ARG002 # for the formats that need it
        """Whether what the session of that file told hangs on no file of another session, as far as they were read."""
        return True

    def retell(self, line: Line) -> Iterable[Event | Unreadable]:
        """The events of a line that was read before, told once more for people to see. It changes nothing."""
        return type(self)(self.zone).read(line)

    def needle(self, id: str, path: str) -> bytes:  # noqa: ARG002 # for the formats that need it
        """What a line of that file holds if it is about the delegation; empty if every line of the file is."""
        return id.encode()

    def said(self, records: Sequence[Record]) -> "Iterable[Utterance]":  # noqa: ARG002 # for the formats that hold words
        """What was said in these records, one after the other, for people to read. It changes nothing, and any thread
        may ask. Only of a format that defines this is a transcript shown; of others, the events."""
        return ()

    def original(self, line: Line) -> Line:
        """The line as it stood in the source that wrote it: itself, unless this format repeats what others wrote."""
        return line

    def place(self, origin: Origin) -> bytes | None:  # noqa: ARG002 # for the formats that need it
        """What a line of a second-hand format holds if it repeats that place; None if it knows no such source."""
        return None


class UnknownDialect(Exception):  # noqa: N818 - reads better where it is raised
    """No dialect of that name, or it cannot be loaded; the message names it and says why."""


Candidate: TypeAlias = type[Dialect] | Format
"""A format that a file may have: loaded, or a row of the table until a file needs it."""
OWN: dict[str, Format] = {each.name: each for each in FORMATS}
"""delegtop's own formats."""


@cache
def plugins() -> "dict[str, EntryPoint]":
    """The formats of other packages, without importing any."""
    if not _is_any_announced():
        return {}
    from importlib.metadata import entry_points  # it takes longer than all else that `tree` has to import

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in OWN}


def _is_any_announced() -> bool:
    """Whether some other package may have announced a format: the files that entry points are kept in are searched
    for the name of the group. What is no folder could hold packages, too."""
    for folder in sys.path:
        try:
            with os.scandir(folder or os.curdir) as found:
                packages = [each for each in found if each.name.endswith((".dist-info", ".egg-info", "EGG-INFO"))]
        except NotADirectoryError:
            return True
        except OSError:
            continue
        if any(_announces(each.path) for each in packages if not each.name.startswith("delegtop-")):
            return True
    return False


def _announces(folder: str) -> bool:
    try:
        with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123 - a hundred of them before anything is shown
            return GROUP.encode() in file.read()
    except OSError:
        return False


def names() -> tuple[str, ...]:
    """The names of all installed dialects, without importing any."""
    return tuple(sorted({*OWN, *plugins()}))


@cache
def load(name: str) -> type[Dialect]:
    """The dialect of that name."""
    if name not in OWN and name not in plugins():
        raise UnknownDialect(f"no format named {name!r}; known: {', '.join(names())}")
    place = OWN[name].place if name in OWN else plugins()[name].value
    module, _, attribute = place.partition(":")
    try:
        dialect = getattr(import_module(module), attribute) if name in OWN else plugins()[name].load()
    except Exception as error:
        raise UnknownDialect(f"format {name!r} ({place}) cannot be loaded: {error}") from error
    if not (isinstance(dialect, type) and issubclass(dialect, Dialect)):
        raise UnknownDialect(f"format {name!r} ({place}) is not a delegtop Dialect")
    return dialect


def known(broken: dict[str, str] | None = None) -> list[Candidate]:
    """All formats that a file may have. Why one of another package cannot be loaded is put into `broken`."""
    found: list[Candidate] = [*FORMATS]
    for name in plugins():
        try:
            found.append(load(name))
        except UnknownDialect as error:
            if broken is not None:
                broken[name] = str(error)
    return found


def recognise(sample: Sample, among: Iterable[Candidate]) -> type[Dialect] | None:
    """The dialect that is surest of the sample; None if none is sure at all. Ties go to the first name."""
    return surest_of(sample, in_order(among))


def in_order(among: Iterable[Candidate]) -> list[Candidate]:
    """The formats in the order in which they are asked: who can be surest comes first."""
    return sorted(among, key=_at_best)


def surest_of(sample: Sample, among: Iterable[Candidate]) -> type[Dialect] | None:
    """The same, of formats that are in order.

    A row of the table is loaded only if the sample bears one of its signatures and nobody was surer before."""
    beginning: Head | None = None
    best: type[Dialect] | None = None
    rank = (0, "")
    for each in among:
        if _at_best(each) > rank:
            break
        if isinstance(each, type):
            dialect = each
        else:
            if each.signatures:
                beginning = beginning or Head(sample.path, sample.head, sample.columns)
                if not beginning.bears(each.signatures):
                    continue
            dialect = load(each.name)
        score = dialect.sniff(sample)
        if score > 0 and (-score, dialect.name) < rank:
            best, rank = dialect, (-score, dialect.name)
    return best


def loaded(dialect: type[Dialect], among: Iterable[Candidate]) -> list[Candidate]:
    """The same formats; that one and all that are asked before it are loaded. Where very many files are of one format,
    to ask those is cheaper than to look for their signatures."""
    last = _at_best(dialect)
    return [load(each.name) if isinstance(each, Format) and _at_best(each) <= last else each for each in among]


def _at_best(dialect: Candidate) -> tuple[int, str]:
    """Where it ranks if it is as sure as it can be."""
    return -dialect.surest, dialect.name
