# SPDX-License-Identifier: Apache-2.0
"""Allocation of nodes to several jobs, compared with `rankloom alloc`."""

import pytest
import rankloom


def test_a_proposal_has_nodes_and_a_core_for_each_rank():
    machine = rankloom.Topology("torus:8x8 core:2")
    allocator = rankloom.Allocator(machine)
    graph = rankloom.Graph.load("gen:stencil2d:ranks=32,shuffle=true")
    proposal = allocator.propose(graph, limit=None)
    assert len(proposal.nodes) == 16 and len(set(proposal.cores.tolist())) == 32
    assert set(machine._topology.node_of[proposal.cores]) == set(proposal.nodes.tolist())
    assert "box" in proposal.reason and proposal.seconds < proposal.seconds_default
    assert allocator.free_nodes == 64
    job = allocator.commit(proposal)
    assert job.isolated and job.nodes.tolist() == proposal.nodes.tolist() and allocator.free_nodes == 48
    assert allocator.commit(proposal) is None
    assert allocator.propose(graph, 64) is None
    allocator.release(job)
    assert len(allocator.propose(graph, 64).nodes) == 64


@pytest.mark.parametrize("options", [{"nodes": 3}, {"nodes": 65}, {"nodes": 0}, {"prefer": "all"}, {"communication": 0}, {"communication": 2}, {"limit": 0}])
def test_bad_proposals_are_refused(options):
    with pytest.raises(rankloom.Error) as error:
        rankloom.Allocator(rankloom.Topology("torus:8x8 core:2")).propose(rankloom.Graph.load("gen:ring:ranks=32"), **options)
    assert error.value.hint


@pytest.mark.parametrize("machine", ["mesh:6x6 core:4", "torus:4x4x4 core:2", "switch:4=4 node:8=2 core:4=1"])
def test_jobs_get_the_same_nodes_as_from_the_program(program, tmp_path, machine):
    program("alloc", "init", "-t", machine, cwd=tmp_path)
    allocator = rankloom.Allocator(rankloom.Topology(machine))
    for request in ({"nodes": 4}, {"nodes": 7}, {"nodes": 1}, {"release": 1}, {"nodes": 5}, {"tasks": 9}):
        if "release" in request:
            program("alloc", "release", request["release"], cwd=tmp_path)
            allocator.release(request["release"])
            continue
        words = ["--tasks", request["tasks"]] if "tasks" in request else [request["nodes"]]
        expected = program("alloc", "request", *words, cwd=tmp_path, may_wait=True)
        job = allocator.request(**request)
        if expected is None:
            assert job is None
            continue
        assert job.nodes.tolist() == expected["nodes"] and job.names == expected["names"] and job.reserved.tolist() == expected["reserved"]
        assert (job.diameter, job.isolated) == (expected["diameter"], expected["isolated"])
    assert len(allocator.jobs) >= 2


def test_a_request_that_must_wait_returns_none_and_changes_nothing():
    allocator = rankloom.Allocator(rankloom.Topology("mesh:4x4 core:2"))
    first = allocator.request(8)
    assert allocator.request(9) is None and allocator.free_nodes == 8
    assert [job.id for job in allocator.jobs] == [first.id]
    allocator.release(first)
    assert allocator.free_nodes == allocator.nodes == 16


def test_drained_nodes_are_not_allocated():
    allocator = rankloom.Allocator(rankloom.Topology("mesh:2x2 core:2"), exclusive="routers")
    allocator.drain(3)
    assert allocator.request(4) is None
    assert 3 not in allocator.request(3, fallback="diameter").nodes
    allocator.resume(3)
    assert allocator.request(1).nodes.tolist() == [3]


@pytest.mark.parametrize("call", [
    lambda allocator: allocator.request(),
    lambda allocator: allocator.request(4, tasks=4),
    lambda allocator: allocator.request(0),
    lambda allocator: allocator.request(1.5),
    lambda allocator: allocator.request(17),
    lambda allocator: allocator.request(1, policy="no-such-policy"),
    lambda allocator: allocator.request(1, fallback="no-such-fallback"),
    lambda allocator: allocator.release(99),
    lambda allocator: allocator.drain(16),
    lambda allocator: rankloom.Allocator(rankloom.Topology("mesh:4x4 core:2"), exclusive="no-such-resource"),
    lambda allocator: rankloom.Allocator(rankloom.Topology.from_matrix([[0, 1], [1, 0]])),
])
def test_bad_requests_are_errors_with_a_hint(call):
    with pytest.raises(rankloom.Error) as caught:
        call(rankloom.Allocator(rankloom.Topology("mesh:4x4 core:2")))
    assert caught.value.what and caught.value.hint and caught.value.where
