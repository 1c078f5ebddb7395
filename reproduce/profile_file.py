# SPDX-License-Identifier: Apache-2.0
"""reproduce: writes rankloom's native profile (docs/formats.md, "Native profiles"), which keeps collectives as they are."""

import struct
import zlib

OPERATIONS = ["barrier", "bcast", "reduce", "gather", "scatter", "allreduce", "allgather", "alltoall", "reduce_scatter", "scan"]


def profile(made, communicators=None):
    """The bytes of a profile of an npb.Program. communicators: {name: ([ranks], [(operation, bytes, count)])} in addition to the world communicator."""
    edges = sorted(made.pairs.items())
    rows = [0] * made.ranks
    targets, before, row = [], 0, -1
    for (source, target), _ in edges:
        rows[source] += 1
        if source != row:
            row, before = source, source
        targets.append((target - before) % 2**32)
        before = target
    parts = [b"rankloom profile 1\n", chunk(b"ORIG", text("program") + text(made.name)),
             chunk(b"GRPH", struct.pack("<IIIIQ", 0, 2, made.ranks, 0, len(edges))),
             chunk(b"ROWS", struct.pack(f"<{made.ranks}I", *rows))]
    if edges:
        parts += [chunk(b"DEST", struct.pack(f"<{len(targets)}I", *targets)),
                  chunk(b"BYTE", struct.pack(f"<{len(edges)}d", *(size for _, (size, _) in edges))),
                  chunk(b"MSGS", struct.pack(f"<{len(edges)}d", *(times for _, (_, times) in edges)))]
    members = {"world": ([], made.collectives), **(communicators or {})}
    if any(calls for _, calls in members.values()):
        parts.append(chunk(b"COMM", b"".join(text(name) + struct.pack(f"<I{len(ranks)}I", len(ranks), *ranks)
                                             for name, (ranks, _) in members.items())))
        parts.append(chunk(b"COLL", b"".join(struct.pack("<IIIIdd", at, OPERATIONS.index(operation), 0, 0, size, count)
                                             for at, (_, calls) in enumerate(members.values()) for operation, size, count in calls)))
    return b"".join([*parts, chunk(b"END ", b"")])


def text(words):
    data = words.encode()
    return struct.pack("<I", len(data)) + data


def chunk(tag, content):
    head = tag + struct.pack("<IQQI", 0, len(content), len(content), zlib.crc32(content))
    return head + struct.pack("<I", zlib.crc32(head)) + content
