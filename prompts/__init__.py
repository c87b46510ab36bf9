"""Prompt templates: data files, found through importlib.resources."""
