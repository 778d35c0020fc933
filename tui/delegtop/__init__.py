"""delegtop: top for AI-agent delegation. What `__all__` names is the public API (docs/api.md); the rest may change."""

__version__ = "0.2.0"

TYPE_CHECKING = False  # as in `typing`, which would cost more to import than all of this
if TYPE_CHECKING:
    from delegtop.base.clock import Millis
    from delegtop.base.product import Product
    from delegtop.dialects import Dialect, Sample
    from delegtop.model import events
    from delegtop.observation.observation import Changes, Issue, Observation, open, replay  # noqa: A004 -- its public name
    from delegtop.observation.source_discovery import OpenError
    from delegtop.settings import Settings
    from delegtop.sources.records import Record

__all__ = [
    "Changes",
    "Dialect",
    "Issue",
    "Millis",
    "Observation",
    "OpenError",
    "Product",
    "Record",
    "Sample",
    "Settings",
    "__version__",
    "events",
    "open",
    "replay",
]

_HOMES = {
    "Changes": "observation.observation",
    "Dialect": "dialects",
    "Issue": "observation.observation",
    "Millis": "base.clock",
    "Observation": "observation.observation",
    "OpenError": "observation.source_discovery",
    "Product": "base.product",
    "Record": "sources.records",
    "Sample": "dialects",
    "Settings": "settings",
    "events": "model.events",
    "open": "observation.observation",
    "replay": "observation.observation",
}
"""The module of each name: it is imported when somebody asks for it."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        home = import_module(f"{__name__}.{_HOMES[name]}")
        value = getattr(home, name, home)  # the events are a module of that name
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
