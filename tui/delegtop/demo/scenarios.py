"""The stories of the demo. Each is told in steps: it acts on the stage, then yields the seconds until its next step."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from delegtop.base.clock import Clock
from delegtop.demo.demo_data import PROSE_RETURN, SUMMARIES, DemoTask
from delegtop.demo.hung_tool import COMMAND, HungTool
from delegtop.demo.orchestrator import Job, Stage

Story = Iterator[float]
Tale = Callable[[Stage, DemoTask], Story]
AnyTale = TypeVar("AnyTale", bound=Tale)

REPERTOIRE: dict[Tale, int] = {}
"""The stories that are drawn by chance, and how often each comes."""


def often(weight: int) -> Callable[[AnyTale], AnyTale]:
    """Take a story into the repertoire."""

    def known(tale: AnyTale) -> AnyTale:
        REPERTOIRE[tale] = weight
        return tale

    return known


def _work(stage: Stage, job: Job, beats: int, least: float = 1.2, most: float = 3.5) -> Story:
    for _ in range(beats):
        yield stage.wait(least, most)
        stage.beat(job)
    yield stage.wait(0.5, 1.5)


def _errand(stage: Stage, parent: Job, agent: str) -> Story:
    """A short delegation that does one thing well."""
    helper = stage.delegate(parent, agent, 30)
    yield from _work(stage, helper, 2, 0.8, 2)
    stage.complete(helper)
    yield stage.wait(0.3, 1)


def _coder(task: DemoTask) -> str:
    return "lean-implementation-agent" if task.language == "lean" else "implementer"


@often(8)
def implement(stage: Stage, task: DemoTask) -> Story:
    """The happy path: three levels, a commit, and a status update."""
    command = stage.command("implement", task, 600)
    yield stage.wait(0.4, 1)
    executor = stage.delegate(command, "task-executor", 420)
    yield from _work(stage, executor, 2)
    coder = stage.delegate(executor, _coder(task), 180)
    yield from _work(stage, coder, stage.random.randrange(5, 10))
    yield from _errand(stage, coder, "git-workflow-manager")
    stage.complete(coder)
    yield from _errand(stage, executor, "status-sync-manager")
    stage.complete(executor)
    yield stage.wait(0.5, 1)
    stage.complete(command)


@often(6)
def research(stage: Stage, task: DemoTask) -> Story:
    """A fan-out: one researcher, three specialists at once, one of whom meets a locked door."""
    command = stage.command("research", task, 480)
    yield stage.wait(0.4, 1)
    researcher = stage.delegate(command, "researcher", 300)
    yield from _work(stage, researcher, 1)
    specialists = []
    for agent in ("web-research-specialist", "lean-research-agent", "web-research-specialist"):
        specialists.append(stage.delegate(researcher, agent, 90))
        yield stage.wait(0.2, 0.6)
    for _ in range(9):
        stage.beat(stage.random.choice(specialists))
        yield stage.wait(0.6, 1.6)
    stage.random.shuffle(specialists)
    stage.end_badly(specialists.pop(), "partial", "source")
    for specialist in specialists:
        yield stage.wait(1, 4)
        stage.complete(specialist)
    yield from _work(stage, researcher, 2)
    stage.complete(researcher)
    yield stage.wait(0.5, 1)
    stage.complete(command)


@often(4)
def plan(stage: Stage, task: DemoTask) -> Story:
    command = stage.command("plan", task, 300, dated=True)
    yield stage.wait(0.4, 1)
    planner = stage.delegate(command, "planner", 120, dated=True)
    yield from _work(stage, planner, 4)
    yield from _errand(stage, planner, "status-sync-manager")
    stage.complete(planner)
    yield stage.wait(0.5, 1)
    stage.complete(command)


@often(2)
def revise(stage: Stage, task: DemoTask) -> Story:
    """Blocked: the task contradicts itself and only its author can help."""
    command = stage.command("revise", task, 300)
    yield stage.wait(0.4, 1)
    planner = stage.delegate(command, "planner", 120)
    yield from _work(stage, planner, 3)
    stage.end_badly(planner, "blocked", "decision")
    yield stage.wait(1, 2)
    stage.end_badly(command, "blocked", "decision")


@often(3)
def fail(stage: Stage, task: DemoTask) -> Story:
    """Failed: a tool is missing, the error says which, and the caller passes it on."""
    trouble = stage.random.choice(("tool", "build"))
    command = stage.command("implement", task, 600)
    yield stage.wait(0.4, 1)
    coder = stage.delegate(command, "lean-implementation-agent", 240)
    yield from _work(stage, coder, 3)
    stage.complain(coder, trouble)
    yield from _work(stage, coder, 1)
    stage.end_badly(coder, "failed", trouble)
    yield stage.wait(1, 2)
    stage.end_badly(command, "failed", trouble)


@often(1)
def crash(stage: Stage, task: DemoTask) -> Story:
    """An error that cannot be recovered from, and then no return at all."""
    command = stage.command("implement", task, 600)
    yield stage.wait(0.4, 1)
    coder = stage.delegate(command, _coder(task), 240)
    yield from _work(stage, coder, 3)
    stage.complain(coder, "crash")
    stage.vanish(coder)
    yield stage.wait(3, 5)
    stage.end_badly(command, "failed", "crash")


@often(2)
def run_out_of_time(stage: Stage, task: DemoTask) -> Story:
    """Partial: the agent notices its deadline and hands over what it has."""
    command = stage.command("implement", task, 300)
    yield stage.wait(0.4, 1)
    executor = stage.delegate(command, "task-executor", 200)
    yield from _work(stage, executor, 1)
    coder = stage.delegate(executor, _coder(task), 28)
    yield from _work(stage, coder, 8, 1.8, 3)
    for job in (coder, executor, command):
        stage.end_badly(job, "partial", "timeout")
        yield stage.wait(0.6, 1.5)


@often(2)
def hang(stage: Stage, task: DemoTask, patience: float = 80) -> Story:
    """A silent leaf: three levels wait for it, its deadline passes, and after a long while somebody stops waiting."""
    command = stage.command("implement", task, patience + 640)
    yield stage.wait(0.4, 1)
    executor = stage.delegate(command, "task-executor", patience + 520)
    yield from _work(stage, executor, 2)
    yield from _errand(stage, executor, "status-sync-manager")
    coder = stage.delegate(executor, "implementer", patience)
    yield from _work(stage, coder, 6)
    yield patience + stage.wait(45, 60)
    stage.time_out(coder)
    for job in (executor, command):
        yield stage.wait(1, 3)
        stage.end_badly(job, "partial", "timeout")


def wait_for_a_lock(stage: Stage, task: DemoTask, tool: HungTool, clock: Clock, pause: float) -> Story:
    """A hang that is real: a process waits for a lock that another one keeps. Who ends it frees the path; the agent
    hears of it and goes on. Every `pause` it is looked whether somebody has, and after a quarter of an hour the
    orchestrator does. Then it begins anew."""
    while True:
        command = stage.command("implement", task, 1_200)
        yield stage.wait(0.2, 0.4)
        executor = stage.delegate(command, "task-executor", 1_100)
        yield from _work(stage, executor, 1, 0.4, 0.8)
        coder = stage.delegate(executor, "implementer", 900)
        tool.hold()
        yield from _work(stage, coder, 1, 0.4, 0.8)
        while tool.can_hang and not tool.is_held:
            yield pause
        stage.call(coder, clock.now(), COMMAND)
        tool.call()
        began = stage.now
        while tool.is_running and stage.now < began + 900:
            yield pause
        yield from _after_the_lock(stage, coder, executor, command, tool)
        yield stage.wait(60, 90)
        task = task._replace(number=task.number + 70)


def _after_the_lock(stage: Stage, coder: Job, executor: Job, command: Job, tool: HungTool) -> Story:
    """How it goes on once the tool has ended, or nobody waits for it any more."""
    if tool.is_running:
        tool.end()
        stage.time_out(coder)
        for job in (executor, command):
            yield stage.wait(1, 3)
            stage.end_badly(job, "partial", "timeout")
        return
    ended_by = tool.ended_by
    tool.end()
    stage.tell(
        coder, f"{COMMAND} was ended by {ended_by}: going on without it" if ended_by else "the migration is done"
    )
    yield from _work(stage, coder, 3)
    stage.complete(coder)
    yield from _errand(stage, executor, "status-sync-manager")
    stage.complete(executor)
    yield stage.wait(0.5, 1)
    stage.complete(command)


def leave_behind(stage: Stage, task: DemoTask) -> Story:
    """Somebody closed the laptop: nothing was ever heard of these again."""
    command = stage.command("implement", task, 7_200, dated=True)
    yield 2
    coder = stage.delegate(command, _coder(task), 7_200, dated=True, listed=False)
    yield from _work(stage, coder, 5)


@often(1)
def go_in_circles(stage: Stage, task: DemoTask) -> Story:
    """A cycle: the implementer hands its work back to the executor that waits for it."""
    command = stage.command("implement", task, 600)
    yield stage.wait(0.4, 1)
    executor = stage.delegate(command, "task-executor", 420)
    yield from _work(stage, executor, 1)
    coder = stage.delegate(executor, "implementer", 180)
    yield from _work(stage, coder, 2)
    again = stage.delegate(coder, "task-executor", 60)
    yield from _work(stage, again, 2)
    for job in (again, coder, executor, command):
        stage.end_badly(job, "failed", "cycle")
        yield stage.wait(0.6, 1.5)


@often(1)
def dig_too_deep(stage: Stage, task: DemoTask) -> Story:
    """A helper's helper: one level more than the guide allows."""
    command = stage.command("implement", task, 600)
    yield stage.wait(0.4, 1)
    executor = stage.delegate(command, "task-executor", 420)
    yield stage.wait(0.5, 1)
    coder = stage.delegate(executor, _coder(task), 180)
    yield from _work(stage, coder, 2)
    git = stage.delegate(coder, "git-workflow-manager", 40)
    yield from _work(stage, git, 1)
    writer = stage.delegate(git, "commit-message-writer", 20)
    yield from _work(stage, writer, 3)
    stage.end_badly(writer, "failed", "depth")
    for job in (git, coder, executor, command):
        yield stage.wait(0.6, 1.5)
        stage.complete(job)


@often(2)
def review_loosely(stage: Stage, task: DemoTask) -> Story:
    """Three reviewers who have not read the return standard: an invented status, no metadata, and a friendly chat."""
    command = stage.command("review", task, 300, dated=True)
    yield stage.wait(0.4, 1)
    reviewers = []
    for _ in range(3):
        reviewers.append(stage.delegate(command, "reviewer", 90, dated=True))
        yield stage.wait(0.2, 0.8)
    for reviewer in reviewers:
        yield from _work(stage, reviewer, 2)
    invented, bare, chatty = reviewers
    stage.answer(invented, stage.result(invented, "done", SUMMARIES["reviewer"]))
    yield stage.wait(1, 3)
    stage.answer(bare, {"status": "completed", "summary": "Looks fine.", "artifacts": []})
    yield stage.wait(1, 3)
    stage.answer(chatty, PROSE_RETURN)
    yield stage.wait(1, 3)
    stage.complete(command)


@often(1)
def change_of_mind(stage: Stage, task: DemoTask) -> Story:
    """The operator cancels, and everything below goes with it."""
    command = stage.command("research", task, 300)
    yield stage.wait(0.4, 1)
    researcher = stage.delegate(command, "researcher", 180)
    yield from _work(stage, researcher, 4)
    for job in (researcher, command):
        stage.cancel(job)
        yield stage.wait(0.3, 0.8)


@often(1)
def slip_out(stage: Stage, task: DemoTask) -> Story:
    """An entry leaves the registry without a return, and a line is torn by the writer that died."""
    command = stage.command("plan", task, 300)
    yield stage.wait(0.4, 1)
    planner = stage.delegate(command, "planner", 120)
    yield from _work(stage, planner, 3, 2, 4)
    stage.tear_a_line(planner)
    yield stage.wait(2, 4)
    stage.vanish(planner)
    yield stage.wait(5, 8)
    stage.complain(command, "crash")


@often(2)
def keep_two_books(stage: Stage, task: DemoTask) -> Story:
    """Log and registry know different things: one entry only here, one only there, and one with two deadlines."""
    command = stage.command("implement", task, 300)
    yield stage.wait(0.4, 1)
    unlogged = stage.delegate(command, "status-sync-manager", 90, logged=False)
    unlisted = stage.delegate(command, "atomic-task-numberer", 60, listed=False)
    disputed = stage.delegate(command, _coder(task), 75, later_in_registry=45)
    yield from _work(stage, unlisted, 2)
    yield from _work(stage, disputed, 12)
    stage.complete(unlisted)
    stage.complete(disputed)
    yield stage.wait(2, 5)
    stage.vanish(unlogged)
    stage.complete(command)


@often(1)
def guess_my_parent(stage: Stage, task: DemoTask) -> Story:
    """A log without parent ids: one way up fits the path, so the parent is inferred."""
    command = stage.command("errors", task, 300)
    yield stage.wait(0.4, 1)
    diagnostician = stage.delegate(command, "error-diagnostics-agent", 150)
    yield from _work(stage, diagnostician, 2)
    reader = stage.delegate(diagnostician, "log-reader", 60, linked=False)
    yield from _work(stage, reader, 5)
    stage.complete(reader)
    yield from _work(stage, diagnostician, 2)
    stage.complete(diagnostician)
    yield stage.wait(0.5, 1)
    stage.complete(command)


@often(1)
def twin_parents(stage: Stage, task: DemoTask) -> Story:
    """Two researchers with the same path and one source checker that does not say whose it is."""
    commands = [stage.command("research", task, 300), stage.command("research", stage.next_task(), 300)]
    yield stage.wait(0.4, 1)
    researchers = [stage.delegate(command, "researcher", 200) for command in commands]
    for researcher in researchers:
        yield from _work(stage, researcher, 2)
    checker = stage.delegate(researchers[0], "source-checker", 60, linked=False)
    yield from _work(stage, checker, 4)
    stage.complete(checker)
    for researcher, command in zip(researchers, commands, strict=True):
        yield from _work(stage, researcher, 3)
        stage.complete(researcher)
        yield stage.wait(0.5, 1)
        stage.complete(command)
