#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wrappers of one MPI from mpi_table.txt: generate_wrappers.py [--trace TRACE_TABLE] TABLE OUTPUT LIBRARY…

With a table of what goes into a trace, they write that too.

Of each call come those forms that the MPI's libraries really offer, so that a program that looks whether its MPI has a function
gets the true answer.
"""

import pathlib
import subprocess
import sys

# Calls that must cost next to nothing. In C, MPI does not call itself inside these.
QUICK = {"Send", "Isend", "Recv", "Irecv", "Wait", "Waitall", "Waitany", "Test", "Testall", "Testany", "Iprobe", "Sendrecv", "Start",
         "Startall", "Put", "Get"}


def offered(libraries):
    """Names that these libraries define."""
    names = set()
    for library in libraries:
        listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
        names |= {line.split()[-1].split("@")[0] for line in listing.splitlines() if line}
    return names


def lines_of(table):
    """(words before the colon, text behind it)"""
    for line in pathlib.Path(table).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            left, _, right = line.rpartition(" :")
            yield left.split(), right.strip()


def rows(table):
    """(name, arguments, rule, when, words of the rule); a + in the name has become three rows."""
    for (name, *arguments), right in lines_of(table):
        rule = right.split()
        if name.endswith("+"):
            name = name[:-1]
            yield name, arguments, rule
            yield "I" + name[0].lower() + name[1:], [*arguments, "request"], rule
            yield name + "_init", [*arguments, "info", "request"], ["keep", *rule]
        else:
            yield name, arguments, rule


class TraceRow:
    """What one call writes into a trace."""

    def __init__(self, text, arguments=(), keep=""):
        before, _, after = text.rpartition("; ")
        self.before, self.after = before.split(), after.split()
        self.arguments = list(arguments)  # of a call that is wrapped for traces alone
        self.keep = keep  # how often its request is used, when it is a collective that does not block

    def statements(self, language, real, arguments, words, rule):
        """A wrapper in which every call is timed."""
        when = rule[0] if rule[0] in (">", "keep") else ""
        meaning, *looks_at = rule[1:] if when else rule
        count = f"if (call.counts()) Rules<{language}>::{meaning}({', '.join(word if word in arguments else '0' for word in looks_at)});"
        yield f'  static constinit Real real("{real}");'
        yield "  static constinit Pace pace;"
        yield "  const Call call(pace);"
        if when == "keep":
            yield "  if (call.counts()) begin_keeping();"
        if when != ">" and meaning != "-":
            yield f"  {count}"
        kind, *looks_at = self.before or ["-"]
        replaced = {}
        if kind == "watch":
            number, requests, statuses = looks_at
            number = number if number.isdigit() else f"{language}::number({number})"
            yield f"  const Watch<{language}> watch(call.counts(), {number}, {requests}, {statuses});"
            replaced[statuses] = "watch.statuses()"
        elif kind != "-":
            read = f"{language}::request" if kind == "handle" else f"TraceRules<{language}>::found"
            yield f"  const Word {kind} = call.counts() ? {read}({looks_at[0]}) : 0;"
        elif "status" in self.after:
            yield f"  const Heard<{language}> heard(call.counts(), status);"
            replaced["status"] = "heard.word()"
        yield f"  const int outcome = inside([&] {{ return real({', '.join(replaced.get(word, word) for word in words)}); }});"
        if when == "keep":
            yield f"  if (call.counts()) end_keeping({language}::request(request));"
        if when == ">":
            yield f"  {count.removeprefix('if (call.counts()) ') if meaning == 'begin' else count}"
        if self.after:
            hook, *looks_at = self.after
            error = "ierror" if language == "Fortran" else "0"
            yield f"  if (call.counts() && trace.is_open() && succeeded<{language}>(outcome, {error})) {{"
            if self.keep:
                yield f"    const Deferred deferred({language}::request(request), {self.keep});"
            of = "watch." if kind == "watch" else f"TraceRules<{language}>::"
            yield f"    {of}{hook}({', '.join(replaced.get(word, word) for word in looks_at)});"
            yield "  }"
        yield "  return outcome;"


def trace_rows(table):
    """name → TraceRow"""
    found = {}
    for (name, *arguments), text in lines_of(table):
        if name.endswith("+"):
            name = name[:-1]
            found["I" + name[0].lower() + name[1:]] = TraceRow(text, keep="Use::once")
            found[name + "_init"] = TraceRow(text, keep="Use::persistent")
        found[name] = TraceRow(text, arguments)
    return found


def body(name, language, real, arguments, words, rule):
    """The statements of a wrapper; `words` are all that it takes, `arguments` those that the rule may look at."""
    real_call = f"real({', '.join(words)})"
    when = rule[0] if rule[0] in (">", "keep") else ""
    meaning, *looks_at = rule[1:] if when else rule
    count = f"Rules<{language}>::{meaning}({', '.join(word if word in arguments else '0' for word in looks_at)});"
    yield f'  static constinit Real real("{real}");'
    yield "  static constinit Pace pace;"
    call = f"inside([&] {{ return {real_call}; }})"
    yield "  const Call call(pace);"
    if meaning == "-":
        yield f"  return {call};"
    elif when == "":
        yield f"  if (call.counts()) {count}"
        yield f"  return {call};"
    elif when == ">":
        yield f"  const int outcome = {call};"
        # Before MPI_Init the recorder is not on.
        yield f"  {'' if meaning == 'begin' else 'if (call.counts()) '}{count}"
        yield "  return outcome;"
    else:
        yield "  if (call.counts()) begin_keeping();"
        yield f"  if (call.counts()) {count}"
        yield f"  const int outcome = {call};"
        yield f"  if (call.counts()) end_keeping({language}::request(request));"
        yield "  return outcome;"


def quick_forms(symbol, real, words, rule):
    """A wrapper of few instructions, which ends in the call itself and hands what it cannot do to another. That one counts after the
    call: the message is on its way meanwhile."""
    meaning, *looks_at = rule
    call = ", ".join(words)
    parameters = ", ".join(f"[[maybe_unused]] Word {word}" for word in words)
    yield f'static constinit Quick quick_{symbol}("{real}");'
    yield f"[[gnu::noinline]] static int slowly_{symbol}({parameters}) {{"
    yield f"  Quick& quick = quick_{symbol};"
    message = ""
    if meaning == "-":
        yield "  const Call call(quick.pace, is_on());"
        yield f"  return quick.real({call});"
    else:
        count = f"{meaning}({', '.join(looks_at)})"
        if meaning in ("send", "isend", "sendrecv"):
            message = f"{', '.join(looks_at[:3])}, {looks_at[-1]}"
            count = f"send_quickly({message})"
        yield "  if (!is_on()) [[unlikely]]"
        yield f"    return quick.real({call});"
        yield f"  const int outcome = timed(quick.pace, [&] {{ return quick.real({call}); }});"
        yield "  if (outcome == MPI_SUCCESS) [[likely]]"
        yield f"    Rules<C>::{count};"
        yield "  return outcome;"
    yield "}"
    yield f'int wrap_{symbol}({", ".join(["Word"] * len(words))}) asm("{symbol}");'
    yield f'[[gnu::visibility("default"), gnu::aligned(64)]] int wrap_{symbol}({parameters}) {{'
    if meaning != "-" and not message:
        yield f"  return slowly_{symbol}({call});"
        yield "}"
        return
    yield f"  Quick& quick = quick_{symbol};"
    again = f" || !Rules<C>::is_again({message})" if message else ""
    yield f"  if (quick.pace.is_due(){again}) [[unlikely]]"
    yield f"    return slowly_{symbol}({call});"
    yield "  quick.pace.skip();"
    if message:
        yield "  recorder.counters.add_again();"
    yield f"  return quick.real.again({call});"
    yield "}"


TRACE = {}  # what is traced, by name; nothing in the plain recorder


def wrapper(name, symbol, language, real, arguments, words, rule):
    if language == "C" and name in QUICK and not TRACE:
        yield from quick_forms(symbol, real, words, rule)
        return
    identifier = f"wrap_{symbol}"
    parameters = ", ".join(f"[[maybe_unused]] Word {word}" for word in words)
    yield f'int {identifier}({", ".join(["Word"] * len(words))}) asm("{symbol}");'
    yield f'[[gnu::visibility("default")]] int {identifier}({parameters}) {{'
    if TRACE:
        yield from TRACE.get(name, TraceRow("")).statements(language, real, arguments, words, rule)
    else:
        yield from body(name, language, real, arguments, words, rule)
    yield "}"


def c_forms(name, arguments, rule, names):
    words = [word.removeprefix("c/") for word in arguments if not word.startswith("f/")]
    for suffix, language in (("", "C"), ("_c", "LargeC")):
        if f"PMPI_{name}{suffix}" in names:
            yield from wrapper(name, f"MPI_{name}{suffix}", language, f"PMPI_{name}{suffix}", words, words, rule)


def fortran_forms(name, arguments, rule, names):
    """Open MPI's Fortran calls nothing that could be heard, under whatever name. MPICH's calls C, except where there is no buffer
    in mpi_f08."""
    visible = [word for word in arguments if word[:2] not in ("c/", "f/")]
    hidden = [word.removeprefix("f/") for word in arguments if word.startswith("f/")]
    words = [*visible, "ierror", *hidden]
    lower = name.lower()
    symbols = {f"mpi_{lower}_f08_": [f"pmpi_{lower}_f08_", f"pmpir_{lower}_f08_"]}
    if "ompi_send_f" in names:
        for symbol in (f"mpi_{lower}_", f"mpi_{lower}__", f"mpi_{lower}", f"MPI_{name.upper()}"):
            symbols[symbol] = ["P" + symbol if symbol.startswith("MPI") else "p" + symbol]
    for symbol, candidates in symbols.items():
        for real in candidates:
            if real in names and symbol in names:
                yield from wrapper(name, symbol, "Fortran", real, visible + hidden, words, rule)
                break


def main():
    options = sys.argv[1:]
    header = "rules.hpp"
    if options[0] == "--trace":
        TRACE.update(trace_rows(options[1]))
        options, header = options[2:], "trace_rules.hpp"
    table, output, *libraries = options
    names = offered(libraries)
    calls = [*rows(table), *((name, row.arguments, ["-"]) for name, row in TRACE.items() if row.arguments)]
    unknown = TRACE.keys() - {name for name, _, _ in calls}
    if unknown:
        sys.exit(f"traced, but not wrapped: {', '.join(sorted(unknown))}")
    lines = ["// Made by generate_wrappers.py from mpi_table.txt.", f'#include "rankloom/capture/record/{header}"', "",
             "namespace rankloom::record {", 'extern "C" {', ""]
    for name, arguments, rule in calls:
        for line in (*c_forms(name, arguments, rule, names), *fortran_forms(name, arguments, rule, names)):
            lines.append(line)
    lines += ["", '}  // extern "C"', "}  // namespace rankloom::record", ""]
    pathlib.Path(output).write_text("\n".join(lines))


if __name__ == "__main__":
    main()
