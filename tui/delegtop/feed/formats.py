"""Which format a file has, and which instance of it reads the file: one for each family of files."""

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo

from delegtop.dialects import Candidate, Dialect, Sample, in_order, known, load, loaded, surest_of
from delegtop.feed.recent_window import session_of

MANY = 64
"""Files of one format, after which that is asked of a file before its signatures are looked for."""


class Formats:
    """The installed dialects, each loaded when a file may need it. A broken one is left out and reported."""

    def __init__(self, forced: str | None, zone: tzinfo) -> None:
        self._zone = zone
        self._forced = load(forced) if forced else None
        self._known: list[Candidate] | None = None
        self._found: Counter[type[Dialect]] = Counter()
        self._families: dict[tuple[str, str], Dialect] = {}
        self.broken: dict[str, str] = {}
        """Formats that cannot be used, and why."""

    @property
    def is_forced(self) -> bool:
        return self._forced is not None

    def of(self, sample: Sample) -> type[Dialect] | None:
        """The format of a file. One that fails over it is left out from then on."""
        if self._forced is not None:
            return self._forced
        formats = self._all()
        try:
            found = surest_of(sample, formats)
        except Exception:  # noqa: BLE001 - the formats of other people may fail in any way
            formats[:] = [each for each in formats if self._copes(each, sample)]
            found = surest_of(sample, formats)
        if found is not None:
            self._found[found] += 1
            if self._found[found] == MANY:
                formats[:] = loaded(found, formats)
        return found

    def reader(self, dialect: type[Dialect], path: str) -> Dialect:
        """The instance that reads this file together with the rest of its family."""
        family = (dialect.name, dialect.family(path))
        if family not in self._families:
            self._families[family] = dialect(self._zone)
        return self._families[family]

    def readers_of(self, paths: Sequence[str]) -> set[Dialect]:
        """The readers there are of the families that these files belong to, whatever format they have."""
        kinds = {type(dialect) for dialect in self._families.values()} if paths else ()
        families = {(kind.name, kind.family(path)) for kind in kinds for path in paths}
        return {self._families[family] for family in families & self._families.keys()}

    def forget(self, dialect: Dialect, path: str) -> None:
        """The file is put away: the reader of it alone or of its session goes with it, one of several forgets its
        part."""
        family = dialect.family(path)
        if family == path or session_of(family):
            self._families.pop((dialect.name, family), None)
            return
        try:
            dialect.forget(path)
        except Exception as error:  # noqa: BLE001 - as above
            self.broken[dialect.name] = f"failed to forget {path}: {type(error).__name__}: {error}"

    def anew(self) -> "Formats":
        """For a reading that has nothing to do with this one."""
        return Formats(None, self._zone)

    def file_names(self) -> Sequence[str]:
        """The patterns of file names that some format looks for in folders."""
        kinds = self._all() if self._forced is None else [self._forced]
        return tuple(dict.fromkeys(pattern for dialect in kinds for pattern in dialect.files))

    def _copes(self, dialect: Candidate, sample: Sample) -> bool:
        try:
            surest_of(sample, [dialect])
        except Exception as error:  # noqa: BLE001 - as above
            self.broken[dialect.name] = f"failed over {sample.path}: {type(error).__name__}: {error}"
            return False
        return True

    def _all(self) -> list[Candidate]:
        if self._known is None:
            self._known = in_order(known(self.broken))
        return self._known


def can_forget(dialect: Dialect, path: str) -> bool:
    """Whether the file can be put away with its session and leave nothing undone."""
    return type(dialect).forget is not Dialect.forget or session_of(dialect.family(path)) is not None
