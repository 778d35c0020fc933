"""How many sentences a text has: the documents' measure for summaries, descriptions and findings."""

from delegtop.base.lazy_pattern import lazy_pattern

_ABBREVIATED = "".join(
    rf"(?<!\b{word})"
    for word in (
        *(r"e\.g", r"i\.e", "al", "ca", "cf", "ed", "eq", "no", "nr", "pp", "vs", "approx", "avg", "dept"),
        *(
            "esp",
            "est",
            "etc",
            "excl",
            "ext",
            "fig",
            "incl",
            "max",
            "min",
            "misc",
            "resp",
            "sec",
            "seq",
            "spec",
            "ver",
            "vol",
        ),
    )
)
_OPENS = (
    r"(?:All|Also|And|Both|But|Each|For|If|In|It|No|Not|One|Only|Some|So|That|The|Then|There|These|They|This|To|We)\b"
)
"""How a sentence goes on behind one that ends in a single capital; a name goes on otherwise: `J. Smith`."""
_END = lazy_pattern(
    r"(?=[.!?…。！？।])(?:"  # most of a text is none of these: what stands before is looked at only there
    rf"(?<![.!?…])(?:(?<!\b[A-Z])|(?<=\b[A-Z])(?=[.!?]\s+{_OPENS}|[.!?]\W*$)){_ABBREVIATED}"
    r"[.!?…]++[\"')\]]*+(?=\s+[^\sa-z]|\s*$)"
    rf"|(?<=[a-z][a-z]){_ABBREVIATED}[.!?](?=\s+[a-z])"
    r"|[。！？।]++)"  # of other scripts
)


def sentences(text: str) -> int:
    """A stop counts at the end, before a capital, and before a small letter unless it may belong to an abbreviation."""
    return sum(1 for piece in _END.split(text) if any(map(str.isalnum, piece)))
