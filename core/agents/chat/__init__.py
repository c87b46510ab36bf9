"""Agents on a model server that speaks `/v1/chat/completions`, for `opsroom eval`; commands are their tools."""
