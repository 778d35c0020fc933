"""Whether a step is clearly no imperative: a statement, a question, a report of what was done.

Most words can be a verb, so only forms that no imperative has are told: `testing`, `tested`, `tests the`, `is tested`.
"""

from delegtop.base.lazy_pattern import lazy_pattern

_READ = 400
"""Characters of a step that are looked at."""
_BEFORE = lazy_pattern(
    r"\s*(?:[-*+>#]+\s+|[0-9]{1,3}[.)]\s+|\[[ x]\]\s+|[\"'`*_(]+)*"
    r"(?:(?:if|when|once|after|before|unless|until|for|in|to|as|with|on|at|by)\b[^,]{1,200},\s+)?"
    r"(?:(?!(?:this|that|these|it)\b)[\w/-]{1,30}:\s+)?"
    r"(?:(?:please|first|then|next|also|finally|optionally|later|now|just|always|never|afterwards|\w{2,20}ly),?\s+)*"
)
"""What may stand before the verb: a mark of a list, a condition, a label, an adverb."""
_SUBJECT = lazy_pattern(
    r"(?:i|we|you|he|she|it|they|the|this|that|these|those|there|an?|our|my|its|their|some|maybe|perhaps|possibly|"
    r"should|could|would|might|may|must|can|will|shall|needs?|is|are|was|were|has|had|does|did|"
    r"no|none|nothing|n/a|tbd|todo|further|more|additional|other|another)\b(?!['’-])"
    r"|[a-z]{3,30}(?:tion|sion|ness|ity|ance|ence) of\b"
)
"""How a statement or a question begins."""
_ENDING = lazy_pattern(r"[a-z]{2,30}(?:ing|ed|(?<![suaio])s)\b(?!['’-])")
_VERBS = frozenset(
    (
        *("bring", "ping", "string", "sing", "ring", "sling", "swing", "wing", "fling", "cling", "wring", "bootstring"),
        *("embed", "feed", "seed", "need", "speed", "shed", "proceed", "exceed", "succeed", "shred", "breed", "heed"),
        *("weed", "wed", "sled", "bed", "bleed", "cede"),
    )
)
"""Verbs that only look like such a form."""
_AUXILIARY = lazy_pattern(r"[\w'’/.-]+\s+(?:is|are|was|were|should|must|needs|has|had|can|will|could|would|might)\b")
"""A finite verb in the second place: the first word is its subject."""
_PASSIVE = lazy_pattern(
    r"\b(?:is|are|was|were|(?:should|must|can|will|could|would|needs? to|has to|have to|ha[sv]e?|had) be(?:en)?)\s+"
    r"(?:(?:not|still|\w{2,20}ly)\s+)?\w{2,30}(?:ed|en|wn|lt|nt|de|ade)\b"
)
_CLAUSE = lazy_pattern(
    r"\b(?:that|whether|if|which|what(?:ever)?|whichever|who|whom|whose|where|how|why|until|till|after|before|once|"
    r"when|while|so|because|as|than|unless)\b|[,:;(—–]"
)
"""What begins a clause of its own, in which a passive makes no statement of the whole."""
_TAKES_CLAUSE = lazy_pattern(
    r"(?:accept|ask|assert|assume|check|confirm|consider|decide|define|demonstrate|describe|determine|document|ensure|"
    r"establish|expect|explain|find|guarantee|have|investigate|keep|learn|leave|let|list|make|mark|monitor|note|observe|"
    r"prove|record|remember|require|say|see|show|specify|state|suppose|tell|think|track|understand|validate|verify|wait|"
    r"watch)\b"
)
"""Verbs that a clause may follow without a word for it: `ensure tests are added`."""


def is_statement(step: str) -> bool:
    """True if it clearly does not begin with what to do."""
    text = step[:_READ].lower()
    before = _BEFORE.match(text)
    rest = (text[before.end() :] if before else text).strip(" \"'`*_)")
    if not rest:
        return False
    if rest.endswith("?") or _SUBJECT.match(rest):
        return True
    form = _ENDING.match(rest)
    if form and form[0] not in _VERBS:
        return True
    if _TAKES_CLAUSE.match(rest):
        return False
    passive = _PASSIVE.search(rest)
    return bool(_AUXILIARY.match(rest)) or (passive is not None and not _CLAUSE.search(rest[: passive.start()]))
