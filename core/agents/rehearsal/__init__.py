"""Agents that audit a real folder without a model."""
