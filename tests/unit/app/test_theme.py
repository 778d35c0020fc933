"""Every state has a colour, a glyph and a word, in every theme and in ASCII."""

import pytest
from rich.cells import cell_len
from textual.color import Color
from textual.theme import Theme

from delegtop.app import theme
from delegtop.model.states import State
from delegtop.report import tree_text
from delegtop.report.incident.incident_style import STYLE
from delegtop.report.table.drawing import ASCII, UNICODE, Drawing, characters
from delegtop.settings import THEMES


@pytest.mark.parametrize("drawing", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_state_has_a_glyph_of_its_own_one_cell_wide(drawing: Drawing) -> None:
    glyphs = [drawing.state(state) for state in State]
    assert len(set(glyphs)) == len(State)
    assert {cell_len(glyph) for glyph in glyphs} == {1}


def test_the_settings_know_every_theme_by_its_name() -> None:
    assert tuple(each.name for each in theme.THEMES) == THEMES


def test_every_state_is_explained() -> None:
    assert all(state.meaning for state in State)


def test_ascii_is_ascii() -> None:
    assert characters(ASCII).isascii()


@pytest.mark.parametrize("drawing", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_what_the_table_is_drawn_with_is_one_cell_wide(drawing: Drawing) -> None:
    others = ("plain", "spoken", "findings", "differs")
    parts = {name: getattr(drawing, name) for name in drawing.__struct_fields__ if name not in others}
    parts |= {severity.value: sign for severity, sign in drawing.findings.items()}
    assert {name: cell_len(part) for name, part in parts.items() if cell_len(part) != 1} == {}


@pytest.mark.parametrize("each", theme.THEMES, ids=lambda each: each.name)
def test_every_theme_gives_every_role_of_a_state_a_colour_of_its_own(each: Theme) -> None:
    roles = {state.colour for state in State}
    assert len({each.variables[f"state-{role}"] for role in roles}) == len(roles)
    assert set(each.variables) == set(theme.DEFAULTS)


@pytest.mark.parametrize("role", sorted({state.colour for state in State}))
def test_the_role_of_a_state_has_a_colour_in_print_and_on_the_page_of_a_report_too(role: str) -> None:
    assert role in tree_text.COLOURS
    assert f".s-{role}" in STYLE


@pytest.mark.parametrize("each", theme.THEMES, ids=lambda each: each.name)
def test_state_colours_can_be_read_on_the_background(each: Theme) -> None:
    assert each.background is not None
    background = Color.parse(each.background)
    for state in State:
        assert _contrast(Color.parse(each.variables[f"state-{state.colour}"]), background) >= 4.5, state


def test_the_cursor_row_can_be_read_too() -> None:
    for each in theme.THEMES:
        cursor = Color.parse(each.variables["row-cursor"])
        for name in ("row-muted", *(f"state-{state.colour}" for state in State)):
            assert _contrast(Color.parse(each.variables[name]), cursor) >= 3.0, (each.name, name)


def _contrast(one: Color, other: Color) -> float:
    """By the formula of WCAG 2."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
