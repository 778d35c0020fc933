"""What each key may do at a hub, as the server takes it. A host speaks for itself alone and reads nothing; who looks
reads all and writes nothing; who may ask for lines can ask every host, which answers as it sees fit."""

from typing import Any

from delegtop.hub import subjects
from delegtop.hub.hub_key import RAW, SHIP
from delegtop.hub.subjects import CALL, HOSTS, INBOX, STREAM

_EVERYTHING = {"publish": {"allow": [">"]}, "subscribe": {"allow": [">"]}}


def rights(can: str, name: str, public: str) -> dict[str, Any]:
    """Those of a key that was given to `name`; `can` is what for, empty for the hub itself."""
    if not can:
        return _EVERYTHING
    inbox = f"{INBOX}.{public}.>"
    if can == SHIP:
        return {
            "publish": {"allow": [f"{subjects.ROOT}.{name}.>", subjects.presence(HOSTS, name)]},
            "subscribe": {"allow": [inbox, subjects.want(name), CALL]},
            "allow_responses": {"max": 1, "expires": "10s"},
        }
    publish = [CALL]
    for stream in (STREAM, subjects.bucket_stream(HOSTS)):
        publish += [
            f"$JS.API.STREAM.INFO.{stream}",
            f"$JS.API.CONSUMER.CREATE.{stream}",
            f"$JS.API.CONSUMER.MSG.NEXT.{stream}.*",
        ]
    if can == RAW:
        publish.append(subjects.want())
    return {"publish": {"allow": publish}, "subscribe": {"allow": [inbox, subjects.beat()]}}
