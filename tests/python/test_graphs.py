# SPDX-License-Identifier: Apache-2.0
"""Graphs and matrices from and to numpy and scipy.sparse."""

import numpy as np
import pytest
import rankloom
from scipy import sparse


@pytest.fixture
def matrix():
    generator = np.random.default_rng(3)
    dense = np.where(generator.random((40, 40)) < 0.2, generator.integers(1, 1000, (40, 40)), 0).astype(float)
    np.fill_diagonal(dense, 0)
    return dense


def test_a_dense_matrix_survives_the_round_trip(matrix):
    graph = rankloom.Graph.from_matrix(matrix)
    assert (graph.ranks, graph.edges, graph.total_bytes) == (40, np.count_nonzero(matrix), matrix.sum())
    assert np.array_equal(graph.to_numpy(), matrix)
    assert graph.messages is None and graph.loads is None and not graph.undirected


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_sparse_matrices_of_every_format_survive_the_round_trip(matrix, form):
    graph = rankloom.Graph.from_matrix(sparse.coo_matrix(matrix).asformat(form))
    back = graph.to_scipy()
    assert isinstance(back, sparse.csr_matrix)
    assert np.array_equal(back.toarray(), matrix)
    assert (back @ np.ones(40) == matrix.sum(axis=1)).all()


def test_repeated_entries_are_added_and_the_diagonal_is_ignored():
    twice = sparse.coo_matrix(([1.0, 2.0, 9.0], ([0, 0, 1], [1, 1, 1])), shape=(2, 2))
    assert rankloom.Graph.from_matrix(twice).to_numpy().tolist() == [[0, 3], [0, 0]]
    graph = rankloom.Graph.from_edges(3, [0, 0, 2, 1], [1, 1, 2, 0], [1, 2, 9, 4])
    assert graph.to_numpy().tolist() == [[0, 3, 0], [4, 0, 0], [0, 0, 0]]


def test_messages_and_loads_are_stored(matrix):
    messages = np.ceil(matrix / 100)
    loads = np.arange(40.0)
    graph = rankloom.Graph.from_matrix(matrix, messages=messages, loads=loads)
    assert np.array_equal(graph.to_numpy("messages"), messages)
    assert graph.total_messages == messages.sum()
    assert np.array_equal(graph.loads, loads)


def test_arrays_share_the_memory_of_the_graph_and_are_read_only(matrix):
    graph = rankloom.Graph.from_matrix(matrix)
    assert graph.bytes.ctypes.data == graph.bytes.ctypes.data == graph.to_scipy().data.ctypes.data
    for array in (graph.bytes, graph.targets, graph.offsets):
        with pytest.raises(ValueError):
            array[0] = 1
    array = graph.bytes
    del graph
    assert array.sum() == matrix.sum()  # the array keeps the graph alive


def test_an_undirected_pair_counts_once():
    graph = rankloom.Graph.from_edges(2, [0], [1], [10], undirected=True)
    assert graph.undirected and graph.to_numpy().tolist() == [[0, 5], [5, 0]]


def test_files_are_read_like_the_program_reads_them(tmp_path, program, matrix):
    path = tmp_path / "traffic.txt"
    np.savetxt(path, matrix, fmt="%d")
    graph = rankloom.Graph.load(path)
    assert np.array_equal(graph.to_numpy(), matrix)
    said = program("eval", "block", "--profile", path, "-t", "core:40=1")
    assert said["ranks"] == graph.ranks and said["edges"] == graph.edges


@pytest.mark.parametrize("call, where", [
    (lambda: rankloom.Graph.from_edges(2, [0], [2], [1]), "to"),
    (lambda: rankloom.Graph.from_edges(2, [0, 1], [1], [1]), "to"),
    (lambda: rankloom.Graph.from_edges(2, [0], [-1], [1]), "target"),
    (lambda: rankloom.Graph.from_edges(2, [0.5], [1], [1]), "source"),
    (lambda: rankloom.Graph.from_edges(2, [0], [1], [-1]), "bytes"),
    (lambda: rankloom.Graph.from_edges(2, [0], [1], [float("nan")]), "bytes"),
    (lambda: rankloom.Graph.from_edges(2, [0], [1], ["much"]), "bytes"),
    (lambda: rankloom.Graph.from_edges(2, [0], [1], [1], loads=[1]), "loads"),
    (lambda: rankloom.Graph.from_edges(-1, [], [], []), "ranks"),
    (lambda: rankloom.Graph.from_edges(2**32, [], [], []), "ranks"),
    (lambda: rankloom.Graph.from_matrix(np.ones((2, 3))), "bytes"),
    (lambda: rankloom.Graph.from_matrix(np.ones((2, 2), dtype=complex)), "bytes"),
    (lambda: rankloom.Graph.from_matrix(np.ones((2, 2)), messages=np.eye(2)), "messages"),
    (lambda: rankloom.Graph.load("/no/such/file"), "/no/such/file"),
    (lambda: rankloom.Graph.load("gen:groups", collectives="no-such-model"), "collectives"),
    (lambda: rankloom.Graph.from_edges(2, [0], [1], [1]).to_scipy("messages"), "what"),
])
def test_bad_input_raises_an_error_with_position_and_hint(call, where):
    with pytest.raises(rankloom.Error) as caught:
        call()
    error = caught.value
    assert error.where == where and error.what and error.hint and error.code in (2, 3, 4, 5)
    assert str(error) == f"{error.where}: {error.what} ({error.hint})"


def test_an_error_names_file_and_line(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("0 1\n1 x\n")
    with pytest.raises(rankloom.Error) as caught:
        rankloom.Graph.load(path, format="dense")
    assert caught.value.where == f"{path}:2" and caught.value.code == 3
