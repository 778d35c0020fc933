"""The writing side: delegations made visible and safe. Everything an orchestrator needs is importable from here.

log = Journal(Path("run.jsonl"))
registry = DelegationRegistry(log)
command = prepare_delegation(None, "implement")
work = prepare_delegation(command, "task-executor", timeout=600)
registry.register(work)
registry.complete(work.session_id, extract_return(output))
"""

from delegtop.delegate.context import Context
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
from delegtop.delegate.registry import Active, DelegationRegistry
from delegtop.delegate.registry_file import RegistryFile, SharedRegistryFile
from delegtop.delegate.return_objects import standard_return, timeout_error, timeout_return
from delegtop.delegate.return_validation import ReturnInvalid, extract_return, returns_in, validate_return

__all__ = [
    "CONTEXT_VARIABLE",
    "LOG_VARIABLE",
    "REGISTRY_VARIABLE",
    "SESSION_VARIABLE",
    "Active",
    "Context",
    "ContextInvalid",
    "DelegationContext",
    "DelegationRefused",
    "DelegationRegistry",
    "Journal",
    "RegistryFile",
    "ReturnInvalid",
    "SharedRegistryFile",
    "check_cycle",
    "check_depth",
    "extract_return",
    "generate_session_id",
    "prepare_delegation",
    "recovery_message",
    "returns_in",
    "standard_return",
    "timeout_error",
    "timeout_return",
    "validate_return",
]
