"""What is wrong in a log itself, as findings: what cannot be read, and what does not fit and no other finding tells."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from re import Match

from delegtop.base.lazy_pattern import lazy_pattern
from delegtop.base.origin import Origin
from delegtop.diagnosis.finding import Finding, Severity
from delegtop.diagnosis.return_findings import listed
from delegtop.diagnosis.rule import Rule
from delegtop.diagnosis.rule_table import LEFT_DEVIATIONS, TOLD_DEVIATIONS
from delegtop.diagnosis.rules.log_rules import DEVIATION, UNFOUND, UNREADABLE
from delegtop.dialects.products import product_of
from delegtop.model.deviation_kinds import UNLISTED, DeviationKind
from delegtop.model.events import Deviation
from delegtop.protocols.standard.contract.own_formats import FORMATS

Example = tuple[Origin, str]
"""A place, and what is wrong there."""
_ADVICE = {
    UNREADABLE.id: "Have its writer write one whole JSON object a line, in UTF-8, ended by a newline.",
    DEVIATION.id: "Have its writer follow the format, or read it as another one with --format.",
}
_LIST = "Have whoever wrote the file append its line; who reads only the list does not find it."
_EXPECTED = lazy_pattern(r"Expected `([^`]+)`(?:, got `(\w+)`)?")
_TYPES = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "text",
}
"""What the types of values are called."""
_SHOWN = 10
_BROKEN = tuple(
    f"{kind}: "
    for kind in (
        DeviationKind.UNKNOWN_STATUS,
        DeviationKind.MISSING_TIME,
        DeviationKind.GARBLED_TIME,
        DeviationKind.MISSING_FIELD,
        DeviationKind.WRONG_TYPE,
        DeviationKind.WRONG_VALUE,
    )
)
"""How what breaks a contract is told; all else is only odd."""
_FIELD = lazy_pattern(r"[A-Za-z_][\w.\[\]-]*")
_NOT_YOURS = "{} wrote it so: what stands there is missing from the tree, all else counts, and nothing has to be done."

Places = dict[tuple[str, str], set[Origin]]
"""The places of a source that findings tell of, by the source and the kind of deviation or the field."""


def places(findings: Iterable[Finding]) -> Places:
    found: Places = {}
    for finding in findings:
        kinds = (kind for kind, rules in TOLD_DEVIATIONS.items() if finding.rule in rules)
        for told in (*kinds, *(name for field in finding.fields for name in field.split("|"))):
            for origin in finding.evidence:
                found.setdefault((origin.name, told), set()).add(origin)
    return found


def untold(
    path: str, reasons: Mapping[str, int], count: int, examples: Sequence[Deviation], places: Places
) -> tuple[int, list[Deviation]]:
    """How many deviations of a source no finding tells yet, and the examples among them."""

    def is_told(deviation: Deviation) -> bool:
        about = (name for field in _fields(deviation.detail) for name in field.split("|"))
        return any(deviation.origin in places.get((path, told), ()) for told in (deviation.kind, *about))

    left = [each for each in examples if not is_told(each)]
    told = sum(min(reasons.get(kind, 0), len(places.get((path, kind), ()))) for kind in TOLD_DEVIATIONS)
    return count - max(told, len(examples) - len(left)), left  # one finding may tell of two fields on its line


def not_found(path: str, named: Sequence[str], told: Sequence[Origin]) -> Finding:
    """That nothing can be said of the artifacts that the lines of a source name."""
    one = len(named) == 1
    which = "The artifact that it names is not" if one else f"None of the {len(named)} artifacts that it names is"
    return Finding(
        UNFOUND.id,
        UNFOUND.severity,
        path,
        f"{which} found from here ({listed(named)}): whether {'it exists' if one else 'they exist'} was not judged.",
        tuple(sorted(told, key=lambda origin: origin.line)[:_SHOWN]),
        "Say where the project is with --root DIR; --root . if it is this folder.",
        fields=("artifacts|return.artifacts",),
    )


def left_open(path: str, left: Deviation) -> Finding:
    """Of a record that was never finished, or never begun, what its rule would say if there were a delegation."""
    rule, what = LEFT_DEVIATIONS[left.kind], f"{left.detail[:1].upper()}{left.detail[1:]}."
    advice = _LIST if left.kind == UNLISTED else _ADVICE[UNREADABLE.id]
    return Finding(rule.id, Severity.WARNING, path, what, (left.origin,), advice)


def in_words(told: str) -> str:
    """What a decoder says of a value, in words."""
    return _EXPECTED.sub(_expected, told).replace(": Input should be ", ": it should be ")


def _expected(found: Match[str]) -> str:
    given = f"{_TYPES.get(found[2], found[2])}, " if found[2] else ""
    return f"{given}not {_TYPES.get(found[1].removesuffix(' | null'), found[1])}"


def _fields(told: str) -> tuple[str, ...]:
    """The field that a deviation names, whatever stands before it: `sess_1: return.status: …`."""
    named = [part for part in told.split(": ") if _FIELD.fullmatch(part)]
    return ("|".join(dict.fromkeys((*named, *(part.removeprefix("return.") for part in named)))),) if named else ()


def judge(
    rule: Rule, path: str, count: int, examples: Sequence[Example], format: str | None = None
) -> Iterator[Finding]:
    """One finding for each example that was kept of a source, and one for all the others together. Who uses an agent
    program has not written what it writes, and cannot mend it."""
    program = product_of(format)
    advice = _NOT_YOURS.format(program.title) if program and program.executables else _ADVICE[rule.id]
    for origin, told in examples:
        fields = _fields(told) if rule is DEVIATION else ()
        is_breach = rule is DEVIATION and format in FORMATS and told.startswith(_BROKEN)
        severity = Severity.WARNING if is_breach else rule.severity
        yield Finding(rule.id, severity, path, in_words(told), (origin,), advice, fields=fields)
    if more := count - len(examples):
        others = "other " if examples else ""
        what = "lines cannot be read" if rule is UNREADABLE else "things do not fit the format"
        yield Finding(rule.id, rule.severity, path, f"{more} {others}{what}.", (), advice)
