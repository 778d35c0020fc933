"""What the screens show, without a widget among it."""
