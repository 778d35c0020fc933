"""Where tests start processes and open terminals, and spend most of their time waiting for these."""

_UNIT = ("act", "cli", "delegate", "demo", "kernel", "mcp_server", "notify", "observation", "report/incident")
_PLACES = (
    *("agent programs", "live"),  # the names of groups
    *(f"tests/{each}/" for each in ("kills", "live", "terminal")),
    *(f"tests/unit/{each}/" for each in _UNIT),
)


def waits(place: str) -> bool:
    """Whether the tests of that file or group do."""
    return place.startswith(_PLACES)
