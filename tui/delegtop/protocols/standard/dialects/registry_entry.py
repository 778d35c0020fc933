"""An entry of a registry, held against its model: what fits, and how the rest departs."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from delegtop.model.deviation_kinds import Departure, DeviationKind
from delegtop.protocols.standard.contract.registry_model import RegistryEntry


def fit(value: Mapping[str, Any]) -> tuple[dict[str, Any], list[Departure]]:
    """The fields of an entry that hold what they should, and how the others depart."""
    try:
        RegistryEntry.model_validate(value)
    except ValidationError as error:
        departures = {str(problem["loc"][0]): _departure(problem, value) for problem in reversed(error.errors())}
        fitting = {key: given for key, given in value.items() if key not in departures}
        return fitting, list(reversed(departures.values()))
    return dict(value), []


def _departure(problem: Mapping[str, Any], value: Mapping[str, Any]) -> Departure:
    field = str(problem["loc"][0])
    match problem["type"]:
        case "extra_forbidden":
            return Departure(DeviationKind.UNKNOWN_KEY, field)
        case "missing":
            return Departure(DeviationKind.MISSING_FIELD, field)
        case _ if value[field] is None or value[field] == "":
            return Departure(DeviationKind.MISSING_FIELD, field)
        case "literal_error" if field == "status":
            return Departure(DeviationKind.UNKNOWN_STATUS, f"status: {value[field]!r}")
        case "greater_than" | "greater_than_equal" | "less_than_equal" | "finite_number" | "string_unicode":
            return Departure(DeviationKind.WRONG_VALUE, f"{field}: {problem['msg']}")
        case _:
            return Departure(DeviationKind.WRONG_TYPE, f"{field}: {problem['msg']}")
