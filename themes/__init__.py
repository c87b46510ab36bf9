"""Theme files: data files, found through importlib.resources."""
