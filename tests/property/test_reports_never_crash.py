"""Whatever the logs say, a report, its figures and a comparison come of it, and keep to their contracts."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.telling import forest_at

from delegtop.base.clock import Millis
from delegtop.base.origin import Origin
from delegtop.model.events import Ended, Ending, Erred, Event, Fault, Heard, Noted, Outcome, Phase, Report, Started
from delegtop.model.forest import Forest
from delegtop.report import agent_stats, agent_stats_text, comparison, comparison_text
from delegtop.report.incident import incident_html, incident_json, incident_markdown
from delegtop.report.incident.incident_gather import gather
from delegtop.report.incident.incident_report import Incident
from delegtop.report.incident.incident_timeline import IncidentJournal

NOW = Millis(1_766_743_200_000)

ids = st.sampled_from(["a", "b", "c", "d", "\x1b[2J", "<b>"])
words = st.none() | st.text(max_size=30) | st.sampled_from(["<script>", "```", "| x |", "[a](javascript:b)", "\u202e"])
times = st.none() | st.sampled_from([0, 1, -5, 10**15, NOW, NOW + 10**9]) | st.integers(NOW - 10**8, NOW)
spans = st.none() | st.integers(0, 10**12)
origins = st.builds(Origin, st.text(min_size=1, max_size=9), st.integers(1, 9), st.just(0))
faults = st.builds(Fault, words, words, words, st.none() | st.booleans(), words)
reports = st.builds(
    Report, status=words, summary=words, errors=st.lists(faults, max_size=2).map(tuple), next_steps=words
)
events: st.SearchStrategy[list[Event]] = st.lists(
    st.one_of(
        st.builds(Started, ids, times, origins, agent=words, command=words, task=words, timeout=spans, parent=ids),
        st.builds(Heard, ids, times, origins, doing=words, tool=words, phase=st.none() | st.sampled_from(Phase)),
        st.builds(Noted, ids, times, origins, st.sampled_from(["review", "resume", "loop"]), st.text(max_size=20)),
        st.builds(Erred, ids, times, origins, faults),
        st.builds(Ended, ids, times, origins, st.sampled_from(Outcome), st.sampled_from(Ending), reports),
    ),
    max_size=12,
)


def grown(told: list[Event]) -> Forest:
    return forest_at(NOW, told)


@given(events, st.binary(max_size=40) | st.none())
@settings(max_examples=40)
def test_every_form_of_a_report_can_be_made(told: list[Event], line: bytes | None) -> None:
    journal = IncidentJournal()
    journal.heed(told)
    incident = gather(grown(told), (), journal, lambda _: line, recall=lambda _: told)
    text = "\n".join(incident_json.lines(incident))
    assert msgspec.json.decode(text, type=Incident) == incident
    for form in (incident_markdown, incident_html):
        page = "\n".join(form.lines(incident))
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "<script" not in page


@given(events, events)
@settings(max_examples=30)
def test_figures_and_a_comparison_can_be_made(one: list[Event], other: list[Event]) -> None:
    first, second = grown(one), grown(other)
    found = agent_stats.gather(first)
    assert msgspec.json.decode("\n".join(agent_stats.as_json(found)), type=agent_stats.Stats) == found
    assert "\x1b" not in "\n".join(agent_stats_text.lines(found, 80))
    between = comparison.compare(first, second, ("a", "b"), 0.5)
    assert sum(row.a is not None for row in between.rows) == len(first)
    assert sum(row.b is not None for row in between.rows) == len(second)
    assert "\x1b" not in "\n".join(comparison_text.lines(between, 80))


@given(events)
@settings(max_examples=20)
def test_a_run_never_differs_from_itself(told: list[Event]) -> None:
    assert not comparison.compare(grown(told), grown(told), ("a", "a"), 0.0).differ
