"""Makes `tui/delegtop/model/known_durations.py`: what is known of other machines, for those without a history.

    python tests/hindsight/make_known_durations.py FACTS

FACTS has one JSON object a line (packed with zstd or not): repo, session, product, kind (tool, agent, model), what (the
tool, the kind of agent), program (of a shell call), s (seconds), end (own, error, …), label. Only counts go into the
table, under names of tools and programs that everybody has, and none of a project's own.

Left out is what did not end by itself, and what waited for a person: what is labelled so, and shell calls of Claude
Code that outlasted the ten minutes that it gives them at most.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from textwrap import wrap
from typing import Any

from delegtop.base.clock import SECOND
from delegtop.base.zstd import decompress
from delegtop.model.call_names import AGENT, MODEL, TOOL
from delegtop.model.duration_curve import counted
from delegtop.model.policy import Counts

PLACE = Path(__file__).parents[2] / "tui" / "delegtop" / "model" / "known_durations.py"
HEAD = '''"""How long calls, answers and agents took on other machines, until there is enough of this one's own history.

Made by `tests/hindsight/make_known_durations.py`: counts alone, from {sessions} public sessions of {repos} projects.
"""

from delegtop.model.policy import Counts

# fmt: off
KNOWN: dict[tuple[str, str], Counts] = {{
'''
_PROGRAMS = """
    awk bash bun cargo cat cp curl dart docker echo find flutter gh git go grep head jq ls make mkdir mv node npm npx
    pip pnpm pytest python python3 rg rm ruff sed sleep source tail uv wc which yarn
"""
PROGRAMS = frozenset(_PROGRAMS.split())
AGENTS = frozenset({"Explore", "Plan", "general-purpose", "explore", "general"})
_WIDTH = 110
FEW, FEW_OF_A_PROGRAM = 20, 30
LONGEST = 600
"""Seconds that Claude Code gives a shell call at most."""


def is_normal(fact: dict[str, Any]) -> bool:
    if fact["kind"] == "silence" or fact["end"] not in ("own", "error") or fact["label"] != "healthy":
        return False
    return not (fact["product"] == "claude-code" and fact["what"] == "Bash" and fact["s"] > LONGEST)


def names(fact: dict[str, Any]) -> list[tuple[str, str]]:
    product, what, program = fact["product"], fact["what"], fact["program"]
    if fact["kind"] == "model":
        return [("", MODEL), (product, MODEL)]
    if fact["kind"] == "agent":
        return [("", AGENT), (product, AGENT), *([(product, f"{AGENT} {what}")] if what in AGENTS else [])]
    found = [("", TOOL), (product, what)]
    return [*found, (product, f"{what}: {program}")] if program in PROGRAMS else found


def table(facts: list[dict[str, Any]]) -> dict[tuple[str, str], Counts]:
    spans: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for fact in filter(is_normal, facts):
        for name in names(fact):
            spans[name].append(int(fact["s"] * SECOND))
    enough = {name: took for name, took in spans.items() if len(took) >= (FEW_OF_A_PROGRAM if ":" in name[1] else FEW)}
    own = {name: took for name, took in enough.items() if "__" not in name[1]}  # whose server it is, others lack
    return {name: counted(took) for name, took in sorted(own.items())}


def main() -> None:
    data = Path(sys.argv[1]).read_bytes()
    lines = (decompress(data) if sys.argv[1].endswith(".zst") else data).splitlines()
    facts = [json.loads(line) for line in lines]
    places = Counter((fact["repo"], fact["session"]) for fact in facts)
    text = HEAD.format(sessions=len(places), repos=len({repo for repo, _ in places}))
    for name, counts in table(facts).items():
        product, what = name
        text += f'    ("{product}", "{what}"): (\n'
        text += "".join(f"        {line},\n" for line in wrap(", ".join(map(str, counts)), _WIDTH))
        text += "    ),\n"
    PLACE.write_text(text.replace(",,\n", ",\n") + "}\n# fmt: on\n")


if __name__ == "__main__":
    main()
