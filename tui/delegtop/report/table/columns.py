"""The columns there are, and which of them there is room for."""

from collections.abc import Callable, Collection, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from delegtop.model.tree.outline import OutlineRow
from delegtop.report.layout import CellSpan

if TYPE_CHECKING:
    from delegtop.report.table.cells import Table

Cell = Callable[["Table", OutlineRow, int], list[CellSpan]]
"""What a column says of a row, exactly so many cells wide."""

NAME, DOING = "delegation", "doing"
"""The two that share what room is left."""
_NAME_LEAST, _NAME_COMFORTABLE, _NAME_MOST = 22, 36, 64
_DOING_LEAST, _NARROW, _WIDE = 12, 100, 140
_PROJECT = "project"
_LUXURY = 70
"""What ranks so high gives way to what each does."""
_BARE = 32
"""Below so many cells there is room for the name and the sign of the state alone."""
_LEAST = 4


class Column(NamedTuple):
    """One column. Where there is little room it first becomes small, then goes; the highest rank first."""

    name: str
    title: str
    width: int
    cell: Cell
    about: str
    """What it tells, for whoever chooses columns."""
    right: bool = False
    sort: str | None = None
    """What a click on its title sorts by."""
    short: str = ""
    """Its title where it is small."""
    small: int = 0
    """Its width where there is little room; 0 if it is then as wide as ever."""
    shrinks: int = 0
    """The rank at which it becomes small."""
    goes: int = 0
    """The rank at which it goes; 0 stays to the end."""
    ticks: bool = False
    """Whether time alone changes it."""
    optional: bool = False
    """Shown only where somebody chooses it."""
    stands_in: Cell | None = None
    """What it says where there is no room for a column of the projects."""


COLUMNS: dict[str, Column] = {}
"""By name, in the order they stand in."""


def column(name: str, title: str, width: int, about: str, **more: object) -> Callable[[Cell], Cell]:
    """Make a column of the function that says its cells."""

    def made(cell: Cell) -> Cell:
        COLUMNS[name] = Column(name, title, width, cell, about, **more)  # type: ignore[arg-type]  # its own fields by name
        return cell

    return made


class RoomAsked(NamedTuple):
    """How many cells the rows in sight ask for, as far as that is known."""

    whole: int = 0
    """For names with what each works at."""
    enough: int = 0
    """For so much of it that rows which are called alike are told apart; 0 if there are none."""
    doing: int | None = None
    """For what each does."""


NO_ROOM_ASKED = RoomAsked()


class Placed(NamedTuple):
    """A column in its place."""

    column: Column
    width: int

    @property
    def name(self) -> str:
        return self.column.name


class Layout(NamedTuple):
    """The columns for one width of the table. All cells and gaps together fill it."""

    width: int
    gap: int
    columns: tuple[Placed, ...]

    def column_at(self, x: int) -> Column | None:
        """The column under this cell; a gap belongs to the column before it."""
        end = 1
        for placed in self.columns:
            end += placed.width + self.gap
            if x < end:
                return placed.column
        return None

    def has(self, name: str) -> bool:
        return any(placed.name == name for placed in self.columns)


class UnknownColumnError(ValueError):
    """There is no column of that name; the message says which there are."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no column is named {name}; there are {', '.join(COLUMNS)}")


def choice() -> list[str]:
    """What one may choose from: all but the name of the delegation, which is always there."""
    return [name for name in COLUMNS if name != NAME]


def chosen(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of these names in their order, the name of the delegation first; without any, the usual ones."""
    for name in names:
        if name not in COLUMNS:
            raise UnknownColumnError(name)
    if not names:
        return tuple(each for each in COLUMNS.values() if not each.optional)
    return tuple(COLUMNS[name] for name in dict.fromkeys((NAME, *names)))


def layout(
    width: int,
    columns: Sequence[Column],
    empty: Collection[str] = (),
    kept: Collection[str] = (),
    claim: RoomAsked = NO_ROOM_ASKED,
) -> Layout:
    """As many of the columns as are comfortable in so many cells. Those to be `kept` go only where they do not fit, and
    those that have nothing to say take no room."""
    if width < _LEAST:
        return Layout(width, 0, ())
    if width < _BARE:
        return _bare(width)
    wanted = [Placed(each, each.width) for each in columns if each.name not in empty]
    gap = 2 if width >= 180 else 1
    while (economy := _economy(wanted, kept)) is not None:
        rank, number, small = economy
        gives_way = wanted[number].name == _PROJECT and _PROJECT not in kept
        if _needed(wanted, gap) <= width and _suffices(wanted, rank, width, gap, claim if gives_way else NO_ROOM_ASKED):
            break
        wanted[number : number + 1] = [Placed(wanted[number].column, small)] if small else []
    shared = _share(wanted, width, gap, claim)
    if any(each.name == _PROJECT for each in columns) and not any(each.name == _PROJECT for each in wanted):
        shared = [standing_in(each) for each in shared]
    return Layout(width, gap, tuple(shared))


def standing_in(placed: Placed) -> Placed:
    """The same where projects have no column."""
    column = placed.column
    return placed if column.stands_in is None else Placed(column._replace(cell=column.stands_in), placed.width)


def _suffices(placed: Sequence[Placed], rank: int, width: int, gap: int, claim: RoomAsked) -> bool:
    """Whether what is next to give way may stay: luxuries do for what each does, and projects for what tells rows apart
    that are called alike."""
    if rank >= _LUXURY:
        return _is_comfortable(placed, width, gap)
    if not claim.enough or not any(each.name == DOING for each in placed):
        return True
    return _spare(placed, width, gap) >= _doing_least(placed, width, gap, claim) + claim.enough


def _needed(placed: Sequence[Placed], gap: int) -> int:
    """The least width of all, one free cell on the left included."""
    least = {NAME: _NAME_LEAST, DOING: _DOING_LEAST}
    return 1 + sum(least.get(each.name, each.width) for each in placed) + gap * (len(placed) - 1)


def _is_comfortable(placed: Sequence[Placed], width: int, gap: int) -> bool:
    """Whether what each does has its share of the room, and its name enough."""
    spare = _spare(placed, width, gap)
    return not any(each.name == DOING for each in placed) or spare >= _doing(placed, width) + _NAME_COMFORTABLE


def _spare(placed: Sequence[Placed], width: int, gap: int) -> int:
    """What is left for the name and what each does."""
    fixed = sum(each.width for each in placed if each.name not in (NAME, DOING))
    return max(width - 1 - gap * (len(placed) - 1) - fixed, 0)


def _doing(placed: Sequence[Placed], width: int) -> int:
    """The share of what each does: two fifths. Beside projects, where there is less room, names need more of it: agents
    of several projects are alike but for their work."""
    is_tight = width < _WIDE and any(each.name == _PROJECT for each in placed)
    return ceil(width * (1 / 3 if is_tight else 2 / 5))


def _doing_least(placed: Sequence[Placed], width: int, gap: int, claim: RoomAsked) -> int:
    """What is left of that share where names ask for more, because they are alike or the table is wide."""
    if claim.enough:
        share = ceil(width / (5 if width < _NARROW else 4))
    else:
        share = _spare(placed, width, gap) // 2 if width >= _WIDE else _doing(placed, width)
    return max(share if claim.doing is None else min(share, claim.doing), _DOING_LEAST)


def _economy(placed: Sequence[Placed], kept: Collection[str]) -> tuple[int, int, int] | None:
    """What is given up next: its rank, the number of a column, and how wide it is then."""
    ranked: list[tuple[int, int, int]] = []
    for number, (each, width) in enumerate(placed):
        if each.small and width > each.small:
            ranked.append((each.shrinks, number, each.small))
        elif each.goes:
            ranked.append((min(each.goes, _LUXURY - 1) if each.name in kept else each.goes, number, 0))
    return max(ranked, default=None)


def _share(placed: list[Placed], width: int, gap: int, claim: RoomAsked) -> list[Placed]:
    """Give what room is left to the name and to what it does, of which the latter says more, unless names are cut for
    it that tell rows apart, or beside cells that stay empty."""
    spare = _spare(placed, width, gap)
    if not any(each.name == DOING for each in placed):
        return [each._replace(width=spare) if each.name == NAME else each for each in placed]
    doing = min(max(_doing(placed, width), spare // 2), max(spare - _NAME_LEAST, 0))
    name = min(spare - doing, _NAME_MOST)
    name = max(name, min(claim.whole, spare - _doing_least(placed, width, gap, claim)))
    widths = {NAME: name, DOING: spare - name}
    return [each._replace(width=widths.get(each.name, each.width)) for each in placed]


def _bare(width: int) -> Layout:
    """The name with its project, and what a state is in one sign or one word."""
    state = COLUMNS["state"]
    sign = state.small if width >= _BARE // 2 + state.small else 1
    name = standing_in(Placed(COLUMNS[NAME], max(width - 2 - sign, 0)))
    return Layout(width, 1, (name, Placed(state, sign)))
