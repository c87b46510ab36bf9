"""A real small model on this machine answers by a schema in real companies: `make local-model`, never in CI."""
