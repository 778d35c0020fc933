"""An orchestrator: nested work, a timeout, a return that is none, an exception, a cycle and a depth too great."""

import sys
import time
from pathlib import Path

from delegtop.delegate import (
    DelegationContext,
    DelegationRefused,
    Return,
    delegation,
    recovery_message,
    standard_return,
)


def researcher(context: DelegationContext) -> Return:
    """It hands some of its work on, and answers for it."""
    with delegation(context, "web-specialist", timeout=600) as work:
        work.heartbeat("reading three changelogs")
        work.complete("Three parsers were compared. The second one fits.")
    return standard_return(context, "completed", "The second parser fits. Its licence allows what is planned.")


def planner(context: DelegationContext) -> str:
    """It answers as agents do: with a text in which its return stands."""
    plan = standard_return(context, "completed", "The plan has two steps. Neither needs a decision.")
    return f"The plan is ready.\n```json\n{plan.model_dump_json(exclude_none=True)}\n```"


def implementer(_context: DelegationContext) -> None:
    """It does not come back in time."""
    time.sleep(600)


def reviewer(_context: DelegationContext) -> dict[str, str]:
    """It does not know how a return looks."""
    return {"status": "done"}


def tester(_context: DelegationContext) -> None:
    """It breaks."""
    raise RuntimeError("the test database is locked")


def digger(context: DelegationContext) -> Return:
    """It hands on what it was given, as deep as it may."""
    try:
        with delegation(context, f"digger-{context.delegation_depth + 1}") as deeper:
            errors = deeper.give(digger(deeper.context)).errors
    except DelegationRefused as refused:
        errors = (refused.error(),)
    return standard_return(context, "blocked", "It lies deeper than anybody may go. Nothing was dug.", errors=errors)


def main(folder: Path) -> None:
    task = {"task_number": 191}
    with delegation(None, "implement", log=folder / "session.jsonl", task_context=task) as work:
        returns = {
            "researcher": work.invoke("researcher", researcher),
            "planner": work.invoke("planner", planner, timeout=1800),
            "implementer": work.invoke("implementer", implementer, timeout=0.2, artifacts=["src/**/*.py"]),
            "reviewer": work.invoke("reviewer", reviewer),
            "tester": work.invoke("tester", tester),
            "implement": work.invoke("implement", researcher),  # it waits for this itself: a cycle
            "digger-1": work.invoke("digger-1", digger),
            "linter": work.invoke("linter", ["sh", "-c", "echo no complaints"]),
        }
        for name, returned in returns.items():
            print(f"{name} is {returned.status}. {recovery_message(returned) or returned.summary}")
        summary = "The research and the plan are there. The rest has to be done again."
        work.end("partial", summary, errors=work.errors_below())  # errors are handed up


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "."))
