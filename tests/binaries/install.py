"""`python -m tests.binaries.install [NAME …]`: installs agent programs with npm into `.agents`, one after the other.

Each has a folder of its own, so that one that cannot be installed leaves the others alone; that it was not is said.
"""

import shutil
import subprocess
import sys

from tests.binaries.programs import NODE, PACKAGES, Package, node_folder, path_told

PATIENCE_S = 600
_NPM = ("install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")


def install(package: Package) -> str:
    """Install it and have it tell its version. What went wrong, in a line; empty if nothing."""
    if package.is_there:
        return ""
    shutil.rmtree(package.folder, ignore_errors=True)
    package.folder.mkdir(parents=True)
    (package.folder / "package.json").write_text('{"private": true}\n')
    npm = ["npm", *_NPM, f"{package.npm}@{package.version}"]
    if problem := _ran(npm, package):
        return problem
    if problem := _ran([str(package.path), "--version"], package):
        return problem
    package.stamp.write_text(package.version)
    return ""


def _ran(command: list[str], package: Package) -> str:
    environment = None if command[0] == "npm" else {"PATH": path_told(), "HOME": str(package.folder)}
    try:
        done = subprocess.run(
            command, cwd=package.folder, capture_output=True, text=True, timeout=PATIENCE_S, env=environment,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    told = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return "" if done.returncode == 0 else (told[-1] if told else f"exit code {done.returncode}")


def main(names: list[str]) -> int:
    """Install those of these names, or all."""
    if unknown := [name for name in names if name not in PACKAGES]:
        print(f"There is no program {unknown[0]!r} here. Known: {', '.join(PACKAGES)}.", file=sys.stderr)
        return 2
    if shutil.which("npm") is None:
        print("npm is not on the PATH, so no agent program can be installed. Their tests are skipped.")
        return 0
    wanted = [PACKAGES[name] for name in names] if names else list(PACKAGES.values())
    if any(package.needs_node for package in wanted) and node_folder() is None:
        wanted.insert(0, NODE)
    for package in wanted:
        problem = install(package)
        node_folder.cache_clear()
        told = f"could not be installed, and its tests are skipped: {problem}" if problem else "is there"
        print(f"{package.name} {package.version} {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
