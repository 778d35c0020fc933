"""The ways of sending messages away, with the addresses that the user has set."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from delegtop.base.secret_references import SecretError, resolve
from delegtop.notify import NotifyError, Say
from delegtop.notify.courier import Courier
from delegtop.notify.discord import discord
from delegtop.notify.http_post import AddressError, checked
from delegtop.notify.ntfy import ntfy
from delegtop.notify.outbox import Outbox
from delegtop.notify.slack import slack
from delegtop.notify.web_way import WebWay
from delegtop.notify.webhook import webhook
from delegtop.setting_tables import Notifications


class _Settings(NamedTuple):
    make: Callable[..., WebWay]
    address: str
    secret: str = ""
    """The setting with what goes along, if there is such a thing."""


WEB_WAYS = {
    "ntfy": _Settings(ntfy, "ntfy_url", "ntfy_token"),
    "slack": _Settings(slack, "slack_url"),
    "discord": _Settings(discord, "discord_url"),
    "webhook": _Settings(webhook, "webhook_url", "webhook_secret"),
}


def courier(name: str, settings: Notifications, say: Say, outbox: Outbox, environ: Mapping[str, str]) -> Courier:
    """The way of that name; NotifyError if it is not set, or cannot work."""
    make, address, secret = WEB_WAYS[name]
    key = f"notifications.{address}"
    if not getattr(settings, address):
        raise NotifyError(f"{name} has no address: set {key} in your own settings (docs/notifications.md)")
    try:
        made = make(
            checked(_resolved(settings, address, environ), allow_http=settings.allow_http),
            *_beside(settings, secret, environ),
        )
    except AddressError as error:
        raise NotifyError(f"{key} {error}") from None
    return Courier(made, say, outbox)


def _beside(settings: Notifications, secret: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What goes along, if anything does."""
    found = _resolved(settings, secret, environ) if secret else ""
    if not (found.isascii() and found.isprintable()) and found:
        raise NotifyError(f"notifications.{secret} has characters that no header can hold")
    return (found,) if found else ()


def _resolved(settings: Notifications, name: str, environ: Mapping[str, str]) -> str:
    try:
        return resolve(getattr(settings, name), environ)
    except SecretError as error:
        raise NotifyError(f"notifications.{name}: {error}") from None
