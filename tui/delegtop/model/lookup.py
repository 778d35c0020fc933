"""Which delegation somebody means by an id."""

from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle


def meant(forest: Forest, id: str) -> list[Handle]:
    """Those it may mean: by its id, by a foreign id, by the beginning of either; the first of these that fits anybody
    counts."""
    exact = forest.find(id)
    if exact is not None or not id:
        return [] if exact is None else [exact]
    named: list[Handle] = []
    begun: list[Handle] = []
    for handle in range(len(forest)):
        facts = forest.delegation(handle)
        refs = [ref for _, ref in facts.refs]
        if id in refs:
            named.append(handle)
        elif any(known.startswith(id) for known in (facts.id, *refs)):
            begun.append(handle)
    return named or begun
