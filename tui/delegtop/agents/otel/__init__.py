"""OpenTelemetry."""

from delegtop.base.product import Basis, Product

PRODUCT = Product(name="otel", title="OpenTelemetry", basis=Basis.MADE)
