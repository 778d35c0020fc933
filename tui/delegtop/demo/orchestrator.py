"""What the simulated orchestrator can do: hand out work, hear of it, take returns, and everything that goes wrong."""

import os
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from delegtop.base.clock import SECOND, Millis
from delegtop.delegate.context import Context
from delegtop.delegate.journal import Journal, append_line, encode
from delegtop.delegate.registry_file import RegistryFile
from delegtop.demo.demo_data import (
    ACTIVITIES,
    ARTIFACTS,
    CANCEL_REASONS,
    HOSTS,
    NEXT_STEPS,
    SUMMARIES,
    TASKS,
    TROUBLES,
    DemoTask,
)

DOLLARS_PER_TOKEN = 0.000_004
FORGETFULNESS = 0.15
_COMMAND_PATH = 2
"""The orchestrator, and what the user told it."""
_ID_LETTERS = string.ascii_lowercase + string.digits


@dataclass
class Job:
    """A delegation at work."""

    context: Context
    task: DemoTask
    started: Millis
    tokens: int = 0

    @property
    def id(self) -> str:
        return self.context.session_id

    @property
    def name(self) -> str:
        return self.context.path[-1]

    def text(self, template: str) -> str:
        return template.format(number=self.task.number, slug=self.task.slug, title=self.task.title)


class Stage:
    """The orchestrator's log and registry, at the moment `now` of the story.

    `now` counts seconds from the start of the demo and is negative in its past; `moment` turns it into a real time.
    """

    def __init__(self, seed: int, directory: Path, moment: Callable[[float], Millis]) -> None:
        self.now = 0.0
        self.random = Random(seed)  # noqa: S311  # a story is told here, not a secret kept
        self.journal = Journal(directory / "session.jsonl")
        self.registry = RegistryFile(directory / "registry.json")
        self._directory = directory
        self._moment = moment
        self._tasks = self._endless_tasks()
        self._pid: int | None = None

    def for_real(self, seed: int) -> "Stage":
        """The same log and registry for a story in which there is a process: the orchestrator is this program, and its
        agents run in it. It draws its own lots: what somebody does to that process changes no other story."""
        real = copy(self)
        real.random = Random(seed)  # noqa: S311  # as above
        real._pid = os.getpid()
        return real

    @property
    def at(self) -> Millis:
        return self._moment(self.now)

    def next_task(self) -> DemoTask:
        """A task that nobody works on yet."""
        return next(self._tasks)

    def wait(self, least: float, most: float) -> float:
        """A number of seconds for a story to wait."""
        return self.random.uniform(least, most)

    # Handing out work

    def command(self, name: str, task: DemoTask, timeout: float, *, dated: bool = False) -> Job:
        """The user's command. It has no agent and depth 0; its delegations are what the registry tracks."""
        context = self._context(task, ("orchestrator", name), timeout, dated)
        self.journal.register(self.at, replace(context, command=name, caller="user", depth=0))
        return Job(replace(context, command=name), task, self.at)

    def delegate(
        self,
        parent: Job,
        agent: str,
        timeout: float,
        *,
        logged: bool = True,
        listed: bool = True,
        linked: bool = True,
        dated: bool = False,
        later_in_registry: float = 0,
    ) -> Job:
        """Hand work to an agent. Not every orchestrator writes everything: each way of knowing less is an option.

        `later_in_registry` puts the registry's deadline that many seconds after the log's.
        """
        path = (*parent.context.path, agent)
        context = replace(
            self._context(parent.task, path, timeout, dated),
            command=parent.context.command,
            subagent=agent,
            caller=parent.name,
            parent_session_id=parent.id if linked else None,
            task_number=parent.task.number if linked else None,
            depth=len(path) - 2,
            task_context={"language": parent.task.language, "title": parent.task.title} if linked else {},
        )
        if logged:
            self.journal.register(self.at, context)
        if listed:
            extra = int(later_in_registry * SECOND)
            timeout_there, deadline_there = (context.timeout or 0) + extra, Millis((context.deadline or 0) + extra)
            self.registry.register(self.at, replace(context, timeout=timeout_there, deadline=deadline_there))
        return Job(context, parent.task, self.at)

    def _context(self, task: DemoTask, path: tuple[str, ...], timeout: float, dated: bool) -> Context:
        at, is_command = self.at, len(path) == _COMMAND_PATH
        span = max(1, round((self._moment(self.now + timeout) - at) / SECOND)) * SECOND
        return Context(
            session_id=self._session_id(dated),
            task_number=task.number,
            timeout=span,
            deadline=Millis(at + span),
            path=path,
            pid=self.random.randrange(2_000, 60_000) if self._pid is None else self._pid if is_command else None,
            host=self.random.choice(HOSTS) if self._pid is None else os.uname().nodename if is_command else None,
        )

    def _session_id(self, dated: bool) -> str:
        seconds = self.at // SECOND
        stamp = f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d}" if dated else str(seconds)
        return f"sess_{stamp}_{''.join(self.random.choices(_ID_LETTERS, k=6))}"

    # While it works

    def beat(self, job: Job) -> None:
        tool, activity = self.random.choice(ACTIVITIES[job.name])
        job.tokens += self.random.randrange(400, 5_000)
        self.journal.heartbeat(
            self.at,
            job.id,
            job.text(activity),
            tool=tool,
            tokens=job.tokens,
            cost=round(job.tokens * DOLLARS_PER_TOKEN, 4),
        )

    def call(self, job: Job, at: Millis, command: str) -> None:
        """Run a command, at that real time: the kernel is asked when its process began."""
        self.journal.heartbeat(at, job.id, command, tool="bash", tokens=job.tokens)

    def tell(self, job: Job, activity: str) -> None:
        """Say what it does, in its own words."""
        self.journal.heartbeat(self.at, job.id, job.text(activity), tokens=job.tokens)

    def complain(self, job: Job, trouble: str) -> None:
        """Report an error without returning."""
        self.journal.error(self.at, job.id, self._error(job, trouble))

    def tear_a_line(self, job: Job) -> None:
        """A writer dies in the middle of a line."""
        line = encode({"schema_version": 1, "event": "heartbeat", "session_id": job.id, "activity": "bash: lake build"})
        append_line(self.journal.path, line[: -self.random.randrange(4, 12)])

    # Ends

    def complete(self, job: Job) -> None:
        self._make_artifacts(job)
        self.answer(job, self.result(job, "completed", SUMMARIES[job.name], next_steps=NEXT_STEPS.get(job.name)))

    def end_badly(self, job: Job, status: str, trouble: str) -> None:
        """Return `partial`, `failed` or `blocked`, with the error that explains it."""
        words = TROUBLES[trouble]
        errors = [self._error(job, trouble)]
        artifacts = self.artifacts(job)[:1] if status == "partial" else []
        self.answer(job, self.result(job, status, words.summary, artifacts, errors, words.next_steps))

    def answer(self, job: Job, result: object) -> None:
        """Return whatever this is."""
        self.journal.returned(self.at, job.id, result)
        self.registry.remove(job.id)

    def time_out(self, job: Job) -> None:
        """The orchestrator stops waiting and keeps what is on disk."""
        self.journal.timed_out(self.at, job.id, self.artifacts(job)[:1])
        self.registry.remove(job.id)

    def cancel(self, job: Job) -> None:
        self.journal.cancel(self.at, job.id, self.random.choice(CANCEL_REASONS))
        self.registry.remove(job.id)

    def vanish(self, job: Job) -> None:
        """The entry leaves the registry and nobody says why."""
        self.registry.remove(job.id)

    def result(
        self,
        job: Job,
        status: str,
        summary: str,
        artifacts: Iterable[Mapping[str, Any]] | None = None,
        errors: Iterable[Mapping[str, Any]] = (),
        next_steps: str | None = None,
    ) -> dict[str, Any]:
        """A return object as the standard asks for it."""
        result: dict[str, Any] = {
            "status": status,
            "summary": job.text(summary),
            "artifacts": self.artifacts(job) if artifacts is None else list(artifacts),
            "metadata": {
                "session_id": job.id,
                "duration_seconds": (self.at - job.started) // SECOND,
                "agent_type": job.name,
                "delegation_depth": len(job.context.path) - 2,
                "delegation_path": list(job.context.path),
            },
            "errors": list(errors),
        }
        if next_steps is not None:
            result["next_steps"] = job.text(next_steps)
        return result

    def artifacts(self, job: Job) -> list[dict[str, Any]]:
        return [
            {"type": kind, "path": job.text(path), "summary": summary}
            for kind, path, summary in ARTIFACTS.get(job.name, ())
        ]

    def _make_artifacts(self, job: Job) -> None:
        """Put the files of a return on disk, all but one that is sometimes forgotten. What is there stays as it is."""
        made = self.artifacts(job)
        if made and self.random.random() < FORGETFULNESS:
            made.pop()
        for artifact in made:
            path = self._directory / artifact["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text(f"{artifact['summary']}\n", encoding="utf-8")

    def _error(self, job: Job, trouble: str) -> dict[str, Any]:
        error = TROUBLES[trouble].error
        return {name: job.text(value) if isinstance(value, str) else value for name, value in error.items()}

    def _endless_tasks(self) -> Iterator[DemoTask]:
        """Every task in a shuffled order, then all of them again under new numbers."""
        for round_ in count(1):
            tasks = list(TASKS.values())
            self.random.shuffle(tasks)
            for task in tasks:
                yield task._replace(number=task.number + 70 * round_)
