#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of the sources under rankloom/ and apps/:

1. A stage includes core, model and itself, never a sibling:
   core <- model <- {capture, discover, map, evaluate, allocate} <- place <- report <- apps
2. A folder has at most MAX_FILES source files at one level.
3. No two headers have the same file name within one C++ namespace.
"""
import collections
import pathlib
import re
import sys

# Rules that fail the test. Violations of the other rules are only printed.
ENFORCED = {"includes", "folder size", "header names"}

MAX_FILES = 16
SOURCES = {".cpp", ".hpp", ".h", ".c"}
HEADERS = {".hpp", ".h"}
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
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+) \{", re.MULTILINE)


def source_files(root: pathlib.Path):
    for top in ("rankloom", "apps"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES:
                yield path


def stage_of(path: pathlib.Path) -> str:
    parts = path.parts
    return "apps" if parts[0] == "apps" else parts[1]


def include_violations(root: pathlib.Path):
    for path in source_files(root):
        stage = stage_of(path.relative_to(root))
        allowed = MAY_INCLUDE.get(stage)
        if allowed is None:
            yield f"{path}: the folder '{stage}' is not a known stage; add it to {pathlib.Path(__file__).name}"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            target = "apps" if include.group(1) == "apps" else include.group(2)
            if target != stage and target not in allowed:
                yield f"{path}:{number}: '{stage}' must not include '{target}'"


def size_violations(root: pathlib.Path):
    sizes = collections.Counter(path.parent for path in source_files(root))
    for folder, count in sorted(sizes.items()):
        if count > MAX_FILES:
            yield f"{folder}: {count} source files at one level, more than {MAX_FILES}; use sub-folders"


def name_violations(root: pathlib.Path):
    headers = collections.defaultdict(list)
    for path in source_files(root):
        if path.suffix not in HEADERS:
            continue
        # The first namespace of a header is the one that contains its declarations.
        namespace = NAMESPACE.search(path.read_text())
        headers[(namespace.group(1) if namespace else "", path.name)].append(path.relative_to(root))
    for (namespace, name), paths in sorted(headers.items()):
        if len(paths) > 1:
            yield f"{name}: {len(paths)} headers in namespace '{namespace}': {', '.join(map(str, paths))}"


RULES = {"includes": include_violations, "folder size": size_violations, "header names": name_violations}


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    failed = False
    for rule, check in RULES.items():
        violations = list(check(root))
        failed |= bool(violations) and rule in ENFORCED
        note = "" if rule in ENFORCED or not violations else " (not enforced)"
        print(f"{rule}: {len(violations)} violations{note}")
        for violation in violations:
            print(f"  {violation}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
