"""What a hub keeps: the stream of all that is told, and the bucket of hosts. Both are made if they are not there, and
what they may take up is set anew."""

from delegtop.hub import subjects
from delegtop.hub.nats_client import HubClient, HubError

_NANO = 1_000_000
"""Nanoseconds of a millisecond."""
WINDOW = 120_000
"""Milliseconds within which two messages of one id are one."""
_BUCKET_BYTES = 64 * 1024 * 1024
_ENTRY = 64 * 1024


async def prepare(
    client: HubClient, keep: int, most: int, *, replicas: int = 1, stream: str = subjects.STREAM, hosts: str = ""
) -> None:
    """Have both there: what was told goes after `keep` milliseconds, or earlier beyond `most` bytes."""
    told = {
        "name": stream,
        "subjects": [subjects.all_told()],
        "retention": "limits",
        "storage": "file",
        "discard": "old",
        "max_age": keep * _NANO,
        "max_bytes": most,
        "max_msg_size": 1024 * 1024,
        "duplicate_window": min(WINDOW, keep) * _NANO,
        "num_replicas": replicas,
        "max_consumers": -1,
        "max_msgs": -1,
        "deny_purge": False,
    }
    bucket = hosts or subjects.HOSTS
    present = {
        "name": subjects.bucket_stream(bucket),
        "subjects": [subjects.presence(bucket)],
        "retention": "limits",
        "storage": "file",
        "discard": "new",
        "max_msgs_per_subject": 1,
        "max_age": keep * _NANO,
        "max_bytes": _BUCKET_BYTES,
        "max_msg_size": _ENTRY,
        "duplicate_window": min(WINDOW, keep) * _NANO,
        "num_replicas": replicas,
        "max_consumers": -1,
        "max_msgs": -1,
        "allow_rollup_hdrs": True,
        "deny_delete": True,
    }
    for wanted in (told, present):
        try:
            await client.ask(f"STREAM.CREATE.{wanted['name']}", wanted)
        except HubError as error:
            if "already in use" not in str(error):
                raise
            await client.ask(f"STREAM.UPDATE.{wanted['name']}", wanted)
