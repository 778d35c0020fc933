"""Who handed work to whom, and in which order that is shown."""
