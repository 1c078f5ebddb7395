# SPDX-License-Identifier: Apache-2.0
"""rankloom maps the processes of a parallel program onto a machine such that communicating processes are close to each other.

    >>> import rankloom
    >>> graph = rankloom.Graph.load("gen:groups:groups=4,per-group=4")   # traffic between ranks
    >>> machine = rankloom.Topology("node:4=10 core:4=1")                # the machine
    >>> result = rankloom.map(graph, machine)                            # a core for every rank
    >>> bool(result.cost < result.cost_default)
    True

Matrices are converted from and to numpy and scipy.sparse. The same input and seed give the same result on any number of threads.
Mappers release the global interpreter lock. Errors are raised as `rankloom.Error` with a hint.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _rankloom
from ._bench import bench
from ._error import Error

__version__: str = _rankloom.__version__
__all__ = ["Allocator", "Error", "Graph", "Job", "MapResult", "Proposal", "Topology", "bench", "cost_models", "evaluate", "formats", "map",
           "mappers", "patterns", "policies"]

PathOrText = Union[str, "os.PathLike[str]"]


def _numbers(name: str, values: Any) -> np.ndarray:
    """Converts ranks, cores or nodes to the type of the library, without silent rounding or overflow."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.uint32)
    if array.ndim != 1:
        raise Error(f"the array has {array.ndim} dimensions", name, "pass a list of integers")
    if array.dtype.kind not in "iu":
        raise Error(f"the array contains {array.dtype} instead of integers", name, "pass a list of integers", 3)
    if int(array.min()) < 0 or int(array.max()) > 0xFFFFFFFF:
        raise Error("the array contains a number that is negative or too large", name, "use numbers from 0 to 2**32 - 1", 3)
    return np.ascontiguousarray(array, dtype=np.uint32)


def _amounts(name: str, values: Any) -> np.ndarray:
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise Error("the array contains a value that is not a number", name, "pass amounts as numbers", 3) from None
    if array.ndim != 1:
        raise Error(f"the array has {array.ndim} dimensions", name, "pass a list of numbers")
    return array


def _integer(name: str, value: Any, minimum: int = 0) -> int:
    number = int(value)
    if number != value or number < minimum or number >= 2**64:
        raise Error(f"{value} is not an integer of at least {minimum}", name, f"use an integer from {minimum}")
    return number


class Graph:
    """The traffic between ranks: bytes and, if known, messages from each rank to each other rank. Immutable.

    Create a graph by `load`, `from_edges` or `from_matrix`. A graph from an undirected format has half of each weight in each
    direction, so that sums over both directions count it once.
    """

    __slots__ = ("_graph", "topology")
    #: The machine in the file (QAPLIB), or None.
    topology: Optional[Topology]

    def __init__(self, graph: _rankloom.Graph, topology: Optional[Topology] = None) -> None:
        if not isinstance(graph, _rankloom.Graph):
            raise Error("the constructor is not public", "Graph", "use Graph.load, Graph.from_edges or Graph.from_matrix")
        self._graph = graph
        self.topology = topology

    @classmethod
    def load(cls, profile: PathOrText, *, format: str = "", collectives: str = "auto") -> Graph:
        """Loads a file in any format of `rankloom list formats`, or "gen:PATTERN".

        format       the format; by default it is detected from the content
        collectives  how collective operations are expanded into messages: none, logical, tree, flat, openmpi, openmpi5,
                     mpich, or auto: by the MPI library that was recorded
        """
        graph, topology = _rankloom.Graph.load(os.fspath(profile), format, collectives)
        return cls(graph, None if topology is None else Topology._wrap(topology))

    @classmethod
    def from_edges(cls, ranks: int, source: Any, target: Any, bytes: Any, *, messages: Any = None, loads: Any = None,
                   undirected: bool = False) -> Graph:
        """Edge i: source[i] sends bytes[i] in messages[i] messages to target[i].

        The edges may have any order; repeated pairs are added, and messages of a rank to itself are ignored. `undirected`: each
        pair is given once, with the traffic of both directions. `loads`: the load of each rank.
        """
        count = _integer("ranks", ranks)
        if count > 0xFFFFFFFF:
            raise Error(f"{count} ranks are too many", "ranks", "use at most 2**32 - 1", 4)
        return cls(_rankloom.Graph.from_edges(
            count, _numbers("source", source), _numbers("target", target), _amounts("bytes", bytes),
            None if messages is None else _amounts("messages", messages), None if loads is None else _amounts("loads", loads),
            bool(undirected)))

    @classmethod
    def from_matrix(cls, bytes: Any, *, messages: Any = None, loads: Any = None) -> Graph:
        """Converts square matrices of numpy or scipy.sparse: row r, column c is the traffic from r to c.

        `messages` must have the same non-zero entries as `bytes`.
        """
        source, target, amounts, ranks = _entries("bytes", bytes)
        counts = None
        if messages is not None:
            other_source, other_target, counts, other_ranks = _entries("messages", messages)
            if other_ranks != ranks or not (np.array_equal(source, other_source) and np.array_equal(target, other_target)):
                raise Error("the non-zero entries differ from those of bytes", "messages", "pass both for the same pairs", 3)
        return cls.from_edges(ranks, source, target, amounts, messages=counts, loads=loads)

    @property
    def ranks(self) -> int:
        return self._graph.ranks

    @property
    def edges(self) -> int:
        """The number of ordered pairs with traffic."""
        return self._graph.edges

    @property
    def undirected(self) -> bool:
        """The graph comes from an undirected format: each direction has half of the weight."""
        return self._graph.undirected

    @property
    def total_bytes(self) -> float:
        return self._graph.total_bytes

    @property
    def total_messages(self) -> float:
        return self._graph.total_messages

    @property
    def offsets(self) -> np.ndarray:
        """CSR format: rank r sends to targets[offsets[r]:offsets[r + 1]]. This and the following arrays are read-only views."""
        return self._graph.offsets

    @property
    def targets(self) -> np.ndarray:
        return self._graph.targets

    @property
    def bytes(self) -> np.ndarray:
        return self._graph.bytes

    @property
    def messages(self) -> Optional[np.ndarray]:
        """None: unknown."""
        return self._graph.messages

    @property
    def loads(self) -> Optional[np.ndarray]:
        """The load of each rank; None: all equal."""
        return self._graph.loads

    def to_scipy(self, what: str = "bytes") -> Any:
        """A scipy.sparse.csr_matrix of "bytes" or "messages". Its values share the memory of the graph and are read-only."""
        from scipy import sparse

        matrix = sparse.csr_matrix((self.ranks, self.ranks), dtype=np.float64)
        matrix.data = self._values(what)
        # scipy needs the same signed type for both index arrays.
        kind = np.int32 if max(self.edges, self.ranks) < 2**31 else np.int64
        matrix.indices = self.targets.view(np.int32) if kind is np.int32 else self.targets.astype(kind)
        matrix.indptr = self.offsets.astype(kind)
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def to_numpy(self, what: str = "bytes") -> np.ndarray:
        """A dense matrix of "bytes" or "messages" with ranks × ranks entries."""
        dense = np.zeros((self.ranks, self.ranks))
        rows = np.repeat(np.arange(self.ranks), np.diff(self.offsets.astype(np.int64)))
        dense[rows, self.targets] = self._values(what)
        return dense

    def _values(self, what: str) -> np.ndarray:
        if what == "bytes":
            return self.bytes
        if what != "messages":
            raise Error(f"a graph has no {what}", "what", "use bytes or messages")
        if self.messages is None:
            raise Error("the number of messages of this graph is unknown", "what", "use bytes", 3)
        return self.messages

    def __repr__(self) -> str:
        return f"<rankloom.Graph: {self.ranks} ranks, {self.edges} edges, {self.total_bytes:g} bytes>"


def _entries(name: str, matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The rows, columns and values of the non-zero entries in row order, and the size of the matrix."""
    sparse = hasattr(matrix, "tocsr")
    array = matrix.tocsr() if sparse else np.asarray(matrix)
    if len(array.shape) != 2 or array.shape[0] != array.shape[1]:
        raise Error(f"the matrix has the shape {array.shape}", name, "pass a square matrix", 3)
    if array.dtype.kind not in "iufb":
        raise Error(f"the matrix contains {array.dtype} instead of numbers", name, "pass a matrix of numbers", 3)
    if sparse:
        if not array.has_canonical_format:
            array = array.copy()
            array.sum_duplicates()
        rows = np.repeat(np.arange(array.shape[0], dtype=np.uint32), np.diff(array.indptr))
        return rows, array.indices, array.data, array.shape[0]
    rows, columns = np.nonzero(array)
    return rows, columns, array[rows, columns], array.shape[0]


class Topology:
    """A machine, from a topology file or a string such as "switch:2=4.1 node:6=3.7 core:16=1". Immutable."""

    __slots__ = ("_topology",)

    def __init__(self, file_or_string: PathOrText) -> None:
        self._topology = _rankloom.Topology(os.fspath(file_or_string))

    @classmethod
    def _wrap(cls, topology: _rankloom.Topology) -> Topology:
        wrapper = cls.__new__(cls)
        wrapper._topology = topology
        return wrapper

    @classmethod
    def from_matrix(cls, distances: Any) -> Topology:
        """Cores with the distances of a square matrix, for quadratic assignment problems."""
        table = np.ascontiguousarray(distances, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise Error(f"the matrix has the shape {table.shape}", "distances", "pass a square matrix", 3)
        if not np.all(np.isfinite(table)) or bool((table < 0).any()):
            raise Error("the matrix contains an invalid distance", "distances", "use distances that are finite and not negative", 3)
        return cls._wrap(_rankloom.Topology.from_matrix(table.shape[0], table.ravel()))

    @property
    def cores(self) -> int:
        return self._topology.cores

    @property
    def nodes(self) -> int:
        return self._topology.nodes

    @property
    def levels(self) -> list[tuple[str, int]]:
        """From the outermost level inwards: the kind and the number of objects of each level."""
        return self._topology.levels

    @property
    def node_names(self) -> list[str]:
        return self._topology.node_names

    @property
    def node_of(self) -> np.ndarray:
        """The node of every core."""
        return self._topology.node_of

    def distances(self, cores: Optional[Sequence[int]] = None) -> np.ndarray:
        """The cost of a byte between all pairs of these cores (default: all cores)."""
        requested = np.arange(self.cores, dtype=np.uint32) if cores is None else _numbers("cores", cores)
        return self._topology.distances(requested)

    def to_json(self) -> str:
        """The contents of a topology file."""
        if self._topology.is_matrix:
            raise Error("a distance matrix cannot be written as a topology file", "to_json", "store the matrix instead", 3)
        return self._topology.to_json()

    def __repr__(self) -> str:
        return "<rankloom.Topology: " + ", ".join(f"{count} {kind}" for kind, count in self.levels) + ">"


@dataclass(frozen=True, eq=False)
class MapResult:
    """The result of `map`. `cores[r]` is the core of rank r."""

    cores: np.ndarray
    mapper: str  #: with its options
    seed: int
    model: str
    larger_is_better: bool  #: whether larger values of the model are better
    cost: float
    cost_default: float  #: of the default placement of launchers
    lower_bound: Optional[float]  #: no placement costs less; None: unknown
    time_ms: float  #: run time of the algorithm
    fell_back: bool  #: no better mapping was found, so this is the default placement
    note: str
    moved: Optional[int]  #: ranks that are not on their core in `start`
    load: Optional[dict[str, float]]  #: for mappers that balance loads

    @property
    def gain_percent(self) -> float:
        """The improvement over the default placement of launchers in percent."""
        if self.cost == self.cost_default or self.cost_default == 0:
            return 0.0
        gain = 100 * (self.cost_default - self.cost) / abs(self.cost_default)
        return -gain if self.larger_is_better else gain

    def save(self, path: PathOrText) -> None:
        """Writes the mapping for `rankloom run`, `emit` and `eval`: one core number per line."""
        target = os.fspath(path)
        temporary = f"{target}.{os.getpid()}.part"
        try:
            with open(temporary, "w", encoding="ascii") as file:
                file.writelines(f"{core}\n" for core in self.cores)
            os.replace(temporary, target)
        except OSError as error:
            raise Error(f"cannot be written: {error.strerror}", target, "choose another path", 5) from error


def map(graph: Graph, topology: Topology, mapper: str = "auto", *, model: Optional[str] = None, seed: int = 0,
        budget: Optional[float] = None, threads: int = 0, oversubscribe: bool = False, imbalance: float = 0.0, start: Any = None,
        migration_cost: float = 0.0, raw: bool = False, lower_bound: bool = True, **options: Any) -> MapResult:
    """Computes a core for every rank. Other Python threads continue meanwhile.

    mapper        a name of `mappers()`; its options are keywords: `effort="best"`, `tries=1000`, `some_option` for --some-option
    model         the cost model that is minimised, a name of `cost_models()`; None: the predicted time, on a distance matrix bytes × distance
    seed          the same seed and input give the same result
    budget        soft time limit in seconds; the best mapping found by then is returned
    threads       maximum number of threads; 0: all cores
    oversubscribe, imbalance   allow several ranks per core, and the relative excess over the average that is allowed
    start, migration_cost          cores to begin from, for mappers that take them, and what each move away costs
    raw           return a result even if it costs more than the default placement
    lower_bound   compute a lower bound of the cost if the mapper does not provide one
    """
    if budget is not None and not 0.001 <= budget <= 1e9:
        raise Error(f"{budget} is not a valid time in seconds", "budget", "use a number from 0.001 to 1e9, or None for no limit")
    settings = [(name.replace("_", "-"), str(value).lower() if isinstance(value, bool) else str(value)) for name, value in options.items()]
    result = _rankloom.map(
        graph._graph, topology._topology, mapper, settings, model or "", _integer("seed", seed), 0 if budget is None else int(budget * 1000),
        _integer("threads", threads), bool(oversubscribe), float(imbalance), None if start is None else _numbers("start", start),
        float(migration_cost), bool(raw), bool(lower_bound))
    return MapResult(**result)


def evaluate(graph: Graph, topology: Topology, cores: Any, *, threads: int = 0) -> dict[str, Any]:
    """The metrics of `rankloom eval --json` for a mapping (an array of cores, or a result of `map`).

    costs (of every model), levels (bytes and messages between objects of each level), links (the most loaded), average_hops,
    nodes_used, cores_used, max_ranks_per_core, load_imbalance, load, predicted_seconds (None for a distance matrix).
    """
    placed = cores.cores if isinstance(cores, MapResult) else cores
    return _rankloom.evaluate(graph._graph, topology._topology, _numbers("mapping", placed), _integer("threads", threads))


@dataclass(frozen=True, eq=False)
class Job:
    """A job and its nodes."""

    id: int
    nodes: np.ndarray  #: in increasing order
    names: list[str]
    reserved: np.ndarray  #: additional nodes that no other job may use
    diameter: int  #: largest number of hops between two of the nodes
    isolated: bool  #: no other job used the same routers or links when the nodes were selected


class Proposal:
    """Nodes for a job, and a core for each of its ranks. Nothing is reserved until the proposal is committed."""

    __slots__ = ("_proposal",)

    def __init__(self, proposal: _rankloom.Proposal) -> None:
        if not isinstance(proposal, _rankloom.Proposal):
            raise Error("the constructor is not public", "Proposal", "use Allocator.propose")
        self._proposal = proposal

    @property
    def nodes(self) -> np.ndarray:
        """The nodes in increasing order."""
        return self._proposal.nodes

    @property
    def cores(self) -> np.ndarray:
        """The core of every rank."""
        return self._proposal.cores

    @property
    def reason(self) -> str:
        """Why these nodes: "box 2x8: predicted run time 31 % below box 4x4, same packing"."""
        return self._proposal.reason

    @property
    def seconds(self) -> float:
        """The predicted communication time; NaN: not computed within the time limit."""
        return self._proposal.seconds

    @property
    def seconds_default(self) -> float:
        """That of the default placement of launchers on the same nodes."""
        return self._proposal.seconds_default

    def __repr__(self) -> str:
        return f"<rankloom.Proposal: {len(self.cores)} ranks on {len(self.nodes)} nodes; {self.reason}>"


class Allocator:
    """Allocates nodes to several jobs such that jobs do not share routers or links.

    policy     a name of `policies()`
    exclusive  the resources that two jobs must not share, "routers" or "links"; None: the default of the network
    """

    __slots__ = ("_jobs",)

    def __init__(self, topology: Topology, policy: str = "closed-best", *, exclusive: Optional[str] = None) -> None:
        self._jobs = _rankloom.Allocator(topology._topology, policy, exclusive or "")

    def request(self, nodes: Optional[int] = None, *, tasks: Optional[int] = None, policy: Optional[str] = None,
                fallback: str = "wait") -> Optional[Job]:
        """Allocates nodes to a job, or enough nodes for its tasks. None: not possible now, and nothing has changed.

        fallback  if the policy finds no nodes: wait, take close nodes that are not isolated (diameter), or distant isolated nodes (closed)
        """
        if (nodes is None) == (tasks is None):
            raise Error("the number of nodes is missing or ambiguous", "request", "pass either nodes or tasks")
        count = _integer("nodes", nodes) if nodes is not None else -(-_integer("tasks", tasks, 1) // self._jobs.cores_per_node)
        job = self._jobs.request(count, policy or "", fallback)
        return None if job is None else self._job(job)

    def propose(self, graph: Graph, nodes: Optional[int] = None, *, prefer: str = "balanced", communication: Optional[float] = None,
                limit: Optional[float] = 0.05) -> Optional[Proposal]:
        """Chooses isolated nodes for a job by the policy closed-fit, and maps its ranks onto them. None: no nodes now.

        nodes          by default as many as the ranks of the graph need
        prefer         balanced, job (the run time) or packing (the nodes taken from others)
        communication  the part of the run time that is communication; by default 0.3
        limit          seconds; the best proposal found by then is returned. None: no limit

        It releases the global interpreter lock, so other threads continue.
        """
        milliseconds = 0.0 if limit is None else 1000 * float(limit) or -1.0
        proposal = self._jobs.propose(graph._graph, 0 if nodes is None else _integer("nodes", nodes, 1), prefer,
                                      0.0 if communication is None else float(communication) or -1.0, milliseconds)
        return None if proposal is None else Proposal(proposal)

    def commit(self, proposal: Proposal) -> Optional[Job]:
        """Starts a job on the proposed nodes. None: another job has taken some of them, or links that they use."""
        job = self._jobs.commit(proposal._proposal)
        return None if job is None else self._job(job)

    def release(self, job: Union[Job, int]) -> None:
        """Releases the nodes of a job."""
        self._jobs.release(job.id if isinstance(job, Job) else _integer("job", job))

    def drain(self, node: int, *, failed: bool = False) -> None:
        """Excludes a node from new jobs. A failed node does not route messages either, if it is its own router."""
        self._jobs.drain(_integer("node", node), failed)

    def resume(self, node: int) -> None:
        """Makes a drained node available again."""
        self._jobs.resume(_integer("node", node))

    @property
    def jobs(self) -> list[Job]:
        """The running jobs in the order of their requests."""
        return [self._job(job) for job in self._jobs.jobs()]

    @property
    def free_nodes(self) -> int:
        return self._jobs.free_nodes

    @property
    def nodes(self) -> int:
        return self._jobs.nodes

    @property
    def policy(self) -> str:
        return self._jobs.policy

    @property
    def exclusive(self) -> str:
        return self._jobs.exclusive

    def _job(self, job: int) -> Job:
        return Job(**self._jobs.job(job))

    def __repr__(self) -> str:
        return f"<rankloom.Allocator: {self.free_nodes} of {self.nodes} nodes free, {self.policy}>"


def mappers() -> list[dict[str, str]]:
    """The table of `rankloom list mappers`: name, summary, reference."""
    return _rankloom.mappers()


def policies() -> list[dict[str, str]]:
    """The table of `rankloom list policies`."""
    return _rankloom.policies()


def cost_models() -> list[dict[str, str]]:
    """The table of `rankloom list models`."""
    return _rankloom.cost_models()


def formats() -> list[dict[str, str]]:
    """The table of `rankloom list formats`."""
    return _rankloom.formats()


def patterns() -> list[dict[str, str]]:
    """The table of `rankloom list patterns`."""
    return _rankloom.patterns()
