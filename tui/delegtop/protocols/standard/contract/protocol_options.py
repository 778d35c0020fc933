"""How the documents are read where they contradict each other, or themselves: one choice for each contradiction.

Every field is a setting under `[protocol]`; docs/protocols.md says which document and section asks for which value.
"""

from enum import StrEnum
from typing import NamedTuple

from delegtop.protocols.standard.contract.delegation_limits import MAX_DEPTH
from delegtop.protocols.standard.contract.return_contract import (
    ARTIFACT_TYPES,
    ERROR_TYPES,
    METADATA,
    SUMMARY_HARD_LIMIT,
    SUMMARY_SENTENCES,
    SUMMARY_TOKENS,
    TOKEN,
)
from delegtop.protocols.standard.contract.session_ids import Form, parse


class SessionIdPlace(StrEnum):
    """Where a return names its session."""

    METADATA = "metadata"
    BESIDE = "beside"
    """Beside the metadata, at the top of the return."""
    EITHER = "either"


class IdForm(StrEnum):
    """What the middle part of a session id is to be."""

    DAY = "day"
    EPOCH = "epoch"
    EITHER = "either"


class ProtocolOptions(NamedTuple):
    """One value for each question the documents answer in more than one way."""

    max_depth: int = MAX_DEPTH
    """The deepest a delegation may be; the guide's check, which refuses 3, is a limit of 2."""
    command_depth: int = 0
    """The depth of a command: 0 by the guide's counting, 1 by the structure standard's."""
    summary_sentences_min: int = SUMMARY_SENTENCES[0]
    summary_sentences_max: int = SUMMARY_SENTENCES[1]
    summary_tokens: int = SUMMARY_TOKENS
    summary_characters: int = SUMMARY_HARD_LIMIT
    """Above this a return is refused."""
    session_id_place: SessionIdPlace = SessionIdPlace.EITHER
    session_id_form: IdForm = IdForm.EITHER
    session_id_random: int = 0
    """Characters of the random part; 0 is any number."""
    metadata: tuple[str, ...] = METADATA
    """What the metadata of a return must hold; the structure standard leaves that to the operation."""
    errors_required: bool = True
    """Whether a return that is not completed must have errors."""
    error_types: tuple[str, ...] = ERROR_TYPES
    artifact_types: tuple[str, ...] = ARTIFACT_TYPES
    agent_file_lines: int = 150
    """The least lines of an agent file."""

    def chosen(self, *names: str) -> str:
        """For a message: which of these were set to another value than the default; empty if none."""
        values = [(name, getattr(self, name)) for name in names]
        told = [f"protocol.{name} = {value}" for name, value in values if value != self._field_defaults[name]]
        return f" ({', '.join(told)})" if told else ""

    @property
    def summary_length(self) -> int:
        """Characters of a summary that are about its tokens."""
        return self.summary_tokens * TOKEN

    def takes(self, session_id: str) -> bool:
        """True if it is a session id of the form asked for."""
        parts = parse(session_id)
        if parts is None or (self.session_id_random and len(parts.random) != self.session_id_random):
            return False
        return self.session_id_form is IdForm.EITHER or parts.form == Form(self.session_id_form)

    @property
    def session_id_example(self) -> str:
        """A session id as it should look."""
        random = "abc123abc123abc123abc123abc12345"[: self.session_id_random or 6]
        day, epoch = f"sess_20251226_{random}", f"sess_1766743200_{random}"
        return {IdForm.DAY: day, IdForm.EPOCH: epoch}.get(self.session_id_form, f"{day} or {epoch}")
