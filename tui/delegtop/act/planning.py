"""Making the plan for one delegation, from what its logs told and what the system shows now."""

from delegtop.act.acting import Acting
from delegtop.act.ladder import Owner, called, ladder, whose
from delegtop.act.plan_sight import PlanSight
from delegtop.act.planned_steps import PlannedSignal
from delegtop.act.stop_plan import RungPlan, StopPlan, log_of
from delegtop.diagnosis.assessments import Assessments
from delegtop.model.forest import Forest
from delegtop.model.states import ENDED
from delegtop.model.store.ledger import Handle


def stop_plan(
    assessments: Assessments,
    handle: Handle,
    machine: PlanSight,
    acting: Acting = Acting(),  # noqa: B008 -- a tuple, which nobody changes
    refused: str = "",
) -> StopPlan:
    """The plan for a delegation of the present. With `refused`, only what is the matter, and that reason."""
    forest = assessments.forest
    facts, assessed = forest.delegation(handle), assessments.of(handle)
    owner = whose(forest, handle, machine)
    refused = refused or _over(forest, handle, owner)
    rungs = () if refused else tuple(_restricted(each, acting) for each in ladder(forest, handle, owner, machine))
    return StopPlan(
        forest.id(handle),
        called(facts),
        owner.program.title if owner.program else "",
        "" if refused else owner.words,
        assessed.state.value,
        assessed.kind,
        assessed.sentence(forest.now_of(handle)),
        assessed.certainty.value,
        assessed.evidence,
        log_of(facts),
        forest.now_of(handle),
        refused,
        rungs,
        assessed.problem,
    )


def _over(forest: Forest, handle: Handle, owner: Owner) -> str:
    """That it has ended, where no process of it or of its session is left that could be stopped; nothing else."""
    state = forest.state(handle)
    return f"it has ended ({state}), and there is nothing left to stop" if state in ENDED and not owner.process else ""


def _restricted(plan: RungPlan, acting: Acting) -> RungPlan:
    """Where only some processes may be stopped, nothing else is possible."""
    if acting.only is None or plan.why_not:
        return plan
    fits = all(isinstance(step, PlannedSignal) and acting.allows(step.target.pid) for step in plan.steps)
    return plan if fits else plan._replace(steps=(), why_not=acting.why_not_these)
