"""The ways of telling that are set, made for a command."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from delegtop.cli import diagnostics
from delegtop.cli.diagnostics import fail

if TYPE_CHECKING:
    from delegtop.notify.notifier import Hook, Notifier
    from delegtop.notify.otlp_sender import OtlpSender
    from delegtop.settings import Loaded, Settings


def notifier_of(loaded: "Loaded") -> "Notifier":
    """The ways that are set; a usage error if one cannot work here."""
    from delegtop.notify import NotifyError
    from delegtop.notify.notifier import notifier
    from delegtop.settings import blamed

    settings = loaded.settings
    try:
        return notifier(
            settings.notify,
            settings.notify_command,
            settings.notifications,
            ring=diagnostics.ring,
            say=diagnostics.say,
            masked=settings.mask_secrets,
        )
    except NotifyError as problem:
        fail(f"{blamed(loaded, 'notify')}: {problem}")


def hook_of(command: Sequence[str], settings: "Settings") -> "Hook":
    """The command of --exec; a usage error if there is no such program."""
    from delegtop.notify import NotifyError
    from delegtop.notify.notifier import Hook

    try:
        return Hook(command, diagnostics.say, masked=settings.mask_secrets)
    except NotifyError as problem:
        fail(f"--exec: {problem}")


def otlp_of(url: str | None, loaded: "Loaded") -> "OtlpSender | None":
    """The collector of --otlp, else of the settings; a usage error if nothing may be sent there."""
    from delegtop.notify import NotifyError

    notifications = loaded.settings.notifications
    address = url or notifications.otlp_url
    if not address:
        return None
    from delegtop.notify.otlp_sender import otlp_sender  # whoever sends nothing away loads nothing that does

    try:
        return otlp_sender(address, notifications, diagnostics.say, os.environ)
    except NotifyError as problem:
        from delegtop.settings import blamed

        fail(f"{'--otlp' if url else blamed(loaded, 'notifications.otlp_url')}: {problem}")
