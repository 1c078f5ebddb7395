# SPDX-License-Identifier: Apache-2.0
"""reproduce: the NAS Parallel Benchmarks' communication, re-created by rule, for the sizes that were not measured.

Who sends to whom and how much follows from how NPB 3.3 divides its grids among ranks. tests/reproduce compares it with the
matrices that were measured (tests/data/matrices): the same neighbours, bytes within a tenth. One call of
`program` is some iterations of the main loop; start-up and verification are left out.
"""

import collections
import dataclasses
import math

GRID = {  # points along an edge; LU, BT and SP
    "S": 12, "W": 24, "A": 64, "B": 102, "C": 162}
ITERATIONS = {  # of the whole benchmark
    "BT": {"A": 200, "B": 200, "C": 200}, "SP": {"A": 400, "B": 400, "C": 400}, "LU": {"A": 250, "B": 250, "C": 250},
    "CG": {"A": 15, "B": 75, "C": 75}, "MG": {"A": 4, "B": 20, "C": 20}, "FT": {"A": 6, "B": 20, "C": 20},
    "IS": {"A": 10, "B": 10, "C": 10}, "EP": {"A": 1, "B": 1, "C": 1}}
CG_ROWS = {"A": 14000, "B": 75000, "C": 150000}
CG_ROW_PAIRS = {"A": 11 * 12, "B": 13 * 14, "C": 15 * 16}  # nonzer (nonzer + 1)
MG_GRID = {"A": 256, "B": 256, "C": 512}
FT_POINTS = {"W": 128 * 128 * 32, "A": 256 * 256 * 128, "B": 512 * 256 * 256, "C": 512**3}
IS_KEYS = {"W": 2**20, "A": 2**23, "B": 2**25, "C": 2**27}
NUMBER = 8  # bytes of a double


@dataclasses.dataclass
class Program:
    """Point-to-point traffic {(from, to): (bytes, messages)}, and collectives [(operation, bytes, how often)] of all ranks."""

    name: str
    ranks: int
    pairs: dict
    collectives: list = dataclasses.field(default_factory=list)

    def sends(self, source, target, size, times=1):
        if source != target and times:
            size_before, times_before = self.pairs.get((source, target), (0, 0))
            self.pairs[source, target] = (size_before + size * times, times_before + times)


def program(name, problem, ranks, iterations=1):
    """So many iterations of the main loop of NAME.CLASS on so many ranks."""
    made = Program(f"{name.lower()}.{problem}.{ranks}", ranks, collections.OrderedDict())
    {"BT": multipartition, "SP": multipartition, "LU": wavefront, "CG": conjugate, "MG": multigrid, "FT": transposes,
     "IS": buckets, "EP": sums}[name](made, name, problem, iterations)
    return made


def rounds(made):
    """In how many rounds rankloom cuts what a program says: the number of messages of pairs with which 95 % of the bytes went."""
    if not made.pairs:
        return max(count for _, _, count in made.collectives)
    total, seen = sum(size for size, _ in made.pairs.values()), 0
    for messages, size in sorted(((messages, size) for size, messages in made.pairs.values()), reverse=True):
        seen += size
        if seen >= 0.95 * total:
            return messages
    raise AssertionError("no bytes")


def operations(name, problem):
    """Floating-point operations of one iteration on all ranks together, as the benchmarks count them."""
    n = GRID[problem]
    return {"SP": 881.174 * n**3 - 4683.91 * n**2 + 11484.5 * n - 19272.4, "BT": 3478.8 * n**3 - 17655.7 * n**2 + 28023.7 * n,
            "LU": 1984.77 * n**3 - 10923.3 * n**2 + 27770.9 * n - 144010,
            "CG": 2 * CG_ROWS[problem] * (3 + CG_ROW_PAIRS[problem] + 25 * (5 + CG_ROW_PAIRS[problem]) + 3)}[name]


def multipartition(made, name, problem, iterations):
    """BT, SP: a square of ranks, q cells on each, one in every plane of the grid. Three solves an iteration send to the next
    rank along x, y and a diagonal, and back; before them all six faces are exchanged."""
    q, points = math.isqrt(made.ranks), GRID[problem] if name == "BT" or problem != "W" else 36
    assert q * q == made.ranks, "BT and SP run on squares of ranks"
    faces = (q - 1) * 2 * 5 * NUMBER * (points / q) ** 2
    if name == "BT":  # buffers have the size of the largest cell
        forth, back = ((5 * 5 + 5) * NUMBER * (points // q + 1) ** 2, 5 * NUMBER * (points // q + 1) ** 2)
    else:
        forth, back = (numbers * NUMBER * ((points - 2) / q) ** 2 for numbers in (22, 10))
    for rank in range(made.ranks):
        x, y = rank % q, rank // q
        for dx, dy in ((1, 0), (0, 1), (-1, 1)):
            after = (x + dx) % q + q * ((y + dy) % q)
            before = (x - dx) % q + q * ((y - dy) % q)
            for target, solve in ((after, forth), (before, back)):
                made.sends(rank, target, faces, iterations)
                made.sends(rank, target, solve, iterations * (q - 1))


def wavefront(made, name, problem, iterations):
    """LU: columns of the grid on a rectangle of ranks; two sweeps an iteration, plane by plane, then faces two deep."""
    columns, rows = lu_grid(made.ranks)
    points = GRID[problem] if problem != "W" else 33
    for rank in range(made.ranks):
        x, y = rank % columns, rank // columns
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if 0 <= x + dx < columns and 0 <= y + dy < rows:
                across = points / (rows if dx else columns)  # points on the border of the two
                target = rank + dx + columns * dy
                made.sends(rank, target, 5 * NUMBER * across, iterations * (points - 2))
                made.sends(rank, target, 10 * NUMBER * across * points, iterations)


def lu_grid(ranks):
    power = ranks.bit_length() - 1
    columns = 2 ** (power // 2 + power % 2)
    return columns, ranks // columns


def conjugate(made, name, problem, iterations):
    """CG: rows of the matrix on R x C ranks; 26 products an iteration, each summed over a row by doubling, then transposed.
    The same as `rankloom gen cg --class`."""
    power = made.ranks.bit_length() - 1
    rows = 2 ** (power // 2)
    columns = made.ranks // rows
    vector = NUMBER * CG_ROWS[problem] / columns
    for rank in range(made.ranks):
        row, column = rank // columns, rank % columns
        for bit in range(columns.bit_length() - 1):
            made.sends(rank, row * columns + (column ^ (1 << bit)), vector, 26 * iterations)
            made.sends(rank, row * columns + (column ^ (1 << bit)), NUMBER, 53 * iterations)
        if columns == rows:
            transposed = rank % rows * rows + rank // rows
        else:
            transposed = 2 * (rank // 2 % rows * rows + rank // 2 // rows) + rank % 2
        made.sends(rank, transposed, vector, 26 * iterations)


def mg_grid(ranks):
    power = ranks.bit_length() - 1
    x = power // 3
    y = (power - x) // 2
    return 2**x, 2**y, 2 ** (power - x - y)


def multigrid(made, name, problem, iterations):
    """MG: a periodic box of ranks; faces three times an iteration on the finest grid, four times on each coarser one."""
    box, points = mg_grid(made.ranks), MG_GRID[problem]
    for rank in range(made.ranks):
        at = (rank % box[0], rank // box[0] % box[1], rank // (box[0] * box[1]))
        for axis in range(3):
            for step in (1, -1):
                there = list(at)
                there[axis] = (there[axis] + step) % box[axis]
                target = there[0] + box[0] * (there[1] + box[1] * there[2])
                grid = points
                while grid >= max(box):
                    local = [grid / side for side in box]
                    # Borders are sent along with the faces of the axes before.
                    sides = [local[other] + (2 if other < axis else 0) for other in range(3) if other != axis]
                    made.sends(rank, target, NUMBER * sides[0] * sides[1], iterations * (3 if grid == points else 4))
                    grid //= 2
    made.collectives.append(("allreduce", NUMBER, 2 * iterations))


def transposes(made, name, problem, iterations):
    """FT: one transposition of all points an iteration, 16 bytes each."""
    made.collectives += [("alltoall", 16 * FT_POINTS[problem] / made.ranks**2, iterations), ("reduce", 16, iterations)]


def buckets(made, name, problem, iterations):
    """IS: sizes of buckets are summed, then every key goes to its bucket: keys are spread evenly."""
    made.collectives += [("allreduce", 4 * 1029, iterations), ("alltoall", 4, iterations),
                         ("alltoall", 4 * IS_KEYS[problem] / made.ranks**2, iterations)]


def sums(made, name, problem, iterations):
    """EP: computes; three sums at the end."""
    made.collectives += [("allreduce", NUMBER, 2 * iterations), ("allreduce", 10 * NUMBER, iterations)]
