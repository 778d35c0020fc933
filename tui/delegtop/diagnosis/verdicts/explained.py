"""Every verdict explained: what it means, what it rests on, and from when on it is given."""

from typing import NamedTuple

from delegtop.diagnosis.verdicts.verdict import Kind


class Explained(NamedTuple):
    """What people should know of a verdict."""

    meaning: str
    evidence: str
    when: str


EXPLAINED: dict[Kind, Explained] = {
    Kind.AWAITING_PERMISSION: Explained(
        "A person has to allow something; nothing moves before that.",
        "the record that asks",
        "at once",
    ),
    Kind.AWAITING_ANSWER: Explained(
        "A person was asked something; nothing moves before the answer.",
        "the record that asks",
        "at once",
    ),
    Kind.LOST: Explained(
        "Whoever wrote its log is gone, and no end was written.",
        "where it started and where it was last heard of; or that its process is gone",
        "after `lost_after` without a word, past any deadline; at once if its process, or its session's, is gone",
    ),
    Kind.LOOPING: Explained(
        "It goes round: the same call again and again, the same work handed down to the same agent, or a loop guard "
        "at its limit.",
        "the last of the calls; both hand-outs; the guard's own note",
        "from the 5th same call in a row (the 100th of one that polls or sleeps) and the 3rd dispatch of an operation "
        "that never came to an end; at once for work handed down",
    ),
    Kind.WAITING_ON_CHILD: Explained(
        "It cannot go on before somebody below it does. By itself that needs nobody.",
        "the delegation at the end of its path: where it started and was last heard of",
        "at once",
    ),
    Kind.ORPHANED: Explained(
        "Whoever gave it the work has ended: nobody will take its return.",
        "the parent's end, and its own start and last word",
        "at once",
    ),
    Kind.DISAGREEMENT: Explained(
        "It left the registry, which means done or given up, and its log goes on.",
        "its last word, and its entry in the registry",
        "at the first word after the registry last listed it",
    ),
    Kind.LOST_RETURN: Explained(
        "What it waited for is done, and nothing shows that it was ever told.",
        "the child's end, and its own last word before that",
        "after `suspect_after` from the child's end",
    ),
    Kind.HUNG_IN_TOOL: Explained(
        "It is inside a tool, silent for long, and past a limit that somebody set. Without a limit it is only silent, "
        "and a limit that is only how long somebody waited is none.",
        "the record that it went into the tool",
        "past its deadline, and after `suspect_after` without a word",
    ),
    Kind.WORKED_NEVER_REPORTED: Explained(
        "Its files are there, and it never said that it is done.",
        "the record that lists them",
        "once it is silent (`silent_after`) or overdue",
    ),
    Kind.HOST_SLEPT: Explained(
        "Every log was silent at once: the machine slept, and that time is charged to nobody.",
        "its last word before",
        "when it is silent only if the sleep is counted; all logs quiet for 15 minutes or more are a sleep",
    ),
    Kind.WAITING_FOR_MODEL: Explained(
        "The model was asked, and no answer came.",
        "the record that asks",
        "after `silent_after`; likely only after `suspect_after`",
    ),
    Kind.OVERDUE: Explained(
        "It is past its deadline and not done.",
        "where it started and where it was last heard of",
        "at its deadline: declared, by its timeout, by the operator, by its agent's file, or the protocol's for its "
        "kind; what is only usual for its kind makes nothing overdue",
    ),
    Kind.SILENT: Explained(
        "It wrote nothing for longer than its kind usually takes in all. Quiet is not hung.",
        "its last word, and where it started",
        "after `suspect_after`, inside a tool after `tool_suspect_after`, and never before 95 % of at least 8 finished "
        "ones of its kind were done",
    ),
}
