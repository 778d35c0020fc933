"""The `activity` list that hyper keeps in the frontmatter of its `.mdx` files: which session wrote the file, and when.

One release describes it in two ways: the parent session stands beside the actor, or inside of it. Both are read. The
hook that writes it gives up in silence after five seconds, so what is not there may have happened all the same.
"""

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Any, ClassVar

from delegtop.dialects import About, Basis, Dialect, Sample, Unit
from delegtop.dialects.kit.salvage import Notes, moment, wrong_type
from delegtop.dialects.signature import Signature
from delegtop.model.deviation_kinds import DeviationKind
from delegtop.model.events import Event, Heard, Started
from delegtop.protocols.hyper import PRODUCT
from delegtop.sources.records import Line, Unreadable


class HyperActivity(Dialect):
    """Reads the frontmatter of one file of a hyper workspace."""

    name: ClassVar[str] = "hyper-activity"
    title: ClassVar[str] = "hyper activity list"
    product = PRODUCT
    surest: ClassVar[int] = 75
    signatures: ClassVar[tuple[Signature, ...]] = (Signature((b"---", b"activity:", b"actor:")),)
    about: ClassVar[About] = About(
        "hyper",
        "the frontmatter of the files of a workspace",
        "which session wrote what, and who started it",
        Basis.DOCUMENTED,
    )
    unit: ClassVar[Unit] = Unit.TEXT

    @classmethod
    def sniff(cls, sample: Sample) -> int:
        head = sample.head.lstrip(b"\xef\xbb\xbf")
        if not head.startswith(b"---"):
            return 0
        front = head[3:].partition(b"\n---")[0]
        return 75 if b"\nactivity:" in front and b"actor:" in front else 0

    def read(self, line: Line) -> Iterable[Event | Unreadable]:
        from delegtop.protocols.hyper.activity_list import ActivityError, entries  # YAML is slow to import

        notes = Notes(line.origin)
        try:
            activity, is_cut = entries(line.data.decode("utf-8-sig", "replace"))
        except ActivityError as error:
            yield Unreadable(line.origin, "bad frontmatter", str(error))
            return
        if is_cut:
            yield Unreadable(line.origin, "long activity list", "its older entries were left out")
        yield from activity_events(activity, line.origin.source, self.zone, notes)
        yield from notes.deviations()


def activity_events(given: Any, path: str | None, zone: tzinfo, notes: Notes) -> Iterator[Event]:
    """What the entries of one file tell of the sessions that wrote it."""
    if given is None:
        return
    if not isinstance(given, list):
        wrong_type("array", given, notes, "activity")
        return
    for number, each in enumerate(given):
        where = f"activity[{number}]"
        actor = each.get("actor") if isinstance(each, dict) else None
        if not isinstance(actor, dict):
            notes.add(DeviationKind.MISSING_FIELD, f"{where}.actor")
            continue
        id = actor.get("id")
        if actor.get("type", "session") != "session" or not isinstance(id, str) or not id:
            continue  # a person
        parent = each.get("parent_id") or actor.get("parent_id")
        at = moment(each.get("timestamp"), zone, notes, f"{where}.timestamp")
        yield Started(
            id,
            None,
            notes.origin,
            parent=parent if isinstance(parent, str) else None,
            refs=(("session_id", id),),
            product=PRODUCT.name,
        )
        action = each.get("action")
        doing = " ".join(part for part in (action if isinstance(action, str) else "wrote", path) if part)
        yield Heard(id, at, notes.origin, doing=doing)
