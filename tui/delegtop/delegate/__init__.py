"""The writing side: delegations made visible and safe. Everything an orchestrator needs is importable from here.

with delegation(None, "implement", log="run.jsonl") as work:
    found = work.invoke("researcher", ["claude", "-p", "Find a parser"], timeout=600)
    work.complete(f"The research is {found.status}. See its artifacts.")

docs/writing-api.md has it all. Names are loaded when somebody asks for them: `delegtop run` needs few, and no model.
"""

TYPE_CHECKING = False  # as in `typing`, which this needs for nothing else
if TYPE_CHECKING:
    from delegtop.delegate.context import Context
    from delegtop.delegate.handed_work import Work, delegation
    from delegtop.delegate.invocation import AsyncSubagent, CommandLine, Subagent, Within, ainvoke, invoke
    from delegtop.delegate.journal import Journal
    from delegtop.delegate.new_session_id import generate_session_id
    from delegtop.delegate.prepare import (
        CONTEXT_VARIABLE,
        LOG_VARIABLE,
        REGISTRY_VARIABLE,
        SESSION_VARIABLE,
        ContextInvalid,
        DelegationContext,
        DelegationRefused,
        check_cycle,
        check_depth,
        prepare_delegation,
    )
    from delegtop.delegate.propagate import recovery_message
    from delegtop.delegate.registry import Active, DelegationRegistry, Listing
    from delegtop.delegate.registry_file import RegistryFile, RegistryInvalid, SharedRegistryFile
    from delegtop.delegate.return_objects import standard_return, timeout_error, timeout_return
    from delegtop.delegate.return_validation import ReturnInvalid, extract_return, validate_return
    from delegtop.protocols.standard.contract.return_contract import ArtifactType, ErrorType, Status
    from delegtop.protocols.standard.contract.return_model import (
        Return,
        ReturnArtifact,
        ReturnError,
        ReturnMetadata,
    )
    from delegtop.protocols.standard.contract.return_search import returns_in

__all__ = [
    "CONTEXT_VARIABLE",
    "LOG_VARIABLE",
    "REGISTRY_VARIABLE",
    "SESSION_VARIABLE",
    "Active",
    "ArtifactType",
    "AsyncSubagent",
    "CommandLine",
    "Context",
    "ContextInvalid",
    "DelegationContext",
    "DelegationRefused",
    "DelegationRegistry",
    "ErrorType",
    "Journal",
    "Listing",
    "RegistryFile",
    "RegistryInvalid",
    "Return",
    "ReturnArtifact",
    "ReturnError",
    "ReturnInvalid",
    "ReturnMetadata",
    "SharedRegistryFile",
    "Status",
    "Subagent",
    "Within",
    "Work",
    "ainvoke",
    "check_cycle",
    "check_depth",
    "delegation",
    "extract_return",
    "generate_session_id",
    "invoke",
    "prepare_delegation",
    "recovery_message",
    "returns_in",
    "standard_return",
    "timeout_error",
    "timeout_return",
    "validate_return",
]

_HOMES = {
    "delegate.context": ("Context",),
    "delegate.handed_work": ("Work", "delegation"),
    "delegate.invocation": ("AsyncSubagent", "CommandLine", "Subagent", "Within", "ainvoke", "invoke"),
    "delegate.journal": ("Journal",),
    "delegate.new_session_id": ("generate_session_id",),
    "delegate.prepare": (
        *("CONTEXT_VARIABLE", "LOG_VARIABLE", "REGISTRY_VARIABLE", "SESSION_VARIABLE"),
        *("ContextInvalid", "DelegationContext", "DelegationRefused"),
        *("check_cycle", "check_depth", "prepare_delegation"),
    ),
    "delegate.propagate": ("recovery_message",),
    "delegate.registry": ("Active", "DelegationRegistry", "Listing"),
    "delegate.registry_file": ("RegistryFile", "RegistryInvalid", "SharedRegistryFile"),
    "delegate.return_objects": ("standard_return", "timeout_error", "timeout_return"),
    "delegate.return_validation": ("ReturnInvalid", "extract_return", "validate_return"),
    "protocols.standard.contract.return_search": ("returns_in",),
    "protocols.standard.contract.return_contract": ("ArtifactType", "ErrorType", "Status"),
    "protocols.standard.contract.return_model": ("Return", "ReturnArtifact", "ReturnError", "ReturnMetadata"),
}
"""The names by the module that has them."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        home = next((home for home, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(f"delegtop.{home}"), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
