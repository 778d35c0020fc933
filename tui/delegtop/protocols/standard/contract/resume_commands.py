"""The commands of the protocol that take up a task again where it stopped."""

from delegtop.base.lazy_pattern import lazy_pattern

RESUMABLE = frozenset({"implement", "plan", "research", "revise", "orchestrate"})

_TASK = lazy_pattern(r"[0-9A-Za-z][0-9A-Za-z._-]{0,63}")


def resume(command: str | None, task: str | None) -> str | None:
    """`/implement 191`; None if the command cannot be resumed, or a word of it is none that one should type."""
    name = (command or "").lstrip("/")
    if name not in RESUMABLE or not task or _TASK.fullmatch(task) is None:
        return None
    return f"/{name} {task}"


_TYPED = lazy_pattern(
    r"(?:^|[\s`'\"(])/(implement|plan|research|revise|orchestrate)((?: [0-9]{1,6}){1,12})(?![\w-]|\.\w)"
)


def typable(text: str) -> str | None:
    """The first command in somebody's words that is one of ours with task numbers, and nothing else; None without."""
    found = _TYPED.search(text)
    return f"/{found[1]}{found[2]}" if found else None
