# SPDX-License-Identifier: Apache-2.0
"""python: what is raised when the world is not as it should be."""


class Error(Exception):
    """What went wrong, where in the input, and what to do about it.

    what   one sentence
    where  "file", "file:12", or the name of an argument
    hint   a remedy
    code   2: the call is wrong, 3: bad input, 4: no answer exists, 5: the machine lacks something
    """

    what: str
    where: str
    hint: str
    code: int

    def __init__(self, what: str, where: str = "", hint: str = "", code: int = 2) -> None:
        super().__init__(what, where, hint, code)
        self.what, self.where, self.hint, self.code = what, where, hint, code

    def __str__(self) -> str:
        return (f"{self.where}: " if self.where else "") + self.what + (f" ({self.hint})" if self.hint else "")
