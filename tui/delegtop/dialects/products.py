"""All products: those that delegtop has a package for, and those of the plug-ins."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from delegtop.base.product import Home, Product
from delegtop.dialects import UnknownDialect, load, plugins
from delegtop.dialects.format_table import PRODUCTS


@cache
def product(name: str | None) -> Product | None:
    """The product that calls itself so; its package alone is imported."""
    if name in PRODUCTS:
        declared = import_module(PRODUCTS[name]).PRODUCT
        return declared if isinstance(declared, Product) else None
    return next((each for each in _of_plugins() if each.name == name), None) if name else None


def product_of(format: str | None) -> Product | None:
    """The product whose format goes by that name; None for what is no format of a product."""
    try:
        return load(format).product if format else None
    except UnknownDialect:
        return None


def products() -> Iterator[Product]:
    """All there are, delegtop's own first."""
    for each in (*map(product, PRODUCTS), *_of_plugins()):
        if each is not None:
            yield each


def homes() -> list[Home]:
    """Where they keep their logs: first what lies in the project, then what lies in the home of the user."""
    return sorted((home for each in products() for home in each.homes), key=lambda home: home.is_users)


@cache
def _of_plugins() -> tuple[Product, ...]:
    """Those that formats of other packages name; a format that cannot be loaded is told of when a file needs it."""
    found: dict[str, Product] = {}
    for name in plugins():
        try:
            declared = load(name).product
        except UnknownDialect:
            continue
        if declared is not None and declared.name not in PRODUCTS:
            found.setdefault(declared.name, declared)
    return tuple(found.values())
