# SPDX-License-Identifier: Apache-2.0
"""Mapping and evaluation: exactly the results of the program."""

import threading
import time

import numpy as np
import pytest
import rankloom

PATTERN = "gen:groups:groups=12,per-group=16"
MACHINE = "switch:2=4.1 node:6=3.7 core:16=1"


@pytest.fixture(scope="module")
def graph():
    return rankloom.Graph.load(PATTERN)


@pytest.fixture(scope="module")
def machine():
    return rankloom.Topology(MACHINE)


@pytest.mark.parametrize("mapper, keywords, flags", [
    ("auto", {"effort": "fast"}, ["--effort", "fast"]),
    ("greedy", {"seed": 5}, ["--seed", 5]),
    ("pair-exchange", {"tries": 2000, "model": "hopbytes"}, ["--tries", 2000, "--model", "hopbytes"]),
    ("pair-exchange:tries=2000", {"threads": 1}, ["--threads", 1]),
    ("random", {"seed": 7, "raw": True}, ["--seed", 7, "--raw"]),
])
def test_a_mapping_equals_that_of_the_program(program, graph, machine, mapper, keywords, flags):
    found = rankloom.map(graph, machine, mapper, **keywords)
    expected = program("map", PATTERN, "-t", MACHINE, "-a", mapper, *flags)
    assert found.cores.tolist() == expected["mapping"]
    for key in ("mapper", "seed", "model", "cost", "cost_default", "lower_bound", "fell_back", "note"):
        assert getattr(found, key) == expected[key], key
    assert found.gain_percent == pytest.approx(expected["gain_percent"])


def test_an_evaluation_equals_that_of_the_program(program, graph, machine, tmp_path):
    found = rankloom.map(graph, machine, effort="fast", model="bytes")
    found.save(tmp_path / "found.map")
    metrics = rankloom.evaluate(graph, machine, found)
    expected = program("eval", tmp_path / "found.map", "--profile", PATTERN, "-t", MACHINE, "--model", "bytes")["mappings"][0]
    for key, value in metrics.items():
        assert value == expected[key], key
    assert metrics["costs"]["bytes"] == found.cost == expected["cost"]
    assert rankloom.evaluate(graph, machine, found.cores.astype(np.int64)) == metrics


def test_a_matrix_and_its_file_have_the_same_mapping(program, tmp_path):
    matrix = rankloom.Graph.load("gen:stencil2d:size=6x6,shuffle=true").to_numpy()
    np.savetxt(tmp_path / "m.txt", matrix, fmt="%.17g")
    found = rankloom.map(rankloom.Graph.from_matrix(matrix), rankloom.Topology("node:6=5 core:6=1"), "refine")
    expected = program("map", tmp_path / "m.txt", "-t", "node:6=5 core:6=1", "-a", "refine")
    assert found.cores.tolist() == expected["mapping"] and found.cost == expected["cost"]


def test_the_result_does_not_depend_on_the_number_of_threads(graph, machine):
    results = [rankloom.map(graph, machine, effort="fast", seed=3, threads=threads).cores.tolist() for threads in (1, 2, 2)]
    assert results[0] == results[1] == results[2]


def test_ranks_do_not_move_if_the_migration_cost_exceeds_the_gain(graph, machine):
    first = rankloom.map(graph, machine, "greedy")
    again = rankloom.map(graph, machine, "refine", start=first.cores, migration_cost=1e18)
    assert again.moved == 0 and np.array_equal(again.cores, first.cores)


def test_more_ranks_than_cores_need_oversubscribe(graph):
    small = rankloom.Topology("node:4=10 core:8=1")
    with pytest.raises(rankloom.Error) as caught:
        rankloom.map(graph, small)
    assert caught.value.code == 4
    found = rankloom.map(graph, small, "greedy", oversubscribe=True)
    assert np.bincount(found.cores, minlength=32).tolist() == [6] * 32


def test_a_distance_matrix_is_a_machine():
    distances = np.array([[0, 1, 9], [1, 0, 9], [9, 9, 0]], dtype=float)
    machine = rankloom.Topology.from_matrix(distances)
    graph = rankloom.Graph.from_edges(3, [0], [2], [10])
    found = rankloom.map(graph, machine, "exhaustive")
    assert found.cost == 10 and np.array_equal(machine.distances(), distances)
    assert rankloom.evaluate(graph, machine, found)["predicted_seconds"] is None


def test_a_machine_has_levels_nodes_and_distances(machine):
    assert (machine.cores, machine.nodes) == (192, 12)
    assert machine.levels == [("switch", 2), ("node", 12), ("core", 192)]
    assert machine.node_of.tolist() == [core // 16 for core in range(192)]
    assert len(set(machine.node_names)) == 12
    assert machine.distances([0, 1, 16, 191]).tolist()[0] == [0, 1, 3.7, 4.1]


def test_a_machine_survives_the_round_trip_through_a_file(machine, tmp_path):
    (tmp_path / "machine.json").write_text(machine.to_json())
    assert np.array_equal(rankloom.Topology(tmp_path / "machine.json").distances(), machine.distances())


def test_other_threads_run_during_a_mapping():
    graph = rankloom.Graph.load("gen:random:ranks=600,degree=12")
    machine = rankloom.Topology("node:80=10 core:16=1")
    done = threading.Event()

    def work():
        rankloom.map(graph, machine, effort="best", budget=0.6)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    turns = 0
    while not done.is_set():
        time.sleep(0.002)
        turns += 1
    worker.join()
    assert turns > 2  # with the interpreter lock held, there would be one


@pytest.mark.parametrize("call", [
    lambda graph, machine: rankloom.map(graph, machine, "no-such-mapper"),
    lambda graph, machine: rankloom.map(graph, machine, "greedy", no_such_option=1),
    lambda graph, machine: rankloom.map(graph, machine, "pair-exchange", tries="many"),
    lambda graph, machine: rankloom.map(graph, machine, model="no-such-model"),
    lambda graph, machine: rankloom.map(graph, machine, budget=-1),
    lambda graph, machine: rankloom.map(graph, machine, seed=-1),
    lambda graph, machine: rankloom.map(graph, machine, threads=10**6),
    lambda graph, machine: rankloom.map(graph, machine, imbalance=float("nan")),
    lambda graph, machine: rankloom.map(graph, machine, migration_cost=2),
    lambda graph, machine: rankloom.map(graph, machine, "block", start=np.arange(192)),
    lambda graph, machine: rankloom.map(graph, machine, "refine", start=np.zeros(192, dtype=int)),
    lambda graph, machine: rankloom.evaluate(graph, machine, [0, 1]),
    lambda graph, machine: rankloom.evaluate(graph, machine, np.full(192, 192)),
    lambda graph, machine: rankloom.evaluate(graph, machine, np.linspace(0, 1, 192)),
    lambda graph, machine: machine.distances([192]),
    lambda graph, machine: rankloom.Topology("not a machine"),
    lambda graph, machine: rankloom.Topology.from_matrix([[0, -1], [1, 0]]),
    lambda graph, machine: rankloom.map(graph, machine, "block").save("/no/such/folder/x.map"),
])
def test_bad_input_is_an_error_with_a_hint(graph, machine, call):
    with pytest.raises(rankloom.Error) as caught:
        call(graph, machine)
    assert caught.value.what and caught.value.hint and caught.value.where
