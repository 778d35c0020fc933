"""The world of the demo: tasks, agents, what they do, what they say when they return, and what goes wrong.

Only data. `{number}`, `{slug}` and `{title}` in a text stand for the task at hand.
"""

from typing import Any, NamedTuple


class DemoTask(NamedTuple):
    number: int
    slug: str
    title: str
    language: str


class DemoTrouble(NamedTuple):
    """A way to end badly: the words of the return, its error object, and what to do next."""

    summary: str
    error: dict[str, Any]
    next_steps: str


HOSTS = ("forge-1", "forge-2")

TASKS = {
    task.number: task
    for task in (
        DemoTask(173, "import_graph_diet", "Cut the import graph down to one screen", "lean"),
        DemoTask(186, "simp_normal_form", "Make simp finish before lunch", "lean"),
        DemoTask(188, "canonical_model", "Completeness of K by canonical models", "lean"),
        DemoTask(191, "silent_subagents", "No command may wait for ever on a silent subagent", "markdown"),
        DemoTask(195, "lemma_search", "Compare three lemma search services", "markdown"),
        DemoTask(197, "retry_budget", "A retry budget for the job queue", "python"),
        DemoTask(203, "rate_limits", "How package registries limit their guests", "markdown"),
        DemoTask(204, "emoji_width", "Which terminals agree on the width of an emoji", "markdown"),
        DemoTask(206, "clock_tests", "Tests that pass on the last day of February too", "python"),
        DemoTask(208, "config_split", "Split the config loader that ate the settings page", "python"),
        DemoTask(210, "soundness_s4", "Soundness of S4 without the reflexivity hack", "lean"),
        DemoTask(212, "csv_export", "A CSV export that survives spreadsheets", "python"),
        DemoTask(215, "error_messages", "Error messages that name the file", "python"),
        DemoTask(218, "deduction_theorem", "Deduction theorem, constructively this time", "lean"),
        DemoTask(221, "webhook_retries", "Webhooks that knock twice and then leave", "python"),
        DemoTask(224, "glossary", "One word for one thing: the glossary", "markdown"),
        DemoTask(226, "queue_drain", "Drain the queue before the deploy does", "python"),
        DemoTask(229, "frame_lemmas", "Frame lemmas that do not need a diagram", "lean"),
        DemoTask(231, "changelog_rules", "What belongs in a changelog, and what does not", "markdown"),
        DemoTask(233, "slow_imports", "Start in less time than it takes to regret it", "python"),
    )
}

MIGRATION = DemoTask(235, "one_at_a_time", "Two programs, one database, one at a time", "python")
"""What the agent with the real hung tool works on."""

ACTIVITIES = {
    "task-executor": (
        ("read", "read specs/{number}_{slug}/plans/implementation-001.md"),
        ("bash", "bash: git status --short"),
        ("grep", "grep -n 'IN PROGRESS' specs/TODO.md"),
    ),
    "implementer": (
        ("read", "read src/{slug}/core.py"),
        ("grep", "grep -rn 'except Exception' src/"),
        ("edit", "edit src/{slug}/core.py"),
        ("bash", "bash: pytest -q tests/test_{slug}.py"),
        ("edit", "edit tests/test_{slug}.py"),
        ("bash", "bash: ruff check src/{slug}"),
        (None, "weighing two names for one function"),
    ),
    "lean-implementation-agent": (
        ("read", "read Logic/{slug}/Basic.lean"),
        ("bash", "bash: lake build"),
        ("grep", "grep -rn 'sorry' Logic/"),
        ("edit", "edit Logic/{slug}/Lemmas.lean"),
        ("lean_goal", "lean_goal Logic/{slug}/Lemmas.lean:42"),
        (None, "one goal left, and it is not the easy one"),
    ),
    "researcher": (
        ("read", "read specs/{number}_{slug}/brief.md"),
        (None, "sorting sources by how much they contradict each other"),
        ("write", "write specs/{number}_{slug}/reports/research-001.md"),
    ),
    "web-research-specialist": (
        ("webfetch", "webfetch https://docs.example.org/{slug}/limits"),
        ("websearch", "websearch {slug} pagination undocumented"),
        ("webfetch", "webfetch https://api.example.org/openapi.json"),
        ("write", "write notes/{slug}.md"),
    ),
    "lean-research-agent": (
        ("loogle", "loogle ?a ∧ ?b → ?b ∧ ?a"),
        ("read", "read .lake/packages/mathlib/Mathlib/Logic/Basic.lean"),
        ("grep", "grep -rn 'theorem deduction' .lake/packages"),
    ),
    "planner": (
        ("read", "read specs/{number}_{slug}/reports/research-001.md"),
        (None, "cutting phase 3 in two, then in two again"),
        ("write", "write specs/{number}_{slug}/plans/implementation-001.md"),
    ),
    "reviewer": (
        ("grep", "grep -rn 'TODO' src/ Logic/"),
        ("bash", "bash: git log --oneline -20"),
        ("read", "read src/{slug}/core.py"),
        (None, "counting the ways this can be None"),
    ),
    "error-diagnostics-agent": (
        ("read", "read errors.json"),
        ("grep", "grep -c TIMEOUT errors.json"),
    ),
    "log-reader": (("bash", "bash: tail -n 200 build.log"), ("grep", "grep -n 'error:' build.log")),
    "git-workflow-manager": (
        ("bash", "bash: git add -p"),
        ("bash", "bash: git commit -m 'task {number}: {title}'"),
    ),
    "status-sync-manager": (("edit", "edit specs/TODO.md"), ("edit", "edit specs/state.json")),
    "atomic-task-numberer": (("read", "read specs/state.json"),),
    "commit-message-writer": (("bash", "bash: git diff --cached --stat"),),
    "source-checker": (("webfetch", "webfetch https://archive.example.org/{slug}"),),
}

SUMMARIES = {
    "implement": "Task {number} is done: {title}. All checks pass and the work is committed.",
    "research": "Research for task {number} is finished. The report names its sources and one clear recommendation.",
    "plan": (
        "Task {number} has a plan in four phases. "
        "The riskiest phase comes first, while there is still time to be wrong."
    ),
    "revise": "The plan of task {number} was revised after review. Two phases became one and nobody misses the other.",
    "review": "Reviewed what changed since the last release. Three findings were filed as tasks, none of them urgent.",
    "errors": "Read the error log of the past week. Most entries share one cause, which now has a task.",
    "task-executor": "Carried out the plan of task {number} to its last phase. Status and history are up to date.",
    "implementer": (
        "{title}: implemented with tests. One old workaround could be deleted, which felt better than it should."
    ),
    "lean-implementation-agent": (
        "Proved the remaining lemmas of task {number}. The build is free of sorry and eleven seconds faster."
    ),
    "researcher": (
        "Compared the candidates for task {number} on the same ten queries. One of them documents its limits and wins."
    ),
    "web-research-specialist": (
        "Found the official reference and two reports from the field. They agree on everything but the page size."
    ),
    "lean-research-agent": "Found two library lemmas that cover the hard case. The third has to be proved here.",
    "planner": "Planned task {number} in four phases of about two hours. Phase one can be undone with a single revert.",
    "reviewer": "Read 14 files and found three places that swallow errors. Each has a task with a failing example.",
    "error-diagnostics-agent": (
        "Grouped 61 errors under four causes. The commonest is a timeout shorter than the build it times."
    ),
    "log-reader": "Extracted the failing targets from the build log. There are three, and they fail alike.",
    "git-workflow-manager": "Committed the changes of task {number}. The tree is clean.",
    "status-sync-manager": "Updated the list and the state file in one step. Both now tell the same story.",
    "atomic-task-numberer": "Reserved the next task number. Nobody else has it.",
    "commit-message-writer": "Wrote a commit message of two lines. It says why, the diff says what.",
    "source-checker": "Checked five links. Four are alive and one has moved.",
}

# What an agent leaves behind: type, path and summary; agents that are not listed leave nothing.
ARTIFACTS = {
    "implementer": (
        ("implementation", "src/{slug}/core.py", "The change itself"),
        ("implementation", "tests/test_{slug}.py", "Tests, including the case that started it"),
    ),
    "lean-implementation-agent": (("implementation", "Logic/{slug}/Lemmas.lean", "Seven lemmas, no sorry"),),
    "researcher": (
        ("research", "specs/{number}_{slug}/reports/research-001.md", "Findings with sources"),
        ("summary", "specs/{number}_{slug}/summaries/research-summary.md", "One page for the impatient"),
    ),
    "web-research-specialist": (("research", "notes/{slug}.md", "Raw notes"),),
    "planner": (("plan", "specs/{number}_{slug}/plans/implementation-001.md", "Four phases, smallest risk last"),),
    "reviewer": (("documentation", "specs/reviews/review-{number}.md", "Findings by severity"),),
}

NEXT_STEPS = {
    "research": "Plan the integration with /plan {number}.",
    "plan": "Start with /implement {number}.",
    "review": "Pick the first finding with /task.",
}

TROUBLES = {
    "tool": DemoTrouble(
        "The proof needs the Lean language server and it is not configured. "
        "Compiling file by file was tried and ran out of memory.",
        {
            "type": "tool_unavailable",
            "message": "lean-lsp-mcp is not listed in .mcp.json",
            "code": "TOOL_UNAVAILABLE",
            "recoverable": True,
            "recommendation": "Install it with: uvx lean-lsp-mcp",
        },
        "Install lean-lsp-mcp, then run /implement {number} again.",
    ),
    "build": DemoTrouble(
        "The build stopped at a type error in a file this task does not own. Nothing was committed.",
        {
            "type": "execution",
            "message": "Logic/Frames.lean:118:4: type mismatch, 'Rel w v' expected",
            "code": "BUILD_ERROR",
            "recoverable": True,
            "recommendation": "Fix Logic/Frames.lean:118 or revert the last change to it, then retry",
        },
        "Repair the build on main first.",
    ),
    "decision": DemoTrouble(
        "Two requirements of task {number} exclude each other. "
        "Keeping both would need a second source of truth, so work stopped here.",
        {
            "type": "validation",
            "message": "'retry for ever' and 'give up after an hour' cannot both hold",
            "code": "VALIDATION_FAILED",
            "recoverable": False,
            "recommendation": "Decide which of the two requirements stays and edit the task",
        },
        "Choose a requirement, then run /revise {number}.",
    ),
    "timeout": DemoTrouble(
        "Phases one and two of task {number} are done and tested. Time ran out in phase three, which is half written.",
        {
            "type": "timeout",
            "message": "The time given for this delegation is used up",
            "code": "TIMEOUT",
            "recoverable": True,
            "recommendation": "Run /implement {number} again: it resumes at phase 3",
        },
        "Resume with /implement {number}.",
    ),
    "source": DemoTrouble(
        "Two of three sources answered and are written up. The third sends a login page whatever is asked of it.",
        {
            "type": "execution",
            "message": "https://api.example.org/v2/search answers 403",
            "code": "UNKNOWN_ERROR",
            "recoverable": True,
            "recommendation": "Ask for an API key or leave the third source out",
        },
        "Decide whether the third source matters.",
    ),
    "cycle": DemoTrouble(
        "The work would have gone back to an agent that is already waiting for it. The delegation was refused.",
        {
            "type": "validation",
            "message": "task-executor is already in the delegation path",
            "code": "CYCLE_DETECTED",
            "recoverable": False,
            "recommendation": "Let the implementer finish its phase instead of handing it back",
        },
        "Check who may delegate to whom.",
    ),
    "depth": DemoTrouble(
        "The helper was started one level below the limit. Its result was not used.",
        {
            "type": "validation",
            "message": "Delegation depth 4 exceeds the limit of 3",
            "code": "MAX_DEPTH_EXCEEDED",
            "recoverable": False,
            "recommendation": "Let git-workflow-manager write its own commit message",
        },
        "Remove the extra level.",
    ),
    "crash": DemoTrouble(
        "The agent's process ended without a return. Its last words are in the log.",
        {
            "type": "execution",
            "message": "killed: the container has no memory left",
            "code": "UNKNOWN_ERROR",
            "recoverable": False,
            "recommendation": "Give the container 4 GB or split the file",
        },
        "Raise the memory limit and retry.",
    ),
}

CANCEL_REASONS = ("the operator pressed Ctrl-C", "superseded by a newer request", "asked the wrong question")

PROSE_RETURN = "All good! I looked at everything and left a few notes in the file, you will see them. Anything else?"
