# SPDX-License-Identifier: Apache-2.0
"""python: the exception for errors in the input or the environment."""


class Error(Exception):
    """An error with its position in the input and a remedy.

    what   what is wrong, in one sentence
    where  "file", "file:12", or the name of an argument
    hint   a remedy
    code   2: invalid argument, 3: malformed input, 4: the problem has no solution, 5: something is missing on this machine
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
