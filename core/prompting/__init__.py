"""From templates and board facts to what an agent is told."""
