"""When all folders are looked through for new files, and which files are looked at in between."""

from collections.abc import Mapping, Sequence

from delegtop.base.clock import monotonic
from delegtop.feed.file_catalogue import FileCatalogue
from delegtop.feed.followed_file import FollowedFile
from delegtop.sources.wakeups import Waker

RESCAN_SECONDS = 2.0
_SURE = 15.0
"""So many times as long it is to the next look at all folders, at most, for that to take a quarter of a percent of a
core; it takes no more than one in any case. Where a file system reports nothing, so late is what is new there seen."""
SETTLING_SECONDS = 0.25
"""After folders came or went: until they are watched, what appears in them is only found by looking."""
HOT_SECONDS = 10.0
"""Of more than a few files, only those are looked at in every poll that the system says were written to, and those that
grew lately without its saying so."""
SIGN_SECONDS = 0.2
"""Between two looks for new files, however much else is said to change in their folders."""
_NEVER = float("-inf")
_WAL = "-wal"
"""What a database is called to which a program writes first."""
_HERE = "./"


class Rounds:
    """Of one feed."""

    def __init__(self, files: FileCatalogue, waker: Waker) -> None:
        self._files = files
        self._readings: Mapping[str, FollowedFile] = files.readings
        self._waker = waker
        self.is_followed = False
        """Whether the system is to report changes from now on."""
        self._looked_at = _NEVER
        self._again_after = RESCAN_SECONDS
        self._rested = 0.0
        """Seconds since the last look began that others were in a hurry."""
        self._sign_at = float("inf")
        """When to look for new files because something else than growth was reported."""
        self._signed: dict[str, FollowedFile] = {}
        """The files that are said to have been written to since they were last read."""
        self._silent: dict[str, FollowedFile] = {}
        """The files that grew lately and nobody said so."""
        self._folders: tuple[str, ...] = ()
        self._folders_changed_at = 0.0

    # -- all folders -----------------------------------------------------------------------------------------------

    @property
    def has_begun(self) -> bool:
        return self._looked_at != _NEVER

    def at_once(self) -> None:
        """The next look is at all folders."""
        self._looked_at = _NEVER

    def put_off(self) -> None:
        """As if all folders had just been looked at."""
        self._looked_at = monotonic()

    def is_due(self) -> bool:
        """Whether it is time to look at all folders."""
        if self._waker.stirred():
            changes = self._waker.grown()
            self._sign_at = 0.0 if not changes else min(self._sign_at, self._after_signs(changes))
        # Whoever still has files to open need not hear of newer ones at once: every look asks for all that is known.
        after = max(self._again_after, RESCAN_SECONDS) if self._files.waiting else self._again_after
        return monotonic() >= min(self._sign_at, self._looked_at + after)

    def _after_signs(self, changes: Sequence[str]) -> float:
        """When to look for new files. If all that happened is that files grew which are being read, there is nothing
        new to look for; the files are read now."""
        at = float("inf")
        for path in changes:
            reading = self._readings.get(path) or self._readings.get(path.removesuffix(_WAL).removeprefix(_HERE))
            if reading is not None:
                self._signed[reading.path] = reading
                reading.signed_at = monotonic()
            elif not path or self._files.is_unread(path):
                at = self._looked_at + SIGN_SECONDS
        return at

    def look(self) -> None:
        """Look for new files in all folders."""
        began, self._rested = monotonic(), 0.0
        folders = self._files.look_round()
        self._looked_at = monotonic()
        self._sign_at = float("inf")
        if self.is_followed:
            self._waker.watch(folders)
        if folders != self._folders:
            self._folders, self._folders_changed_at = folders, self._looked_at
        took = self._looked_at - began - self._rested
        settling = self._looked_at - self._folders_changed_at < RESCAN_SECONDS
        # Looking at thousands of folders takes a while; as long as changes are reported it is only to be sure.
        sure = max(1.0, min(200 * took, _SURE), 50 * took)
        usual = RESCAN_SECONDS * (sure if self._waker.mode == "watching" else max(0.5, 5 * took))
        self._again_after = min(max(SETTLING_SECONDS, 2 * took), usual) if settling else usual

    def rested(self, seconds: float) -> None:
        """So long others were in a hurry; that is no part of what a look takes."""
        self._rested += seconds

    def follow(self) -> None:
        """From now on somebody waits for changes."""
        if not self.is_followed:
            self.is_followed = True
            self._waker.watch(self._folders)

    @property
    def until_next(self) -> float:
        """Seconds."""
        return max(min(self._sign_at, self._looked_at + self._again_after) - monotonic(), 0.0)

    # -- single files ----------------------------------------------------------------------------------------------

    def due(self, *, whole: bool) -> list[FollowedFile]:
        """The files to look at now."""
        due, self._signed = self._signed, {}
        recently = monotonic() - HOT_SECONDS
        silent = self._silent.items()
        self._silent = {path: each for path, each in silent if each.heard_at > recently and not each.is_signed}
        if whole:
            return list(self._readings.values())
        if self._waker.mode == "watching":
            due |= {path: each for path, each in self._silent.items() if path in self._readings}
            return list(due.values())
        return [reading for reading in list(self._readings.values()) if reading.heard_at > recently]

    def heard(self, reading: FollowedFile) -> None:
        """It has grown."""
        reading.heard_at = monotonic()
        if not reading.is_signed:
            self._silent[reading.path] = reading

    def forget_unread(self) -> None:
        """What was put away is read no longer, and would be held until it has been silent for long."""
        self._silent = {path: each for path, each in self._silent.items() if path in self._readings}
