#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the least covered files of the library from the CSV report of gcovr: coverage_summary.py FILE [COUNT]"""
import csv
import sys


def main():
    path, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["filename"].startswith("rankloom/") and int(row["line_total"]) > 0]
    for row in rows:
        row["lines"], row["branches"] = (int(row[f"{kind}_covered"]) / max(1, int(row[f"{kind}_total"])) for kind in ("line", "branch"))
    rows.sort(key=lambda row: (row["lines"], row["branches"]))
    print(f"the {count} least covered files of rankloom/: lines, branches")
    for row in rows[:count]:
        print(f"{100 * row['lines']:5.1f} %  {100 * row['branches']:5.1f} %  {row['line_covered']} of {row['line_total']} lines  {row['filename']}")


if __name__ == "__main__":
    main()
