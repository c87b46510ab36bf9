"""One thin client for model servers in two wire formats: chat completions and Anthropic messages."""
