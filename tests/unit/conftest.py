"""What every unit test checks beside its own matter."""

from collections.abc import Callable

import pytest

from delegtop.dialects import OWN, Dialect, Sample, load
from delegtop.dialects.signature import Head


@pytest.fixture(scope="session", autouse=True)
def _whoever_knows_a_file_has_a_signature_for_it() -> None:
    """Whatever a test shows to a format of ours: the signatures in the table must not have hidden it."""
    for name in OWN:
        dialect = load(name)
        if dialect.signatures:
            setattr(dialect, "sniff", classmethod(_checked(dialect, dialect.sniff)))  # noqa: B010 - mypy lets no method be assigned


def _checked(dialect: type[Dialect], sniff: Callable[[Sample], int]) -> Callable[[type[Dialect], Sample], int]:
    def checked(_: type[Dialect], sample: Sample) -> int:
        sure = sniff(sample)
        assert not sure or Head(sample.path, sample.head, sample.columns).bears(dialect.signatures), (
            f"{dialect.name} hides {sample}"
        )
        return sure

    return checked
