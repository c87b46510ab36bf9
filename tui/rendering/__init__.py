"""Texts drawn by what they are: Markdown, code, tables, JSON, differences. Pure; nothing of theirs acts."""
