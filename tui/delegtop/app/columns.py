"""The columns of the tree-table, and which of them there is room for."""

from functools import lru_cache
from typing import NamedTuple

BAR = 8
"""Cells of the bar that shows how much time is left."""
TIME = 8
"""Cells of any span of time: `+1:02:11`, `26:10:00`."""


class Column(NamedTuple):
    """One column. `width` is what it needs, or the least it can live with if it takes what is spare."""

    name: str
    title: str
    width: int
    right: bool = False
    sort: str | None = None
    """What a click on its title sorts by."""


class Layout(NamedTuple):
    """The columns for one width of the table, with their widths settled. All cells and gaps together fill it."""

    width: int
    gap: int
    columns: tuple[Column, ...]

    def column_at(self, x: int) -> Column | None:
        """The column under this cell; a gap belongs to the column before it."""
        end = 1
        for column in self.columns:
            end += column.width + self.gap
            if x < end:
                return column
        return None


_DELEGATION = Column("delegation", "DELEGATION", 22, sort="name")
_STATE = Column("state", "STATE", 13, sort="problems")
_DEPTH = Column("depth", "DEPTH", 5, right=True)
_TASK = Column("task", "TASK", 10)
_LEFT = Column("left", "LEFT", TIME + 1 + BAR, sort="deadline")
_LEFT_TEXT = _LEFT._replace(width=TIME, right=True)
"""Without the bar: in 80 columns words are worth more."""
_AGE = Column("age", "AGE", TIME, right=True, sort="age")
_QUIET = Column("quiet", "QUIET", TIME, right=True, sort="quiet")
_TOKENS = Column("tokens", "TOKENS", 6, right=True)
_PROBLEMS = Column("problems", "PROBLEMS", 12)
_PROBLEMS_KIND = _PROBLEMS._replace(width=22)
"""With what is going on in two or three words."""
_PROBLEMS_WORDS = _PROBLEMS._replace(width=36)
"""With the words of the worst finding instead of its rule."""
_PROBLEMS_MARK = _PROBLEMS._replace(title="!", width=2)
"""Only the sign, and how many."""
_DOING = Column("doing", "DOING", 12)

_WIDEST_DELEGATION = 64
_LEAST = 4

# From everything down to the name alone: (the least width at which it is comfortable, the gap, the columns).
_CHOICES: tuple[tuple[int, int, tuple[Column, ...]], ...] = (
    (210, 2, (_DELEGATION, _STATE, _DEPTH, _TASK, _LEFT, _AGE, _QUIET, _TOKENS, _PROBLEMS_WORDS, _DOING)),
    (186, 2, (_DELEGATION, _STATE, _DEPTH, _TASK, _LEFT, _AGE, _QUIET, _TOKENS, _PROBLEMS_KIND, _DOING)),
    (158, 2, (_DELEGATION, _STATE, _DEPTH, _LEFT, _AGE, _QUIET, _TOKENS, _PROBLEMS_KIND, _DOING)),
    (140, 2, (_DELEGATION, _STATE, _DEPTH, _LEFT, _AGE, _QUIET, _PROBLEMS, _DOING)),
    (128, 2, (_DELEGATION, _STATE, _LEFT, _AGE, _QUIET, _PROBLEMS, _DOING)),
    (104, 2, (_DELEGATION, _STATE, _LEFT, _QUIET, _PROBLEMS, _DOING)),
    (92, 2, (_DELEGATION, _STATE, _LEFT_TEXT, _QUIET, _PROBLEMS, _DOING)),
    (77, 1, (_DELEGATION, _STATE, _LEFT_TEXT, _QUIET, _PROBLEMS_MARK, _DOING)),
    (64, 1, (_DELEGATION, _STATE, _LEFT, _QUIET)),
    (55, 1, (_DELEGATION, _STATE, _LEFT)),
    (46, 1, (_DELEGATION, _STATE, _LEFT_TEXT)),
    (32, 1, (_DELEGATION._replace(width=16), _STATE)),
    (0, 1, (_DELEGATION._replace(width=0), _STATE._replace(title="", width=1))),
)


@lru_cache(64)
def layout(width: int) -> Layout:
    """The most columns that are comfortable in so many cells. One cell on the left stays free."""
    if width < _LEAST:
        return Layout(width, 0, ())
    gap, columns = next((gap, columns) for least, gap, columns in _CHOICES if width >= least)
    room = width - 1 - gap * (len(columns) - 1)
    spare = max(room - sum(column.width for column in columns), 0)
    doing = columns[-1].name == "doing"
    name = columns[0].width + (min(spare // 2, _WIDEST_DELEGATION - columns[0].width) if doing else spare)
    settled = [columns[0]._replace(width=max(min(name, room - 1), 0)), *columns[1:]]
    if doing:
        settled[-1] = settled[-1]._replace(width=settled[-1].width + columns[0].width + spare - name)
    return Layout(width, gap, tuple(settled))
