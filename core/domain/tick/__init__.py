"""The rules of a tick, a file a concern. `core.domain.plan` puts them in their order."""
