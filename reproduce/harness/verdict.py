# SPDX-License-Identifier: Apache-2.0
"""reproduce: verdicts: whether a result of a paper holds, with our figure and the paper's."""

import dataclasses

HOLDS, PARTLY, NOT = "holds", "holds partly", "does not hold"
WORDS = (HOLDS, PARTLY, NOT)
KINDS = ("simulated", "measured", "computed")  # computed: from the cost model, neither measured nor simulated


@dataclasses.dataclass
class Verdict:
    """One claim of a paper. `item` names its table or figure: "Figure 7"."""

    item: str
    word: str
    ours: str
    paper: str
    why: str = ""
    kind: str = ""  # if it differs from the kind of the experiment

    def __post_init__(self):
        assert self.word in WORDS and self.kind in ("", *KINDS), (self.word, self.kind)


@dataclasses.dataclass
class Must:
    """A required result of this project."""

    what: str
    reached: bool
    figure: str


def of_claims(*claims):
    """All claims are true: holds; some: holds partly; none: does not hold."""
    true = sum(bool(claim) for claim in claims)
    return HOLDS if true == len(claims) else PARTLY if true else NOT


def together(words):
    """The summary of several verdicts: their common word, or holds partly."""
    words = set(words)
    return words.pop() if len(words) == 1 else PARTLY


def line(name, kind, verdicts, musts):
    """The last line of an experiment."""
    word = together([verdict.word for verdict in verdicts])
    figures = "; ".join(f"{verdict.item}: {verdict.ours} (paper: {verdict.paper})" for verdict in verdicts)
    missed = [must.what for must in musts if not must.reached]
    return f"{name}: {word} ({kind}). {figures}" + (f". Not reached: {'; '.join(missed)}" if missed else "")
