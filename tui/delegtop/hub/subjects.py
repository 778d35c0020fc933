"""By what names things stand at a hub. The host in the name is the one that counts: rights go by it."""

from hashlib import blake2b

from delegtop.base.hub_address import HubAddressError, checked_hub_host

ROOT = "delegtop.v1"
CALL = f"{ROOT}.call"
"""Whoever hears it says at once that it is there."""
STREAM, HOSTS = "DELEGTOP", "DELEGTOP_HOSTS"
"""The stream of all that is told, and the bucket with one entry a host."""
RUN, SEQUENCE, MESSAGE_ID = "Delegtop-Run", "Delegtop-Seq", "Nats-Msg-Id"
"""Headers: which start of the shipper it is of; up to which message of the stream all is told; what makes two one."""
INBOX = "_INBOX"


def told(host: str, source: str) -> str:
    """Pieces of a recording that tell of one source."""
    named = blake2b(source.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
    return f"{ROOT}.{host}.told.{named}"


def all_told(host: str = "*") -> str:
    return f"{ROOT}.{host}.told.>"


def beat(host: str = "*") -> str:
    return f"{ROOT}.{host}.beat"


def want(host: str = "*") -> str:
    return f"{ROOT}.{host}.want"


def presence(bucket: str, host: str = ">") -> str:
    """The entry of a host in a bucket of that name."""
    return f"$KV.{bucket}.{host}"


def bucket_stream(bucket: str) -> str:
    return f"KV_{bucket}"


def host_of(subject: str) -> str | None:
    """Whom a message is of, whatever it says itself; None if that is no name of a host."""
    words = subject.split(".")
    place = 2 if subject.startswith(("$KV.", f"{ROOT}.")) and len(words) > 2 else None
    try:
        return None if place is None else checked_hub_host(words[place])
    except HubAddressError:
        return None
