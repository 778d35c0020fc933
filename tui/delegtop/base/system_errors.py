"""What went wrong, in the words of the system, without the number that Python writes before them."""


def reason_of(error: BaseException) -> str:
    """`No space left on device`. It names no file: whoever tells it knows which."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def reason_within(error: BaseException) -> str:
    """The same within a sentence: `no space left on device`."""
    said = reason_of(error)
    return said[:1].lower() + said[1:]


def place_and_reason(error: BaseException) -> str:
    """`/logs/run.jsonl: Permission denied`, where the error knows of which file it is."""
    file = getattr(error, "filename", None)
    return f"{file}: {reason_of(error)}" if file else reason_of(error)
