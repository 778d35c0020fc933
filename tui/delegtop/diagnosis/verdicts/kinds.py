"""The kinds of verdicts: one table, in the order of judging, and everything else about a verdict is asked of it.

To add one is to add a row here and its function in `judges`. A test holds that there is one for the other.
"""

from enum import StrEnum

import msgspec

from delegtop.diagnosis.finding import Severity


class Certainty(StrEnum):
    """How sure a verdict is."""

    CERTAIN = "certain"
    """The records say so."""
    LIKELY = "likely"
    """The records fit nothing else well."""
    POSSIBLE = "possible"
    """It fits, and so do harmless explanations."""

    @property
    def rank(self) -> int:
        """The surest comes first."""
        return _RANKS[self]


_RANKS = {certainty: rank for rank, certainty in enumerate(Certainty)}


class Need(StrEnum):
    """What has to be done to a session whose process is there. How, depends on how it was started."""

    ANSWER = "a person's answer"
    MESSAGE = "a message"
    INTERRUPT = "an end to its turn"
    STOP = "an end to it"
    LOOK = "a look"


class VerdictRow(msgspec.Struct, frozen=True):
    """What there is to know of a kind."""

    short: str
    """At most 20 characters, for a narrow column."""
    meaning: str
    evidence: str
    """What it rests on."""
    when: str
    """From when on it is given."""
    frees: str = ""
    """What to do so that the path goes on."""
    needs: Need = Need.LOOK
    """What its session needs for that, if its process is there."""
    look: str = ""
    """What to look at."""
    guide: str = ""
    """The delegation guide's own troubleshooting, for what follows the guide."""
    rule: str = ""
    """The rule whose finding says the same; none for what is no finding."""
    severity: Severity = Severity.WARNING
    """Of that finding where it is at least likely; a step less where it is only possible."""
    must: str = ""
    """What the rule asks for."""
    why: str = ""
    """Why it does."""
    person: bool = False
    """Nothing moves before a person does something."""
    harmless: bool = False
    """By itself it needs nobody."""


_HANGS = (
    "See that the command receives results, that a timeout is set (3600 s if nothing else is), that the agent returns "
    "the standard format, and that its session id is kept."
)
_LOOPS = (
    "Switch on cycle detection in the orchestrator: look at the delegation path before handing on, hold the depth "
    "limit, and log the paths."
)


class Kind(StrEnum):
    """What is going on, in the words shown to people. Of several that fit, the first is given."""

    row: VerdictRow

    def __new__(cls, words: str, row: VerdictRow) -> "Kind":
        kind = str.__new__(cls, words)
        kind._value_, kind.row = words, row
        return kind

    AWAITING_PERMISSION = (
        "awaiting a permission",
        VerdictRow(
            short="asks permission",
            meaning="A person has to allow something; nothing moves before that.",
            evidence="the record that asks; else the call that is open",
            when=(
                "at once where the log tells; else likely after a minute inside a tool that takes a moment (Edit, "
                "Read), possible for an edit in a mode that accepts edits, a minute past a call's own timeout, and for "
                "a command after `tool_suspect_after` in a mode that asks, or where its program lets none run for so "
                "long; never in a mode in which nobody is asked"
            ),
            frees="Answer it: allow it or deny it.",
            needs=Need.ANSWER,
            look="If it asks for the same often, allow the tool in the settings of its program.",
            rule="VER-001",
            severity=Severity.ERROR,
            must="nobody waits for a permission",
            why=(
                "The log shows that a person is asked to allow something, or a call is open for far longer than it can "
                "take, in a permission mode that asks. Nothing below goes on before that."
            ),
            person=True,
        ),
    )
    AWAITING_ANSWER = (
        "awaiting an answer",
        VerdictRow(
            short="asks a question",
            meaning="A person was asked something; nothing moves before the answer.",
            evidence="the record that asks",
            when="at once",
            frees="Answer it.",
            needs=Need.ANSWER,
            rule="VER-002",
            severity=Severity.ERROR,
            must="nobody waits for an answer",
            why="The log shows that a person was asked something. Nothing below goes on before that.",
            person=True,
        ),
    )
    LOST = (
        "lost",
        VerdictRow(
            short="lost",
            meaning="Whoever wrote its log is gone, and no end was written.",
            evidence="where it started and where it was last heard of; or that its process is gone",
            when=(
                "after `lost_after` without a word, past any deadline; at once if its process, or its "
                "session's, is gone"
            ),
            frees="Nobody works on it any more: keep what it has written, and take the task up again.",
            guide=_HANGS,
            rule="DEL-021",
            severity=Severity.ERROR,
            must="no delegation is lost",
            why=(
                "Delegation guide, Never wait indefinitely: long past every limit, or with its process gone, "
                "nothing will come any more. That it is lost is inferred from silence unless the process was "
                "looked for."
            ),
        ),
    )
    RUNAWAY = (
        "running away",
        VerdictRow(
            short="running away",
            meaning="It has more agents below it, or used more with them, than any healthy work does.",
            evidence="where the newest of them was started, and where it started itself",
            when=(
                "beyond `runaway_spawns` agents started within a minute (for ten minutes), `runaway_agents` in all, "
                "`runaway_depth` levels, `runaway_tokens` or `runaway_dollars`, of a session with all below it"
            ),
            frees="Interrupt it before it spends more; what runs in the background is stopped singly.",
            needs=Need.STOP,
            look="If so much is meant, raise the limit in the settings (`runaway_…`).",
            guide=_LOOPS,
            rule="VER-013",
            must="no tree of delegations grows without end",
            why=(
                "More agents, levels, tokens or dollars than its limit: an agent that hands work on without end costs "
                "most while nobody looks. No session of the logs that the limits were measured on comes near them."
            ),
        ),
    )
    LOOPING = (
        "looping",
        VerdictRow(
            short="looping",
            meaning=(
                "It goes round: the same call again and again, the same work handed down to the same "
                "agent, or a loop guard at its limit."
            ),
            evidence="the last of the calls; both hand-outs; the guard's own note",
            when=(
                "from the 5th same call in a row (the 100th of one that polls or sleeps) and the 3rd "
                "dispatch of an operation that never came to an end; at once for work handed down"
            ),
            frees="Stop it: more time will not help.",
            needs=Need.STOP,
            look="Look at what it repeats before it is started again.",
            guide=_LOOPS,
            rule="VER-003",
            severity=Severity.ERROR,
            must="nobody goes round in circles",
            why=(
                "The same call again and again, the same work handed down, or a loop guard at its limit: it "
                "looks alive and gets nowhere."
            ),
        ),
    )
    WAITING_ON_CHILD = (
        "waiting on a child",
        VerdictRow(
            short="waits on a child",
            meaning="It cannot go on before somebody below it does. By itself that needs nobody.",
            evidence="the delegation at the end of its path: where it started and was last heard of",
            when="at once",
            harmless=True,
        ),
    )
    ORPHANED = (
        "orphaned",
        VerdictRow(
            short="orphaned",
            meaning="Whoever gave it the work has ended: nobody will take its return.",
            evidence="the parent's end, and its own start and last word",
            when="at once; certain only after `suspect_after` without a word",
            frees="Stop it, or wait and take its return by hand.",
            needs=Need.STOP,
            look="Have the parent receive the results of all its children before it returns.",
            rule="DEL-024",
            must="no delegation outlives its parent",
            why=(
                "Delegation guide, Receive Results: a caller waits for what it has delegated or gives up at "
                "the timeout. Whoever still works when the caller has ended works for nobody, and its return "
                "will not be read."
            ),
        ),
    )
    DISAGREEMENT = (
        "registry and log disagree",
        VerdictRow(
            short="registry disagrees",
            meaning="It left the registry, which means done or given up, and its log goes on.",
            evidence="its last word, and its entry in the registry",
            when="at the first word after the registry last listed it",
            frees="Its orchestrator no longer waits for it: take its return by hand, or stop it.",
            needs=Need.STOP,
            rule="VER-010",
            must="registry and log agree",
            why="The registry deletes an entry when it is done or given up; this one's log goes on.",
        ),
    )
    LOST_RETURN = (
        "lost return",
        VerdictRow(
            short="lost return",
            meaning="What it waited for is done, and nothing shows that it was ever told.",
            evidence="the child's end, and its own last word before that",
            when="after `suspect_after` from the child's end",
            frees="Send it any message: that makes it look again, and it finds that its child is done.",
            needs=Need.MESSAGE,
            look="If it does not, take the child's result by hand.",
            guide=_HANGS,
            rule="VER-004",
            must="every return reaches its parent",
            why="A child has ended and its parent, which waited for it, was never heard of again.",
        ),
    )
    HUNG_IN_TOOL = (
        "hung in a tool",
        VerdictRow(
            short="hung in a tool",
            meaning=(
                "Its tool does nothing and waits for what cannot come, as the kernel shows: input that nobody gives, a "
                "lock whose holder is stuck, a process that is stopped. Where the kernel cannot be asked: it is inside "
                "a tool, silent for long, and past a limit that somebody set; how long somebody waited is none."
            ),
            evidence="the process and what it waits for; the record that it went into the tool",
            when=(
                "at the second look, about ten seconds after its last word; without the kernel past its deadline, or "
                "long past the time its call was given where nobody is asked for a permission, and after "
                "`suspect_after` without a word, later where one in a thousand of such calls takes longer"
            ),
            frees="Stop the process of the tool unless it still does something: the agent then goes on with an error.",
            needs=Need.INTERRUPT,
            look="Its use of the processor, and what it writes, tell whether it does.",
            guide=_HANGS,
            rule="VER-005",
            severity=Severity.ERROR,
            must="nobody hangs in a tool",
            why=(
                "The kernel shows that nothing of its tool moves and what it waits for; or it is inside a tool, silent "
                "for longer than `suspect_after`, and past a limit that somebody set. Silence alone is never called "
                "hung."
            ),
        ),
    )
    TOOL_ENDED = (
        "tool ended, no result",
        VerdictRow(
            short="tool has ended",
            meaning="The process of its tool has ended, and no result came: its agent waits for nothing.",
            evidence="the process that was there and is gone; the record that it went into the tool",
            when="8 seconds after it was found gone",
            frees="Interrupt the agent: it waits for a tool that is no more.",
            needs=Need.INTERRUPT,
            rule="VER-011",
            severity=Severity.ERROR,
            must="a tool that has ended has a result",
            why="The kernel showed the process of the tool and then its end, and no record of a result followed.",
        ),
    )
    WAITING_FOR_NETWORK = (
        "waiting for the network",
        VerdictRow(
            short="network silent",
            meaning="Its tool does nothing but wait for somebody at the other end of a connection, or for connections.",
            evidence="the process and the address at the other end; the record that it went into the tool",
            when="after 20 seconds in which nothing came in; likely only after `silent_after`",
            frees="If the other end does not answer, stop the process of the tool: its agent goes on with an error.",
            needs=Need.INTERRUPT,
            look="See whether the other end is there and at work.",
            rule="VER-012",
            must="the network answers",
            why="The kernel shows a connection on which nothing comes in, and no other work of the tool.",
        ),
    )
    WORKED_NEVER_REPORTED = (
        "worked but never reported",
        VerdictRow(
            short="never reported",
            meaning="Its files are there, and it never said that it is done.",
            evidence="the record that lists them",
            when="once it is silent (`silent_after`) or overdue",
            frees="Take over what it wrote, by hand or by taking the task up again; do not start anew.",
            guide=_HANGS,
            rule="VER-006",
            must="who worked has reported",
            why="It is silent or overdue, and files it was to make are there.",
        ),
    )
    HOST_SLEPT = (
        "host slept",
        VerdictRow(
            short="host slept",
            meaning="Every log was silent at once: the machine slept, and that time is charged to nobody.",
            evidence="its last word before",
            when=(
                "when it is silent only if the sleep is counted; all logs quiet for 15 minutes or more are a sleep, of "
                "this machine no longer than its kernel counts"
            ),
            frees="Give it some minutes to go on.",
            rule="VER-009",
            severity=Severity.INFO,
            must="time asleep is charged to nobody",
            why="Every log was silent at once for more than a quarter of an hour, and its kernel does not say that the "
            "machine was awake: it slept.",
            harmless=True,
        ),
    )
    NO_MODEL_ANSWER = (
        "no model answer",
        VerdictRow(
            short="no model answer",
            meaning="The model was asked, once or again and again, and no answer came.",
            evidence="the record that asked last",
            when=(
                "after `silent_after`, later where one in five thousand answers takes longer; likely only after "
                "`suspect_after` and once hardly any does (one in 20,000)"
            ),
            frees="Interrupt it and send the prompt again.",
            needs=Need.INTERRUPT,
            look="Look at the status of the provider.",
            rule="VER-007",
            must="the model answers",
            why=(
                "The last record asks the model, and no answer came for longer than `silent_after` and than nearly "
                "all answers take: by this machine's history, and by what is known of others until there is one."
            ),
        ),
    )
    OVERDUE = (
        "overdue",
        VerdictRow(
            short="overdue",
            meaning="It is past its deadline and not done.",
            evidence="where it started and where it was last heard of",
            when=(
                "at its deadline: declared, by its timeout, by the operator, by its agent's file, or the "
                "protocol's for its kind; how long somebody waited, and what is only usual for its kind, make "
                "nothing overdue"
            ),
            frees="Stop it if its process is still there, keep what it has written, and take the task up again.",
            needs=Need.STOP,
            guide=_HANGS,
            rule="DEL-020",
            severity=Severity.ERROR,
            must="an open delegation is within its deadline",
            why=(
                "Delegation guide, Timeout Enforcement and Troubleshooting (Delegation Hangs): past its "
                "deadline the caller stops waiting, looks for artifacts that were already written, and "
                "reports a partial result with the way to resume. The task stays in progress; it has not "
                "failed."
            ),
        ),
    )
    WORKS_QUIETLY = (
        "works quietly",
        VerdictRow(
            short="works quietly",
            meaning="It says nothing, and its tool is at work: the processor is used, or bytes move.",
            evidence="the process; the record that it went into the tool",
            when="once it is silent (`silent_after`)",
            harmless=True,
        ),
    )
    SLEEPS = (
        "sleeps",
        VerdictRow(
            short="sleeps",
            meaning="Its tool waits for a moment that its command line tells.",
            evidence="the process; the record that it went into the tool",
            when="once it is silent (`silent_after`)",
            harmless=True,
        ),
    )
    SILENT = (
        "silent",
        VerdictRow(
            short="silent",
            meaning="It wrote nothing for longer than such calls, or agents of its kind, take. Quiet is not hung.",
            evidence="its last word, and where it started",
            when=(
                "after `suspect_after`; inside a shell, inside a tool of which little is known, and where it has no "
                "log of its own, after `tool_suspect_after`; later where one in a thousand of such calls or agents "
                "takes longer, and never before 95 % of at least 8 finished ones of its kind were done"
            ),
            frees="Look at its last record and at its process before you stop it.",
            guide=_HANGS,
            rule="VER-008",
            severity=Severity.INFO,
            must="nobody is silent for longer than usual",
            why=(
                "Nothing was written for longer than `suspect_after` (`tool_suspect_after` inside a shell, or where "
                "little is known) and longer than nearly all such calls, or agents of its kind, take. That is worth a "
                "look and no proof of anything."
            ),
        ),
    )
