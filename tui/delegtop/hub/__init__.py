"""A hub: NATS JetStream as another carrier of what `ssh` carries (docs/nats.md). Who names none loads none of it."""
