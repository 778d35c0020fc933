"""Break one line after the other on purpose, and see whether a test notices.

python tests/mutation/run.py [--count 60] [--seed 1] [--only model,diagnosis,ingest] [--jobs 2]

Each mutant is one changed expression in a copy of the project. The tests beside its module run first, and if they do
not notice, those that also speak of its part. What survives is printed with its line: a missing test, a line that is
not needed, or a mutant that means the same. mutmut knows no source folder but `src`, and cosmic-ray changes the
working copy itself; neither turns the order of a table round, which is where most of our meaning is.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
SOURCE = Path("tui") / "delegtop"
COPIED = ("tui", "tests", "sample_logs", "docs", "pyproject.toml", "README.md", "CHANGELOG.md")
SECONDS = 300
"""A mutant that makes the tests run for longer is noticed."""
NOTICED, ENDLESS, SURVIVES = "noticed ", "endless ", "SURVIVES"


class Part(NamedTuple):
    """A part of the program, and which properties speak of it; so do the goldens of all."""

    folders: tuple[str, ...]
    properties: tuple[str, ...]

    @property
    def tests(self) -> tuple[str, ...]:
        return ("tests/golden", *(f"tests/property/test_{name}.py" for name in self.properties))


PARTS = {
    "model": Part(("model",), ("ledger_order", "outline", "states_follow", "critical_path", "table")),
    "diagnosis": Part(("diagnosis",), ("judging", "assessments", "habits")),
    "ingest": Part(("sources", "feed"), ("tail_faults", "sessions_put_away", "recording", "replay")),
}
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Mutant(NamedTuple):
    """One expression that is to be another."""

    part: str
    path: Path
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  →  {self.after}"


def changed(node: ast.AST) -> ast.AST | None:
    """What the expression becomes; None if it stays as it is."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[operator]) if type(operator) in FLIPPED:
            new.ops = [FLIPPED[type(operator)]()]
        case ast.BoolOp():
            new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not()):
            return new.operand
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            new.op = ast.Sub() if isinstance(new.op, ast.Add) else ast.Add()
        case ast.Constant(value=bool()):
            new.value = not new.value
        case ast.Constant(value=int(number)):
            new.value = number + 1
        case ast.Tuple(elts=[_, _, *_]) | ast.List(elts=[_, _, *_]) if isinstance(new.ctx, ast.Load):
            new.elts[0], new.elts[1] = new.elts[1], new.elts[0]
        case ast.Dict(keys=[_, _, *_]):
            new.keys[:2], new.values[:2] = new.keys[1::-1], new.values[1::-1]
        case _:
            return None
    return new


def expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Everything that is evaluated while the program runs: no types, no lists of names."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__slots__" | "__all__")]) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript()) if name[0].isupper():
            return  # another name for a type
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=int())):
            return  # a limit that is one more is the same program
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns") and not (name == "keywords" and isinstance(node, ast.ClassDef)):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from expressions(child)


def mutants(part: str, path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    text = (PROJECT / path).read_text("utf-8")
    tree = ast.parse(text)
    tables = [each.value for each in tree.body if isinstance(each, ast.Assign | ast.AnnAssign)]
    for node in expressions(tree):
        if isinstance(node, ast.Dict) and node not in tables:
            continue  # it is only looked up
        if (new := changed(node)) is not None and isinstance(node, ast.expr):
            before, after = ast.get_source_segment(text, node) or "", ast.unparse(new)
            whole = _with(text, node, f"({after})")
            yield Mutant(part, path, node.lineno, " ".join(before.split()), after, whole)


def _with(text: str, node: ast.expr, new: str) -> str:
    """The text with another expression in the place of one."""
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    data = b"".join(lines)
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
    return (data[:begin] + new.encode() + data[end:]).decode()


def outcome(mutant: Mutant | None, folder: Path, tests: tuple[str, ...]) -> str:
    """What the tests say in that copy of the project with the mutant in it."""
    if mutant is not None:
        (folder / mutant.path).write_text(mutant.source, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder / "tui"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ENDLESS
    finally:
        if mutant is not None:
            shutil.copy(PROJECT / mutant.path, folder / mutant.path)
    return NOTICED if done.returncode else SURVIVES


def beside(path: Path) -> tuple[str, ...]:
    """The tests that lie where the module lies."""
    folder = Path("tests") / "unit" / path.parent.relative_to(SOURCE)
    return (str(folder if (PROJECT / folder).is_dir() else folder.parent),)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60, help="how many mutants are picked")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--only", default=",".join(PARTS), help="the parts they are picked from")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at once")
    options = parser.parse_args()
    every = [
        mutant
        for part in options.only.split(",")
        for folder in PARTS[part].folders
        for path in sorted((PROJECT / SOURCE / folder).rglob("*.py"))
        for mutant in mutants(part, path.relative_to(PROJECT))
    ]
    picked = random.Random(options.seed).sample(every, min(options.count, len(every)))
    work = Path(tempfile.mkdtemp(prefix="delegtop-mutation-"))
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(options.jobs):
        for name in COPIED:
            source, target = PROJECT / name, work / str(number) / name
            target.parent.mkdir(exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        copies.put(work / str(number))

    def judge(mutant: Mutant | None, *stages: tuple[str, ...]) -> str:
        folder = copies.get()
        try:
            return next((told for tests in stages if (told := outcome(mutant, folder, tests)) != SURVIVES), SURVIVES)
        finally:
            copies.put(folder)

    def judge_part(part: str) -> str:
        return judge(None, *(beside(SOURCE / path / "x.py") for path in PARTS[part].folders), PARTS[part].tests)

    def judge_mutant(mutant: Mutant) -> str:
        return judge(mutant, beside(mutant.path), PARTS[mutant.part].tests)

    alive: dict[str, int] = dict.fromkeys(PARTS, 0)
    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            if {*pool.map(judge_part, options.only.split(","))} != {SURVIVES}:
                sys.stderr.write("the tests fail without any mutant\n")
                return 2
            for mutant, told in zip(picked, pool.map(judge_mutant, picked), strict=True):
                alive[mutant.part] += told == SURVIVES
                sys.stdout.write(f"{told}  {mutant}\n")
                sys.stdout.flush()
    finally:
        shutil.rmtree(work)
    for part in options.only.split(","):
        tried = sum(mutant.part == part for mutant in picked)
        sys.stdout.write(f"{part}: {tried - alive[part]} of {tried} noticed\n")
    noticed = len(picked) - sum(alive.values())
    share = 100 * noticed // max(len(picked), 1)
    sys.stdout.write(f"{noticed} of {len(picked)} noticed ({share} %), of {len(every)} possible, seed {options.seed}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
