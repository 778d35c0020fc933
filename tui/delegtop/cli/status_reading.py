"""The logs, read for `delegtop status`: where nobody keeps the file fresh, or other logs are asked about; and who keeps
it fresh."""

import os
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from delegtop.base.clock import SECOND, spent
from delegtop.base.paths import is_there
from delegtop.cli import options, reading
from delegtop.cli.diagnostics import UsageError

if TYPE_CHECKING:
    from delegtop.diagnosis.assessments import Assessments
    from delegtop.observation.observation import Observation
    from delegtop.report.status.machine_status import MachineStatus
    from delegtop.report.status.status_keeper import StatusKeeper
    from delegtop.settings import Loaded, Settings

_NAME = "status"


def read_everywhere(*, keep: bool) -> "MachineStatus":
    """How everything stands now, in the places that are the same for all; with `keep` it is written down."""
    from delegtop.observation import observation, source_discovery

    settings = users_settings()
    with observation.opened(source_discovery.everywhere(settings), settings) as seen:
        seen.read()
        found = _status(seen)
    if keep:
        from delegtop.report.status import status_file

        with suppress(OSError):  # then whoever asks next reads them again
            status_file.write(found)
    return found


def uncounted() -> int:
    """How many delegations `tree` would count here that are in logs of this folder alone, which the line says nothing
    of: it must not depend on the folder it is asked for in."""
    from delegtop.observation import observation, source_discovery

    try:
        settings = options.checked(None, {}).settings
        found = source_discovery.places([], settings)
    except (UsageError, source_discovery.OpenError):  # then `tree` counts nothing
        return 0
    is_counted = source_discovery.is_everywhere(settings)
    rest = [source for source in found.sources if not is_counted(source)]
    if not rest:
        return 0
    with observation.opened(found.as_is()._replace(sources=rest), settings) as seen:
        seen.read(asks_kernel=False)
        return len(seen.forest)


def read_named(arguments: Namespace) -> "tuple[MachineStatus, bool]":
    """How what is asked about stands, and whether some of it could not be read."""
    arguments = Namespace(**vars(arguments), format=None)
    seen = reading.read(arguments, options.load(arguments).settings)
    return _status(seen), reading.complain(seen.sources, seen.statuses)


def _status(seen: "Observation") -> "MachineStatus":
    from delegtop.report.status.status_gather import gather  # the dashboard needs it after its first picture

    seen.assessments.update()
    cost, masked = round(spent() * SECOND), seen.settings.mask_secrets
    return gather(seen.assessments, _NAME, cost=cost, masked=masked, statuses=seen.statuses)


def users_settings() -> "Settings":
    """Those of the user alone: what the line says must not depend on the folder it is asked for in."""
    from delegtop.settings import candidates

    path = candidates()[0]
    return options.checked(path if is_there(path) else Path(os.devnull), {}).settings


# -- who keeps it fresh ------------------------------------------------------------------------------------------------

_OTHERWISE = ("sources", "hosts", "since", "here", "all", "format", "at", "config")
"""What makes it another look than that of the line."""

Keeping = Callable[["Assessments"], "StatusKeeper"]


def keeping(arguments: Namespace, loaded: "Loaded", by: str) -> Keeping | None:
    """How a look that goes on keeps the file; None if it is of other logs, or judged by other settings."""
    from delegtop.settings import candidates

    given = vars(arguments)
    if any(given.get(name) for name in _OTHERWISE) or str(candidates()[1]) in loaded.origins.values():
        return None

    def keeper(assessments: "Assessments") -> "StatusKeeper":
        from delegtop.observation.source_discovery import is_everywhere
        from delegtop.report.status.status_keeper import StatusKeeper

        settings = loaded.settings
        return StatusKeeper(assessments, by, counted=is_everywhere(settings), masked=settings.mask_secrets)

    return keeper
