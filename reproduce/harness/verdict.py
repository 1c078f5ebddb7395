# SPDX-License-Identifier: Apache-2.0
"""reproduce: verdicts: does what a paper printed hold here? Three words, and always both figures."""

import dataclasses

HOLDS, PARTLY, NOT = "holds", "holds partly", "does not hold"
WORDS = (HOLDS, PARTLY, NOT)
KINDS = ("simulated", "measured", "computed")  # computed: from the cost model, neither run nor simulated


@dataclasses.dataclass
class Verdict:
    """One claim of a paper. `item` names its table or figure: "Figure 7"."""

    item: str
    word: str
    ours: str
    paper: str
    why: str = ""
    kind: str = ""  # where it is not the experiment's own

    def __post_init__(self):
        assert self.word in WORDS and self.kind in ("", *KINDS), (self.word, self.kind)


@dataclasses.dataclass
class Must:
    """A figure of our own that must be reached."""

    what: str
    reached: bool
    figure: str


def of_claims(*claims):
    """All claims true: holds; some: partly; none: does not hold."""
    true = sum(bool(claim) for claim in claims)
    return HOLDS if true == len(claims) else PARTLY if true else NOT


def together(words):
    """The word for several verdicts: all alike, or partly."""
    words = set(words)
    return words.pop() if len(words) == 1 else PARTLY


def line(name, kind, verdicts, musts):
    """The one line that ends an experiment."""
    word = together([verdict.word for verdict in verdicts])
    figures = "; ".join(f"{verdict.item}: {verdict.ours} (paper: {verdict.paper})" for verdict in verdicts)
    missed = [must.what for must in musts if not must.reached]
    return f"{name}: {word} ({kind}). {figures}" + (f". MISSED: {'; '.join(missed)}" if missed else "")
