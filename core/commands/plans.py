"""Plans of complex tasks: open for objection for 300 s; silence lets them run (S3-13)."""
