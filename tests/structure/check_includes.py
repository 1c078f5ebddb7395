#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the dependency rule of the folders: a stage includes core, model and itself, never a sibling.

core <- model <- {capture, discover, map, evaluate, allocate} <- place <- report <- apps
"""
import pathlib
import re
import sys

STAGES = {"capture", "discover", "map", "evaluate", "allocate"}
MAY_INCLUDE = {
    "core": set(),
    "model": {"core"},
    **{stage: {"core", "model"} for stage in STAGES},
    "place": {"core", "model"} | STAGES,
    "report": {"core", "model", "place"} | STAGES,
    "apps": {"core", "model", "place", "report"} | STAGES,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<](rankloom|apps)/(?:rankloom/)?([^/"]+)')


def folder_of(path: pathlib.Path) -> str:
    parts = path.parts
    return "apps" if parts[0] == "apps" else parts[1]


def violations(root: pathlib.Path):
    for top in ("rankloom", "apps"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in {".cpp", ".hpp", ".h", ".c"}:
                continue
            own = folder_of(path.relative_to(root))
            allowed = MAY_INCLUDE.get(own)
            if allowed is None:
                yield f"{path}: the folder '{own}' has no place in the flow; add it to {pathlib.Path(__file__).name}"
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                target = "apps" if found.group(1) == "apps" else found.group(2)
                if target != own and target not in allowed:
                    yield f"{path}:{number}: '{own}' must not include '{target}'"


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    found = list(violations(root))
    print("\n".join(found) or "every folder includes only what stands above it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
