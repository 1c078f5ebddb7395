# SPDX-License-Identifier: Apache-2.0
"""tests: programs that were re-created by rule are those that were measured."""

import struct
import unittest
import zlib

import support
from reproduce import npb, profile_file

MATRICES = support.ROOT / "tests/data/matrices"


def measured(name):
    """Pairs that exchange data point to point; single small messages of the start left out."""
    pairs = {}
    for line in (MATRICES / f"{name}.txt").read_text().splitlines():
        if not line.startswith("#"):
            source, target, size, messages, *_ = map(int, line.split())
            if source != target and size > 2000:
                pairs[source, target] = (size, messages)
    return pairs


class Recreated(unittest.TestCase):
    def compare(self, name, made, size_within, messages_within):
        real = measured(name)
        self.assertEqual(set(made.pairs), set(real))
        for pair, (size, messages) in real.items():
            self.assertAlmostEqual(made.pairs[pair][0] / size, 1, delta=size_within, msg=pair)
            self.assertAlmostEqual(made.pairs[pair][1] / messages, 1, delta=messages_within, msg=pair)

    # Measured runs have one iteration more than their number, to warm up, and messages of start and verification.
    def test_bt(self):
        self.compare("bt.A.64", npb.program("BT", "A", 64, 21), 0.03, 0.01)

    def test_sp(self):
        self.compare("sp.A.144", npb.program("SP", "A", 144, 21), 0.06, 0.01)

    def test_lu(self):
        self.compare("lu.A.64", npb.program("LU", "A", 64, 26), 0.08, 0.01)

    def test_cg(self):
        self.compare("cg.A.128", npb.program("CG", "A", 128, 16), 0.001, 0.001)

    def test_mg(self):
        self.compare("mg.A.64", npb.program("MG", "A", 64, 5), 0.1, 0.25)

    def test_collectives_of_ft_and_is_carry_what_was_measured(self):
        transposed = npb.program("FT", "W", 8, 8).collectives[0]
        self.assertEqual((transposed[0], transposed[1] * transposed[2]), ("alltoall", 1048576))
        keys = npb.program("IS", "W", 8, 11).collectives[2]
        self.assertEqual((keys[0], keys[1] * keys[2]), ("alltoall", 720896))

    def test_operations_are_those_that_the_benchmarks_print(self):
        for name, iterations, billions in (("BT", 200, 168.3), ("SP", 400, 85.0), ("LU", 250, 119.3), ("CG", 15, 1.5)):
            self.assertAlmostEqual(npb.operations(name, "A") * iterations / 1e9 / billions, 1, delta=0.01)


class ProfileFile(unittest.TestCase):
    def test_chunks_have_their_sums(self):
        data = profile_file.profile(npb.program("MG", "A", 8))
        head = b"rankloom profile 1\n"
        self.assertTrue(data.startswith(head))
        at, tags = len(head), []
        while at < len(data):
            tag, _, stored, whole, content_sum = struct.unpack_from("<4sIQQI", data, at)
            self.assertEqual(zlib.crc32(data[at:at + 28]), struct.unpack_from("<I", data, at + 28)[0])
            self.assertEqual((stored, zlib.crc32(data[at + 32:at + 32 + stored])), (whole, content_sum))
            tags.append(tag)
            at += 32 + stored
        self.assertEqual(tags, [b"ORIG", b"GRPH", b"ROWS", b"DEST", b"BYTE", b"MSGS", b"COMM", b"COLL", b"END "])


if __name__ == "__main__":
    unittest.main()
