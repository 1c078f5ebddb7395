#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests: the table of docs/versions.md: what was proved with which Debian and which MPI. Every cell comes from a complete run of
`./dev test --on SUITE`.

    table.py add --suite SUITE --root FOLDER --commit COMMIT --outcome complete|selected|"not built" RESULTS [REPORT…]
                                  appends a line to RESULTS, from the reports of ctest (JUnit XML)
    table.py page RESULTS PAGE    writes the table into PAGE, between its two comments
"""

import argparse
import collections
import datetime
import json
import pathlib
import platform
import re
import subprocess
import sys
import xml.etree.ElementTree

BEGIN, END = "<!-- made by tests/debian/table.py -->", "<!-- end of the table -->"
SUITES = {"bullseye": "Debian 11", "bookworm": "Debian 12", "trixie": "Debian 13", "forky": "Debian 14 (testing)"}

# What a group of tests proves, and the names of these tests. `{mpi}` is openmpi or mpich; the tests without a name of an MPI
# library in their name run the libraries in brackets.
MPI_PROOFS = {
    "record C": {"openmpi": r"record\.(?!fortran|applications|trace\.Fortran).*\.openmpi|record\.comparison\.both",
                 "mpich": r"record\.(?!fortran|applications|trace\.Fortran).*\.mpich|record\.comparison\.both"},
    "record Fortran": {"openmpi": r"record\.(fortran|trace\.Fortran).*\.openmpi", "mpich": r"record\.(fortran|trace\.Fortran).*\.mpich"},
    "run and verify": {"openmpi": r"place\.live\.(?!.*mpich|Slurm).*", "mpich": r"place\.live\.(Emit|Run|Permutation)|place\.live\..*\.mpich"},
    "tune in the lab": {"openmpi": r"tune\.VirtualCluster", "mpich": r"tune\.VirtualCluster"},
    "reorder": {"openmpi": r"reorder\.(.*\.openmpi|VirtualCluster)", "mpich": r"reorder\..*\.mpich"},
    "online": {"openmpi": r"online\.(.*\.openmpi|VirtualCluster)", "mpich": r"online\..*\.mpich"},
}
SLURM_PROOFS = {
    "allocator": r"slurm\.(Select|Fallback|VirtualSlurm|endurance)(\..*)?",
    "srun --rankloom (SPANK)": r"slurm\.spank\..*",
    "run and verify with srun": r"place\.live\.Slurm(\..*)?",
}
MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
# name in the results → the Debian package with its version
PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich", "slurm": "slurmctld", "hwloc": "libhwloc-dev", "gcc": "libstdc++6", "cmake": "cmake", "simgrid": "libsimgrid-dev",
            "scotch": "libscotch-dev", "eigen": "libeigen3-dev", "fmt": "libfmt-dev", "cli11": "libcli11-dev", "torch": "python3-torch"}


def test_results(reports):
    """name → passed, failed or skipped; a later report, of a second attempt, replaces an earlier one."""
    results = {}
    for report in sorted(reports):
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            status = case.get("status")
            results[case.get("name")] = {"run": "passed", "fail": "failed"}.get(status, "skipped")
    return results


def plain_version(version):
    """The version of the program in the version of its package: 4.2.1 of 4.3.0+really4.2.1, 6.0.0rc2 of 6.0.0~rc2."""
    return re.match(r"[\w.~]+", re.split(r"really\.?", version)[-1]).group().replace("~", "")


def package_versions(root):
    """Upstream versions of the packages that are installed in a Debian system."""
    versions = {}
    for name, package in PACKAGES.items():
        query = ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${db:Status-Status} ${source:Upstream-Version}", package]
        status, _, version = subprocess.run(query, capture_output=True, text=True, check=False).stdout.partition(" ")
        if status == "installed":
            versions[name] = plain_version(version)
    return versions


def cell(results, pattern):
    """What the tests with this pattern show."""
    counts = collections.Counter(result for name, result in results.items() if re.fullmatch(pattern, name))
    ran = counts["passed"] + counts["failed"]
    if counts["failed"]:
        return f"{counts['failed']} of {ran} failed"
    if counts["passed"]:
        return f"{ran} passed" + (f", {counts['skipped']} skipped" if counts["skipped"] else "")
    return "skipped" if counts["skipped"] else "–"


def row(arguments):
    results = test_results(arguments.reports)
    cells = {mpi: {proof: cell(results, patterns[mpi]) for proof, patterns in MPI_PROOFS.items()} for mpi in MPI_NAMES}
    cells["slurm"] = {proof: cell(results, pattern) for proof, pattern in SLURM_PROOFS.items()}
    return {
        "suite": arguments.suite,
        "outcome": arguments.outcome,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": arguments.commit,
        "architecture": platform.machine(),
        "versions": package_versions(arguments.root),
        "tests": dict(sorted(collections.Counter(results.values()).items())),
        "failed": sorted(name for name, result in results.items() if result == "failed"),
        "proved": cells,
    }


def latest_complete(lines):
    """suite → the last complete run of this suite, in the order of SUITES."""
    rows = {}
    for line in lines:
        entry = json.loads(line)
        if entry["outcome"] == "complete":
            rows[entry["suite"]] = entry
    return {suite: rows[suite] for suite in SUITES if suite in rows}


def markdown(titles, rows):
    return ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles), *("| " + " | ".join(line) + " |" for line in rows), ""]


def tables(rows):
    """The lines between the two comments."""
    if not rows:
        return ["No complete run yet.", ""]
    mpi_rows, slurm_rows, run_rows = [], [], []
    for suite, entry in rows.items():
        versions = entry["versions"]
        for mpi, name in MPI_NAMES.items():
            mpi_rows.append([SUITES[suite], f"{name} {versions.get(mpi, '–')}", *(entry["proved"][mpi][proof] for proof in MPI_PROOFS)])
        slurm_rows.append([SUITES[suite], f"Slurm {versions.get('slurm', '–')}", *(entry["proved"]["slurm"][proof] for proof in SLURM_PROOFS)])
        tests = ", ".join(f"{number} {result}" for result, number in sorted(entry["tests"].items()))
        others = ", ".join(f"{name} {version}" for name, version in versions.items() if name not in ("openmpi", "mpich", "slurm"))
        run_rows.append([SUITES[suite], entry["date"], f"`{entry['commit']}`", entry["architecture"], tests, others])
    return [*markdown(["system", "MPI", *MPI_PROOFS], mpi_rows), *markdown(["system", "Slurm", *SLURM_PROOFS], slurm_rows),
            *markdown(["system", "date", "commit", "processor", "all tests", "built with"], run_rows)]


def with_tables(page, lines):
    """The text of the page with these lines between its two comments."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page does not contain the lines '{BEGIN}' and '{END}'")
    return before + begin + "\n\n" + "\n".join(lines) + "\n" + end + after


def page_of(results, page):
    lines = results.read_text().splitlines() if results.exists() else []
    return with_tables(page.read_text(), tables(latest_complete(lines)))


def main():
    parser = argparse.ArgumentParser(description="The table of docs/versions.md")
    verbs = parser.add_subparsers(dest="verb", required=True)
    add = verbs.add_parser("add", help="append the result of a run")
    for option in ("suite", "root", "commit"):
        add.add_argument(f"--{option}", required=True)
    add.add_argument("--outcome", required=True, choices=["complete", "selected", "not built"])
    add.add_argument("results", type=pathlib.Path)
    add.add_argument("reports", nargs="*", type=pathlib.Path)
    page = verbs.add_parser("page", help="write the table into a page")
    page.add_argument("results", type=pathlib.Path)
    page.add_argument("page", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.verb == "add":
        with arguments.results.open("a") as file:
            file.write(json.dumps(row(arguments)) + "\n")
    else:
        arguments.page.write_text(page_of(arguments.results, arguments.page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
