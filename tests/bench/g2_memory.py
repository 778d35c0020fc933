"""Goal 2: what one delegation costs in memory, against a node of Textual's own tree."""

import asyncio
import gc

from tests.bench.measure import method, resident
from tests.bench.plan import Plan, short
from tests.bench.table import Row


def rows(plan: Plan) -> list[Row]:
    found: list[Row] = []
    for size in plan.sizes[1:]:
        own = method("g1_ingest.load", plan.log(size))["bytes"]
        felt = (
            (f"memory for {short(size)} delegations", f"{own * size / 1e6:,.0f} MB") if size == plan.sizes[-1] else None
        )
        found.append(Row(2, f"memory a delegation at {short(size)}", own, 650, unit=" B", felt=felt))
    most = plan.sizes[-1]
    node = method("g2_memory.textual_tree", most)["bytes"]
    what = f"memory at {short(most)}, of a textual Tree with as many nodes"
    return [*found, Row(2, what, own / node, 0.6, note=f"a node of it takes {node:,.0f} B")]


def textual_tree(nodes: str) -> dict[str, float]:
    """Bytes a node by which a running app grows that fills a Tree: ten nodes below each, as labels a name and an id."""
    from textual.app import App, ComposeResult
    from textual.widgets import Tree

    class Filled(App[None]):
        def compose(self) -> ComposeResult:
            yield Tree("root")

    async def fill() -> float:
        app = Filled()
        async with app.run_test(size=(120, 40)) as pilot:
            tree = app.query_one(Tree)
            tree.root.expand()
            await pilot.pause()
            gc.collect()
            gc.disable()
            before = resident()
            parents = [tree.root]
            for number in range(int(nodes)):
                node = parents[number // 10].add(f"implementer sess_{number:010d}", expand=True)
                parents.append(node)
            await pilot.pause()
            tree.get_node_at_line(0)  # lines are built when somebody looks
            return (resident() - before) / int(nodes)

    return {"bytes": asyncio.run(fill())}
