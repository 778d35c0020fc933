"""From sources to batches of events: live, replayed, recorded."""
