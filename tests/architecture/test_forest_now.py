"""What is asked of one delegation's time is asked of its host: `Forest.shown_at` is for what is about all of them."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "tui" / "delegtop"
ABOUT_ALL = {
    "the screen": {
        "app/pages/header_status.py",
        "app/state/gantt_window.py",
        "app/widgets/delegation_tree.py",
        "report/bars.py",
    },
    "the live page": {"report/live_page/page_gather.py", "report/live_page/page_rows.py"},
    "how hosts stand": {"app/state/known_hosts.py", "report/host_table.py"},
    "what the operator noted": {
        "app/pages/triage/problem_words.py",
        "app/screens/note_taking.py",
        "app/screens/triage.py",
        "app/state/seen_to.py",
    },
    "the moment of a report": {
        "cli/bundle.py",
        "cli/check.py",
        "cli/learn.py",
        "report/agent_stats.py",
        "report/incident/incident_gather.py",
        "report/incident/incident_timeline.py",
        "report/prometheus.py",
        "report/source_table.py",
        "report/status/status_gather.py",
        "report/tree_json.py",
        "report/tree_text.py",
    },
    "the moment of an answer": {"mcp_server/row_words.py"},
    "when something was noticed, and what to look at next": {
        "diagnosis/alerts.py",
        "diagnosis/news.py",
        "model/history/timeline.py",
        "observation/loose_returns.py",
    },
}


def test_only_what_is_about_all_delegations_asks_what_moment_is_shown() -> None:
    asking = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"forest\.shown_at\b", path.read_text(encoding="utf-8"))
    }
    assert asking == set().union(*ABOUT_ALL.values())
