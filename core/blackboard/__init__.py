"""The database: schema, one writer, readers, events."""
