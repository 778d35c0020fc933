"""What the packages declare of their programs fits the rest of delegtop."""

import re
from pathlib import Path

import pytest
from tests.samples import MOMENTS, forest_of, lay_out, moment

from delegtop.base.product import Basis, Home
from delegtop.dialects import OWN, load
from delegtop.dialects.products import homes, product, products


def test_nobody_is_the_product_of_what_follows_the_protocol() -> None:
    assert product(None) is None
    assert product("klingon") is None


def test_a_program_is_as_well_known_as_the_best_known_of_its_formats() -> None:
    bases = list(Basis)
    for each in products():
        told = [load(name).about for name in OWN if load(name).product is each]
        assert each.basis is min((about.basis for about in told if about), key=bases.index), each.name


def test_places_in_the_project_come_before_those_of_the_user() -> None:
    found = [home.path({}, Path("/home/ann"), Path("/work/app")) for home in homes()]
    assert [path.is_relative_to("/work/app") for path in found] == sorted(
        (path.is_relative_to("/work/app") for path in found), reverse=True
    )
    assert found[:2] == [Path("/work/app/specs"), Path("/work/app/.cleo")]


@pytest.mark.parametrize(
    ("environ", "path"),
    [({}, "/home/ann/.relay/runs"), ({"RELAY_HOME": "/r"}, "/r/runs"), ({"RELAY_HOME": ""}, "/home/ann/.relay/runs")],
)
def test_a_variable_moves_a_home_unless_it_is_empty(environ: dict[str, str], path: str) -> None:
    assert Home("~/.relay", "runs", "RELAY_HOME").path(environ, Path("/home/ann"), Path("/p")) == Path(path)


@pytest.mark.parametrize("name", [each.name for each in products() if each.session_id and each.name in MOMENTS])
def test_the_sessions_of_a_sample_are_called_as_its_program_calls_them(name: str, tmp_path: Path) -> None:
    """Agents below a session may be called otherwise: they cannot be opened by themselves."""
    known = product(name)
    assert known is not None
    forest = forest_of(lay_out(name, tmp_path), moment(MOMENTS[name]))
    tops = [forest.delegation(handle) for handle in forest.walk() if forest.parent(handle) is None]
    refs = [(dict(each.refs), each.id) for each in tops if each.product == name]
    sessions = [next((named[ref] for ref in known.session_refs if ref in named), id) for named, id in refs]
    assert sessions
    assert [id for id in sessions if not re.fullmatch(known.session_id, id)] == []
