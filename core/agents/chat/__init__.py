"""Agents on a model server, by chat completions or Anthropic messages; commands and queries are their tools."""
