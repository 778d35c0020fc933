"""Views: ways of looking at the tree, kept under a name, and the last one.

They are kept in the state folder. What cannot be read is put aside and told, and costs nothing else.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from delegtop.app.state import state_file
from delegtop.base.system_errors import reason_of

NAME = "views.json"
MOST = 200
LONGEST = 40
"""Characters of a name."""


class View(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way of looking."""

    filter: str = ""
    sort: str = "problems"
    reverse: bool = False
    columns: tuple[str, ...] = ()
    """The usual ones if there is none."""
    only_open: bool = False


class _File(msgspec.Struct):
    schema_version: int = 1
    last: View = View()
    views: dict[str, View] = {}


class Views:
    """All that are kept, in the order they were."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.trouble = ""
        """Why they could not be read or kept; nothing if all is well."""
        self.given: Mapping[str, object] = {}
        """What was asked for at this start alone, by the fields of a view: it is not how one looks next time."""
        self._file = self._read()

    @property
    def path(self) -> Path:
        return self._path or state_file.place(NAME)

    def _read(self) -> _File:
        try:
            if state_file.stamp(self.path) is None:
                return _File()
            return msgspec.json.decode(state_file.read(self.path), type=_File)
        except OSError as error:
            self.trouble = f"views cannot be read: {reason_of(error)}"
        except (ValueError, RecursionError) as error:
            aside = state_file.put_aside(self.path)
            where = f"what was there is in {aside}" if aside else "no new ones will be kept"
            self.trouble = f"views cannot be read ({error}); {where}"
        return _File()

    @property
    def last(self) -> View:
        """The one that was looked through last."""
        return self._file.last

    @property
    def names(self) -> list[str]:
        return list(self._file.views)

    def named(self, name: str) -> View | None:
        return self._file.views.get(name)

    def remember(self, view: View) -> None:
        """It is looked through now."""
        last = self._file.last
        given = {name: getattr(last, name) for name, value in self.given.items() if getattr(view, name) == value}
        view = msgspec.structs.replace(view, **given)
        if view != last:
            self._file.last = view
            self._save()

    def keep(self, name: str, view: View) -> bool:
        """True if it is kept; else `trouble` says why not."""
        self._file.views[name] = view
        while len(self._file.views) > MOST:
            del self._file.views[next(iter(self._file.views))]
        return self._save()

    def drop(self, name: str) -> bool:
        self._file.views.pop(name, None)
        return self._save()

    def _save(self) -> bool:
        try:
            state_file.write(self.path, msgspec.json.format(msgspec.json.encode(self._file), indent=1) + b"\n")
        except OSError as error:
            self.trouble = f"views cannot be kept: {reason_of(error)}"
            return False
        self.trouble = ""
        return True


def wrong_name(name: str) -> str:
    """Why a view cannot be called that; nothing if it can."""
    if not name.strip():
        return "A view needs a name."
    if len(name) > LONGEST or not name.isprintable():
        return f"A name has at most {LONGEST} characters that can be seen."
    return ""
