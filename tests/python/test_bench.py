# SPDX-License-Identifier: Apache-2.0
"""Experiments: rankloom.bench returns the rows of `rankloom bench`."""

import pytest

import rankloom

MACHINE = "node:4=10 core:4=1"


def test_rows_are_those_of_the_program(program):
    rows = rankloom.bench("gen:ring:ranks=16,shuffle", MACHINE, ["block", "greedy"], seeds=2, model="bytes")
    assert [(row["mapper"], row["seed"]) for row in rows] == [("block", 0), ("greedy", 0), ("block", 1), ("greedy", 1)]
    mapped = program("map", "gen:ring:ranks=16,shuffle", "-t", MACHINE, "-a", "greedy", "--seed", 1, "--model", "bytes", "--raw")
    assert rows[3]["cost"] == mapped["cost"]
    assert all(row["cpu_seconds"] > 0 and row["peak_bytes"] > 0 for row in rows)


def test_a_directory_keeps_the_rows(tmp_path):
    first = rankloom.bench("gen:ring:ranks=8", MACHINE, "block", seeds=1, directory=str(tmp_path / "kept"))
    again = rankloom.bench("gen:ring:ranks=8", MACHINE, "block", seeds=1, directory=str(tmp_path / "kept"))
    assert first == again
    assert (tmp_path / "kept" / "pareto.svg").read_text().startswith("<svg")


def test_a_failed_run_is_a_row_and_a_wrong_mapper_an_error():
    rows = rankloom.bench("gen:ring:ranks=8", MACHINE, ["block", "exec:exit 3"], seeds=1)
    assert "cost" in rows[0] and "status 3" in rows[1]["error"]
    with pytest.raises(rankloom.Error) as raised:
        rankloom.bench("gen:ring:ranks=8", MACHINE, "blocks")
    assert raised.value.code == 2 and "block" in raised.value.hint
