"""Gathering the live page: what of it is another since the last look, and no more than that.

A row is made again only if the version of its delegation or what is the matter with it is another; a card, which asks
the rules what to do, at once if its assessment is, and else now and then. What is known of one delegation in full is
gathered when somebody asks (`incident_details.py`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from delegtop.base.clock import Millis, monotonic
from delegtop.diagnosis.assessment import Assessment, Urgency
from delegtop.diagnosis.assessments import Assessments
from delegtop.diagnosis.case import unseen
from delegtop.diagnosis.pressing import Pressing
from delegtop.model.forest import Forest
from delegtop.model.query import FilterQuery
from delegtop.model.store.ledger import Handle
from delegtop.report.health import Health, ails
from delegtop.report.host_table import HostRow
from delegtop.report.incident import incident_words as words
from delegtop.report.incident.incident_details import IncidentDetails, Raw
from delegtop.report.incident.incident_gantt import ROWS as DRAWN
from delegtop.report.live_page import page_hosts, page_html
from delegtop.report.live_page.page_rows import PageRows, RowPlace
from delegtop.report.walk import rows, with_ancestors

CARDS = 12
"""Problems of this moment that are told in full; the tree has all of them."""
ROWS = 1_500
"""Delegations in the tree, those that are at work first."""
_SELDOM = 2.0
"""Seconds between two looks at what costs more and is seldom another: filters, and what to do of the same problem."""
STUCK, TREE, EARLIER = "stuck", "tree", "earlier"
LISTS = (STUCK, TREE, EARLIER)


class PageBlock(NamedTuple):
    """A part of the page, and in which version it became what it is."""

    html: str
    version: int


class PageList(NamedTuple):
    """The blocks of one list in their order, and since which version they stand so."""

    ids: tuple[str, ...]
    version: int


class PagePicture(NamedTuple):
    """The whole page at one moment; it does not change any more."""

    run: str
    version: int
    at: Millis
    blocks: Mapping[str, PageBlock]
    lists: Mapping[str, PageList]
    problems: int

    @property
    def name(self) -> str:
        return f"{self.run}-{self.version}"

    def since(self, name: str) -> int:
        """The version of that name; before the first if it is none of this run."""
        run, _, version = name.partition("-")
        known = run == self.run and version.isdecimal() and len(version) < 10
        return int(version) if known and int(version) <= self.version else -1


class _Made(NamedTuple):
    """A block, and what it was made from."""

    stamp: tuple[Any, ...]
    html: str
    at: float


class PageGathering:
    """Kept up by `update`; `picture` is what there is to show."""

    def __init__(self, assessments: Assessments, query: FilterQuery | None = None) -> None:
        self._assessments, self._forest = assessments, assessments.forest
        self._query = query or None
        self._pressing = Pressing(assessments)
        self._rows = PageRows(assessments)
        self._made: dict[str, _Made] = {}
        self._fitting: set[Handle] = set()
        self._filtered_at = float("-inf")
        self._seen: tuple[int, int] = (-1, -1)
        self._places: dict[Handle, tuple[int, RowPlace]] = {}
        self._hosts: Counter[str] = Counter()
        self._trees: dict[str, list[tuple[Handle, int]]] = {TREE: [], EARLIER: []}
        self._shown: Collection[Handle] = ()
        self.is_behind = False
        """Whether something was put off that is to be looked at soon."""
        self.picture = PagePicture(token_hex(4), 0, self._forest.shown_at, {}, {}, 0)

    def update(
        self,
        changed: Iterable[Handle],
        lives: Iterable[Handle],
        sources: Sequence[Health],
        hosts: Sequence[HostRow] = (),
    ) -> bool:
        """These are assessed otherwise, and of these more changed than what they do; True if the page is another."""
        self.is_behind = False
        moved = bool(lives)
        self._pressing.update(changed, moved=moved)
        if self._query is not None:
            moved |= self._refilter()
        seen = (self._assessments.version, len(self._forest))
        if moved or seen != self._seen:
            self._seen = seen
            self._arrange()
        return self._draw(sources, hosts)

    def _refilter(self) -> bool:
        """Look again at who fits; by time alone somebody may do so, or no longer."""
        assert self._query is not None  # noqa: S101 # nobody calls it without one
        if monotonic() - self._filtered_at < _SELDOM:
            self.is_behind = True
            return False
        fitting = self._query.among(self._forest)
        self._filtered_at = monotonic()
        before, self._fitting = self._fitting, fitting
        return before != fitting

    def _arrange(self) -> None:
        """Put the trees in the order of looking: what is at work or in trouble now, and what was earlier."""
        forest = self._forest
        shown = None if self._query is None else with_ancestors(forest, self._fitting)
        self._shown = range(len(forest)) if shown is None else shown
        self._trees = {TREE: [], EARLIER: []}
        place = self._trees[TREE]
        for row in rows(forest, shown, self._pressing.key):
            if not row.level:
                is_now = self._pressing.key(row.handle)[0] <= Urgency.AT_WORK
                place = self._trees[TREE if is_now else EARLIER]
            place.append((row.handle, row.level))

    # -- drawing -----------------------------------------------------------------------------------------------------

    def _draw(self, sources: Sequence[Health], hosts: Sequence[HostRow]) -> bool:
        room = ROWS
        kept: dict[str, list[tuple[Handle, int]]] = {}
        for name, tree in self._trees.items():
            kept[name], room = tree[:room], max(room - len(tree), 0)
        self._learn_places(handle for tree in kept.values() for handle, _ in tree)
        now = [each for each in self._assessments.now() if self._query is None or each.handle in self._fitting]
        blocks = {f"s{each.handle}": self._card(each) for each in now[:CARDS]}
        lists = {STUCK: tuple(blocks)}
        for name, tree in kept.items():
            lists[name] = tuple(f"r{handle}" for handle, _ in tree)
            blocks |= {f"r{handle}": self._row(handle, level) for handle, level in tree}
        blocks |= self._about(now, {name: len(tree) for name, tree in kept.items()}, sources, hosts)
        self._made = {id: made for id, made in self._made.items() if id in blocks}
        return self._show(blocks, lists, len(now))

    def _show(self, blocks: Mapping[str, str], lists: Mapping[str, tuple[str, ...]], problems: int) -> bool:
        before, version = self.picture, self.picture.version + 1
        after = PagePicture(
            before.run,
            version,
            self._forest.shown_at,
            {id: _block(before.blocks.get(id), html, version) for id, html in blocks.items()},
            {name: _list(before.lists.get(name), ids, version) for name, ids in lists.items()},
            problems,
        )
        same = after.blocks == before.blocks and after.lists == before.lists
        self.picture = after._replace(version=before.version) if same else after
        return not same

    def _learn_places(self, handles: Iterable[Handle]) -> None:
        """Where each works: what is told of that in all rows depends on how many places there are."""
        places: dict[Handle, tuple[int, RowPlace]] = {}
        for handle in handles:
            version, known = self._forest.version(handle), self._places.get(handle)
            places[handle] = known if known and known[0] == version else (version, self._rows.place(handle))
        self._places = places
        self._hosts = Counter(place.host for _, place in places.values())
        self._rows.tells_hosts = len(self._hosts) > 1 or self._forest.has_hosts

    def _row(self, handle: Handle, level: int) -> str:
        found = self._assessments.known(handle)
        stamp = (self._forest.version(handle), level, self._around(), found, self._rows.as_of(handle))
        return self._kept(f"r{handle}", stamp) or self._make(f"r{handle}", stamp, self._rows.row(handle, level, found))

    def _card(self, found: Assessment) -> str:
        id, path = f"s{found.handle}", [found.handle]
        while (above := self._forest.parent(path[-1])) is not None:
            path.append(above)
        stamp = (tuple(map(self._forest.version, path)), self._around(), found, self._rows.as_of(found.handle))
        known = self._made.get(id)
        same_problem = known is not None and known.stamp[1:] == stamp[1:]
        if known is not None and same_problem and known.stamp != stamp and monotonic() - known.at < _SELDOM:
            self.is_behind = True  # what to do may be another: its session may have come to an end
            return known.html
        return self._kept(id, stamp) or self._make(id, stamp, self._rows.card(found))

    def _around(self) -> tuple[int, bool]:
        """What of all others is told in each."""
        return len(self._rows.projects), self._rows.tells_hosts

    def _kept(self, id: str, stamp: tuple[Any, ...]) -> str:
        known = self._made.get(id)
        return known.html if known is not None and known.stamp == stamp else ""

    def _make(self, id: str, stamp: tuple[Any, ...], html: str) -> str:
        self._made[id] = _Made(stamp, html, monotonic())
        return html

    def _about(
        self,
        now: Sequence[Assessment],
        rows_shown: Mapping[str, int],
        sources: Sequence[Health],
        hosts: Sequence[HostRow],
    ) -> dict[str, str]:
        """What is told of all of them."""
        forest, known = self._forest, self._assessments.known
        waiting = sum(
            found is not None
            and not found.problem
            and found.waits_on is not None
            and _is_problem(known(found.waits_on))
            for found in map(known, self._shown)
        )
        lead = words.in_trouble(len(self._shown), len(now), waiting, self._earlier())
        counts = Counter(forest.state(handle) for handle in self._shown)
        more = {name: len(self._trees[name]) - count for name, count in rows_shown.items()}
        return {
            "lead": page_html.lead(lead, len(now)),
            "about": page_html.about(
                counts, self._hosts, len(sources), sum(map(ails, sources)), page_hosts.told(forest, hosts)
            ),
            "missing": page_hosts.missing(hosts),
            "more-stuck": page_html.more("more-stuck", max(len(now) - CARDS, 0), "in trouble, marked in the tree"),
            "more-tree": page_html.more("more-tree", more[TREE], "at work"),
            "more-earlier": page_html.more("more-earlier", more[EARLIER], "earlier"),
            "earlier-title": page_html.earlier(len(self._trees[EARLIER])),
        }

    # -- one of them -------------------------------------------------------------------------------------------------

    def shows(self, handle: Handle) -> bool:
        return handle in self._shown

    def details(self, handle: Handle, raw: Raw) -> Iterator[str]:
        """All that is known of one delegation, as a page; `raw` reads a line again."""
        forest, known = self._forest, self._assessments
        details = IncidentDetails(known, known.of, raw, lambda _: unseen, self._rows.projects)
        root = handle
        while (above := forest.parent(root)) is not None:
            root = above
        tree = [
            details.node(each, level, in_trouble=_is_problem(known.known(each)))
            for each, level in _below(forest, root, DRAWN)
        ]
        times = self._rows.times(handle)
        return page_html.details(details.trouble(handle), times.sentence(known.of(handle).said), tree, times)

    def _earlier(self) -> str:
        """The troubles that are over, in a few words."""
        if self._query is None:
            return words.kinds(self._assessments.earlier())
        over = (each for each in self._assessments.problems() if not each.is_now and each.handle in self._fitting)
        return words.kinds(Counter(each.kind for each in over))


def _is_problem(found: Assessment | None) -> bool:
    return found is not None and found.problem


def _below(forest: Forest, root: Handle, most: int) -> Iterator[tuple[Handle, int]]:
    """A tree, parents before children, with their levels."""
    pending = [(root, 0)]
    while pending and most:
        handle, level = pending.pop()
        yield handle, level
        most -= 1
        pending += [(child, level + 1) for child in reversed(forest.children(handle))]


def _block(before: PageBlock | None, html: str, version: int) -> PageBlock:
    return before if before is not None and before.html == html else PageBlock(html, version)


def _list(before: PageList | None, ids: tuple[str, ...], version: int) -> PageList:
    return before if before is not None and before.ids == ids else PageList(ids, version)
