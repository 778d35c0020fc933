"""Which delegation somebody means by an id."""

from delegtop.model.forest import Forest
from delegtop.model.store.ledger import Handle


def meant(forest: Forest, id: str) -> list[Handle]:
    """Those it may mean: by its id, by a foreign id, by the beginning of its id, by that of a foreign one; the first of
    these that fits anybody counts. An agent knows the id of its session as a foreign one, and is not meant by it."""
    exact = forest.all_of(id)
    if exact or not id:
        return exact
    named: list[Handle] = []
    begun: list[Handle] = []
    begun_elsewhere: list[Handle] = []
    for handle in range(len(forest)):
        facts = forest.delegation(handle)
        refs = [ref for _, ref in facts.refs]
        if id in refs:
            named.append(handle)
        elif facts.id.startswith(id):
            begun.append(handle)
        elif any(ref.startswith(id) for ref in refs):
            begun_elsewhere.append(handle)
    return named or begun or begun_elsewhere
