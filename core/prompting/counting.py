"""How many tokens a text has, counted offline (o200k_base, C-17). The first count reads the tables: not on the loop."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path

ENCODING = "o200k_base"
_BINDINGS = "bpe_openai._bindings"
_KEPT = 4096  # short texts: rows that do not change


@lru_cache(maxsize=_KEPT)
def tokens(text: str) -> int:
    """The tokens of a text that is counted again and again, as `count`."""
    return count(text)


def count(text: str) -> int:
    """The tokens of a text; what looks like a special token in it is counted as plain text."""
    return _counter()(text.encode("utf-8", "replace").decode())


@cache
def _counter() -> Callable[[str], int]:
    spec = _bindings()
    if spec is not None and spec.loader is not None:
        # The package itself reads tables for ways of encoding that nobody asks for, which takes seconds.
        module = importlib.util.module_from_spec(spec)
        sys.modules[_BINDINGS] = module
        spec.loader.exec_module(module)
        count: Callable[[str], int] = module.tokenizer_for_encoding(ENCODING).count
        return count
    encode = importlib.import_module("bpe_openai").get_encoding(ENCODING).encode_ordinary
    return lambda text: len(encode(text))


def _bindings() -> ModuleSpec | None:
    """Where the compiled part lies, unless the package was imported before or is built otherwise."""
    package = None if "bpe_openai" in sys.modules else importlib.util.find_spec("bpe_openai")
    for folder in package.submodule_search_locations or () if package else ():
        for file in sorted(Path(folder).glob("_bindings.*")):
            if file.suffix in (".so", ".pyd"):
                return importlib.util.spec_from_file_location(_BINDINGS, file)
    return None
