"""`python -m tests.benchmarks [claims] [group_commit] [tick] [paint] [feeling]`: all of them without a name."""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks import claims, feeling, group_commit, paint, tick

PARTS = {
    "claims": claims.measure,
    "group_commit": group_commit.measure,
    "tick": tick.measure,
    "paint": paint.measure,
    "feeling": feeling.measure,
}


def main(names: list[str]) -> int:
    """Run the named parts in turn."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; known: {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    for name in names or PARTS:
        print(f"\n== {name} ==", flush=True)
        with tempfile.TemporaryDirectory(dir=".") as folder:
            PARTS[name](Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
