# SPDX-License-Identifier: Apache-2.0
"""rankloom places the processes of a parallel program where they talk.

    >>> import rankloom
    >>> graph = rankloom.Graph.load("gen:groups:groups=4,per-group=4")   # who talks to whom
    >>> machine = rankloom.Topology("node:4=10 core:4=1")                # what is near what
    >>> found = rankloom.map(graph, machine)                             # who should sit where
    >>> bool(found.cost < found.cost_default)
    True

Matrices come from and go to numpy and scipy.sparse. Same input and seed, same result, on any number of threads; mappers let
other threads of Python run. What goes wrong is raised as `rankloom.Error`, with a hint.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _rankloom
from ._error import Error

__version__: str = _rankloom.__version__
__all__ = ["Allocator", "Error", "Graph", "Job", "MapResult", "Topology", "cost_models", "evaluate", "formats", "map", "mappers",
           "patterns", "policies"]

PathOrText = Union[str, "os.PathLike[str]"]


def _numbers(name: str, values: Any) -> np.ndarray:
    """Ranks, cores or nodes, as the library takes them; no silent rounding or wrapping."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.uint32)
    if array.ndim != 1:
        raise Error(f"has {array.ndim} dimensions", name, "give a list of whole numbers")
    if array.dtype.kind not in "iu":
        raise Error(f"holds {array.dtype}, not whole numbers", name, "give a list of whole numbers", 3)
    if int(array.min()) < 0 or int(array.max()) > 0xFFFFFFFF:
        raise Error("holds a number that is negative or too large", name, "numbers begin at 0", 3)
    return np.ascontiguousarray(array, dtype=np.uint32)


def _amounts(name: str, values: Any) -> np.ndarray:
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise Error("holds what is no number", name, "give amounts as numbers", 3) from None
    if array.ndim != 1:
        raise Error(f"has {array.ndim} dimensions", name, "give a list of numbers")
    return array


def _whole(name: str, value: Any, least: int = 0) -> int:
    number = int(value)
    if number != value or number < least or number >= 2**64:
        raise Error(f"{value} is no whole number from {least}", name, "give another")
    return number


class Graph:
    """Who talks to whom: bytes, and messages where they are known, from each rank to each other. Immutable.

    Make one by `load`, `from_edges` or `from_matrix`. A graph read from an undirected format holds half of each weight in
    each direction, so that sums over all directions count it once.
    """

    __slots__ = ("_graph", "topology")
    #: The machine that came with the file (QAPLIB), or None.
    topology: Optional[Topology]

    def __init__(self, graph: _rankloom.Graph, topology: Optional[Topology] = None) -> None:
        if not isinstance(graph, _rankloom.Graph):
            raise Error("a graph is not made like this", "Graph", "use Graph.load, Graph.from_edges or Graph.from_matrix")
        self._graph = graph
        self.topology = topology

    @classmethod
    def load(cls, profile: PathOrText, *, format: str = "", collectives: str = "tree") -> Graph:
        """A file of any format of `rankloom list formats`, or "gen:PATTERN".

        format       when the content does not tell
        collectives  how they become traffic between pairs: none, logical, tree, flat
        """
        graph, topology = _rankloom.Graph.load(os.fspath(profile), format, collectives)
        return cls(graph, None if topology is None else Topology._of(topology))

    @classmethod
    def from_edges(cls, ranks: int, source: Any, target: Any, bytes: Any, *, messages: Any = None, loads: Any = None,
                   undirected: bool = False) -> Graph:
        """Edge i: source[i] sends bytes[i] in messages[i] messages to target[i].

        In any order; repeated pairs are added up, what a rank sends to itself is left out. `undirected`: each pair is given
        once, with all that both say. `loads`: the work of each rank.
        """
        count = _whole("ranks", ranks)
        if count > 0xFFFFFFFF:
            raise Error(f"{count} ranks are too many", "ranks", "at most 2**32 - 1", 4)
        return cls(_rankloom.Graph.from_edges(
            count, _numbers("source", source), _numbers("target", target), _amounts("bytes", bytes),
            None if messages is None else _amounts("messages", messages), None if loads is None else _amounts("loads", loads),
            bool(undirected)))

    @classmethod
    def from_matrix(cls, bytes: Any, *, messages: Any = None, loads: Any = None) -> Graph:
        """Square matrices of numpy or scipy.sparse: row r, column c is what r sends to c.

        `messages` has to have its entries where `bytes` has.
        """
        source, target, amounts, ranks = _entries("bytes", bytes)
        counts = None
        if messages is not None:
            other_source, other_target, counts, other_ranks = _entries("messages", messages)
            if other_ranks != ranks or not (np.array_equal(source, other_source) and np.array_equal(target, other_target)):
                raise Error("has its entries elsewhere than bytes", "messages", "give both for the same pairs", 3)
        return cls.from_edges(ranks, source, target, amounts, messages=counts, loads=loads)

    @property
    def ranks(self) -> int:
        return self._graph.ranks

    @property
    def edges(self) -> int:
        """Ordered pairs that talk."""
        return self._graph.edges

    @property
    def undirected(self) -> bool:
        """Read from an undirected format: both directions hold half."""
        return self._graph.undirected

    @property
    def total_bytes(self) -> float:
        return self._graph.total_bytes

    @property
    def total_messages(self) -> float:
        return self._graph.total_messages

    @property
    def offsets(self) -> np.ndarray:
        """Compressed rows: rank r sends to targets[offsets[r]:offsets[r + 1]]. Read-only, not copied, like all that follow."""
        return self._graph.offsets

    @property
    def targets(self) -> np.ndarray:
        return self._graph.targets

    @property
    def bytes(self) -> np.ndarray:
        return self._graph.bytes

    @property
    def messages(self) -> Optional[np.ndarray]:
        """None: not known."""
        return self._graph.messages

    @property
    def loads(self) -> Optional[np.ndarray]:
        """The work of each rank; None: all equal."""
        return self._graph.loads

    def to_scipy(self, what: str = "bytes") -> Any:
        """A scipy.sparse.csr_matrix of "bytes" or "messages"; its values share the graph's memory and cannot be written."""
        from scipy import sparse

        matrix = sparse.csr_matrix((self.ranks, self.ranks), dtype=np.float64)
        matrix.data = self._values(what)
        # scipy wants both of its indices of one signed type.
        kind = np.int32 if max(self.edges, self.ranks) < 2**31 else np.int64
        matrix.indices = self.targets.view(np.int32) if kind is np.int32 else self.targets.astype(kind)
        matrix.indptr = self.offsets.astype(kind)
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def to_numpy(self, what: str = "bytes") -> np.ndarray:
        """A dense matrix of "bytes" or "messages": as many numbers as the square of the ranks."""
        dense = np.zeros((self.ranks, self.ranks))
        rows = np.repeat(np.arange(self.ranks), np.diff(self.offsets.astype(np.int64)))
        dense[rows, self.targets] = self._values(what)
        return dense

    def _values(self, what: str) -> np.ndarray:
        if what == "bytes":
            return self.bytes
        if what != "messages":
            raise Error(f"a graph has no {what}", "what", "one of: bytes, messages")
        if self.messages is None:
            raise Error("this graph knows no messages", "what", "ask for bytes", 3)
        return self.messages

    def __repr__(self) -> str:
        return f"<rankloom.Graph: {self.ranks} ranks, {self.edges} edges, {self.total_bytes:g} bytes>"


def _entries(name: str, matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Rows, columns and values of what a matrix holds, in row order, and its size."""
    sparse = hasattr(matrix, "tocsr")
    array = matrix.tocsr() if sparse else np.asarray(matrix)
    if len(array.shape) != 2 or array.shape[0] != array.shape[1]:
        raise Error(f"has the shape {array.shape}", name, "give a square matrix", 3)
    if array.dtype.kind not in "iufb":
        raise Error(f"holds {array.dtype}, not numbers", name, "give a matrix of numbers", 3)
    if sparse:
        if not array.has_canonical_format:
            array = array.copy()
            array.sum_duplicates()
        rows = np.repeat(np.arange(array.shape[0], dtype=np.uint32), np.diff(array.indptr))
        return rows, array.indices, array.data, array.shape[0]
    rows, columns = np.nonzero(array)
    return rows, columns, array[rows, columns], array.shape[0]


class Topology:
    """What is near what: a topology file, or a string such as "switch:2=4.1 node:6=3.7 core:16=1". Immutable."""

    __slots__ = ("_topology",)

    def __init__(self, file_or_string: PathOrText) -> None:
        self._topology = _rankloom.Topology(os.fspath(file_or_string))

    @classmethod
    def _of(cls, topology: _rankloom.Topology) -> Topology:
        made = cls.__new__(cls)
        made._topology = topology
        return made

    @classmethod
    def from_matrix(cls, distances: Any) -> Topology:
        """Cores at the distances of a square table, for assignment problems that come as one."""
        table = np.ascontiguousarray(distances, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise Error(f"has the shape {table.shape}", "distances", "give a square matrix", 3)
        if not np.all(np.isfinite(table)) or bool((table < 0).any()):
            raise Error("holds what is no distance", "distances", "distances are finite and not negative", 3)
        return cls._of(_rankloom.Topology.from_matrix(table.shape[0], table.ravel()))

    @property
    def cores(self) -> int:
        return self._topology.cores

    @property
    def nodes(self) -> int:
        return self._topology.nodes

    @property
    def levels(self) -> list[tuple[str, int]]:
        """Top down: the kind of each level, and how many objects it has."""
        return self._topology.levels

    @property
    def node_names(self) -> list[str]:
        return self._topology.node_names

    @property
    def node_of(self) -> np.ndarray:
        """The node of every core."""
        return self._topology.node_of

    def distances(self, cores: Optional[Sequence[int]] = None) -> np.ndarray:
        """Cost of a byte between all pairs of these cores (all): as many numbers as their square."""
        asked = np.arange(self.cores, dtype=np.uint32) if cores is None else _numbers("cores", cores)
        return self._topology.distances(asked)

    def to_json(self) -> str:
        """As a topology file holds it."""
        if self._topology.is_matrix:
            raise Error("a table of distances is no machine", "to_json", "keep the matrix", 3)
        return self._topology.to_json()

    def __repr__(self) -> str:
        return "<rankloom.Topology: " + ", ".join(f"{count} {kind}" for kind, count in self.levels) + ">"


@dataclass(frozen=True, eq=False)
class MapResult:
    """What `map` found. `cores[r]` is the core of rank r."""

    cores: np.ndarray
    mapper: str  #: as it ran, with its options
    seed: int
    model: str
    larger_is_better: bool  #: of the model's value
    cost: float
    cost_default: float  #: of the launcher's order
    lower_bound: Optional[float]  #: no placement costs less, if known
    time_ms: float  #: of the algorithm alone
    fell_back: bool  #: nothing better than the launcher's order was found
    note: str
    moved: Optional[int]  #: ranks that are not on their core of the start
    load: Optional[dict[str, float]]  #: for mappers that balance it

    @property
    def gain_percent(self) -> float:
        """How much better than the launcher's order."""
        if self.cost == self.cost_default or self.cost_default == 0:
            return 0.0
        gain = 100 * (self.cost_default - self.cost) / abs(self.cost_default)
        return -gain if self.larger_is_better else gain

    def save(self, path: PathOrText) -> None:
        """Writes the mapping as `rankloom run`, `emit` and `eval` read it: one core number a line."""
        target = os.fspath(path)
        temporary = f"{target}.{os.getpid()}.part"
        try:
            with open(temporary, "w", encoding="ascii") as file:
                file.writelines(f"{core}\n" for core in self.cores)
            os.replace(temporary, target)
        except OSError as problem:
            raise Error(f"cannot be written: {problem.strerror}", target, "choose another place", 5) from problem


def map(graph: Graph, topology: Topology, mapper: str = "auto", *, model: str = "bytes", seed: int = 0,
        budget: Optional[float] = None, threads: int = 0, oversubscribe: bool = False, imbalance: float = 0.0, start: Any = None,
        move_price: float = 0.0, raw: bool = False, lower_bound: bool = True, **options: Any) -> MapResult:
    """Finds a core for every rank. Other threads of Python run meanwhile.

    mapper        a row of `mappers()`; its own options are keywords: `effort="best"`, `tries=1000`, `some_option` for --some-option
    model         the cost that is minimised, a row of `cost_models()`
    seed          same seed and input, same result
    budget        soft time limit in seconds; the best found by then is kept
    threads       at most so many; 0: all cores
    oversubscribe, imbalance   what may be bent when there are more ranks than cores
    start, move_price          cores to begin from, for mappers that take them, and what each move away costs
    raw           keep a result that costs more than the launcher's order
    lower_bound   say how low the cost can be at best, where the mapper does not know by itself
    """
    if budget is not None and not 0.001 <= budget <= 1e9:
        raise Error(f"{budget} is no time in seconds", "budget", "0.001 or more; None: no limit")
    words = [(name.replace("_", "-"), str(value).lower() if isinstance(value, bool) else str(value)) for name, value in options.items()]
    found = _rankloom.map(
        graph._graph, topology._topology, mapper, words, model, _whole("seed", seed), 0 if budget is None else int(budget * 1000),
        _whole("threads", threads), bool(oversubscribe), float(imbalance), None if start is None else _numbers("start", start),
        float(move_price), bool(raw), bool(lower_bound))
    return MapResult(**found)


def evaluate(graph: Graph, topology: Topology, cores: Any, *, threads: int = 0) -> dict[str, Any]:
    """All that `rankloom eval --json` says of a mapping (an array of cores, or what `map` returned).

    costs (of every model), levels (bytes and messages between ranks that part there), links (the hottest), average_hops,
    nodes_used, cores_used, most_ranks_on_a_core, load_imbalance, load, predicted_seconds (None for a table of distances).
    """
    placed = cores.cores if isinstance(cores, MapResult) else cores
    return _rankloom.evaluate(graph._graph, topology._topology, _numbers("mapping", placed), _whole("threads", threads))


@dataclass(frozen=True, eq=False)
class Job:
    """Nodes that a job has."""

    id: int
    nodes: np.ndarray  #: in rising order
    names: list[str]
    kept: np.ndarray  #: nodes beside these that nobody else may have meanwhile
    diameter: int  #: hops between the two that are farthest apart
    closed: bool  #: when it was chosen, no other job passed what this one passes


class Allocator:
    """Nodes for several jobs at once, on which no job meets another. Not for several threads at once.

    policy     a row of `policies()`
    exclusive  what two jobs must not share, "routers" or "links"; None: what suits the network
    """

    __slots__ = ("_jobs",)

    def __init__(self, topology: Topology, policy: str = "closed-best", *, exclusive: Optional[str] = None) -> None:
        self._jobs = _rankloom.Allocator(topology._topology, policy, exclusive or "")

    def request(self, nodes: Optional[int] = None, *, tasks: Optional[int] = None, policy: Optional[str] = None,
                fallback: str = "wait") -> Optional[Job]:
        """Nodes for a job, or as many as hold its tasks; None: there is no place now, and nothing has changed.

        fallback  when there is no place: wait, take near nodes that are not closed (diameter), or a closed set that is wide (closed)
        """
        if (nodes is None) == (tasks is None):
            raise Error("how many nodes?", "request", "give nodes or tasks")
        count = _whole("nodes", nodes) if nodes is not None else -(-_whole("tasks", tasks, 1) // self._jobs.cores_per_node)
        job = self._jobs.request(count, policy or "", fallback)
        return None if job is None else self._job(job)

    def release(self, job: Union[Job, int]) -> None:
        """Gives its nodes back."""
        self._jobs.release(job.id if isinstance(job, Job) else _whole("job", job))

    def drain(self, node: int, *, failed: bool = False) -> None:
        """Takes a node out of use; a failed one passes nothing on either, where it is its own router."""
        self._jobs.drain(_whole("node", node), failed)

    def resume(self, node: int) -> None:
        """Takes a drained node back into use."""
        self._jobs.resume(_whole("node", node))

    @property
    def jobs(self) -> list[Job]:
        """Those that run, in the order in which they came."""
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
