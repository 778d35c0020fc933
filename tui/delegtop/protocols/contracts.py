"""The contracts by name, and their JSON Schemas. Listing them loads no model."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from delegtop.base.product import Contract
from delegtop.dialects.products import products
from delegtop.protocols.standard.contract.session_ids import SHAPE

if TYPE_CHECKING:
    from delegtop.protocols.contract_model import ContractModel

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_RETURN, _PAGE = "standard.contract.return_model", "docs/protocols.md"
STANDARD = (
    Contract("return", "return of a subagent", f"{_RETURN}:Return", _PAGE),
    Contract("artifact", "artifact of a return", f"{_RETURN}:ReturnArtifact", _PAGE),
    Contract("error", "error of a return", f"{_RETURN}:ReturnError", _PAGE),
    Contract("context", "delegation context", "standard.contract.context_model:DelegationContextModel", _PAGE),
    Contract(
        "registry",
        "orchestrator registry snapshot",
        "standard.contract.registry_model:RegistryEntry",
        "docs/registry.md",
        keyed=True,
    ),
    Contract(
        "session-log",
        "one line of a delegtop session log",
        "standard.contract.session_log_model:SessionLogLine",
        "docs/session-log.md",
    ),
    Contract(
        "agent-file",
        "frontmatter of a subagent file",
        "standard.contract.agent_file_model:AgentFrontmatter",
        "docs/lint.md",
    ),
)
"""Those of the return format standard, the structure standard and the delegation guide."""


@cache
def contracts() -> dict[str, Contract]:
    """All there are: the standard's, then those of other protocols."""
    return {each.name: each for each in (*STANDARD, *(each for product in products() for each in product.contracts))}


def model(name: str) -> "type[ContractModel]":
    """The model of a contract."""
    module, _, kind = contracts()[name].place.partition(":")
    found: type[ContractModel] = getattr(import_module(f"delegtop.protocols.{module}"), kind)
    return found


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a contract."""
    contract = contracts()[name]
    head = {"$schema": DRAFT, "$id": f"urn:delegtop:{name}:1", "title": contract.title}
    told = model(name).model_json_schema(by_alias=True)
    if not contract.keyed:
        return {**told, **head}
    inner, kind = told.pop("$defs", {}), told["title"]
    defs = {**inner, kind: told}
    keys = {"pattern": f"^{SHAPE}$"}
    return {
        **head,
        "type": "object",
        "propertyNames": keys,
        "additionalProperties": {"$ref": f"#/$defs/{kind}"},
        "$defs": defs,
    }
