#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the PMPI wrappers for one MPI library: generate_wrappers.py [--trace TRACE_TABLE] TABLE OUTPUT LIBRARY…

TABLE is mpi_table.txt. With TRACE_TABLE (trace_table.txt) the wrappers also write a trace. A wrapper is generated for each binding
that the MPI library defines and for no other: a program that checks whether its MPI has a function gets the correct answer.
"""

import pathlib
import subprocess
import sys

# Functions whose C wrappers have minimal overhead. The MPI library does not call wrapped functions inside these.
FAST_PATH_CALLS = {"Send", "Isend", "Recv", "Irecv", "Wait", "Waitall", "Waitany", "Test", "Testall", "Testany", "Iprobe", "Sendrecv",
                   "Start", "Startall", "Put", "Get"}


def defined_symbols(libraries):
    symbols = set()
    for library in libraries:
        listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
        symbols |= {line.split()[-1].split("@")[0] for line in listing.splitlines() if line}
    return symbols


def table_rows(table):
    """(words before the colon, text after it)"""
    for line in pathlib.Path(table).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            left, _, right = line.rpartition(" :")
            yield left.split(), right.strip()


class Rule:
    """What is counted for a call: a function of struct Rules with its arguments, and when it is applied."""

    def __init__(self, text, persistent=False):
        words = text.split()
        self.before = words[0] == "before"
        self.untimed = words[0] == "untimed"
        self.persistent = persistent or words[0] == "persistent"
        self.name, *self.arguments = words[1:] if words[0] in ("before", "persistent", "untimed") else words

    def call(self, language, available):
        """The call of the rule; an argument that this binding does not have is 0."""
        arguments = (argument if argument in available else "0" for argument in self.arguments)
        return f"Rules<{language}>::{self.name}({', '.join(arguments)});"

    def before_call(self, language, available):
        """The statements before the call."""
        if self.before:
            yield f"  if (call.counts()) {self.call(language, available)}"

    def after_call(self, language, available):
        """The statements after the call."""
        if self.before or self.name == "-":
            return
        # The recorder is not on before MPI_Init.
        counts = "" if self.name in ("init", "session_init") else "call.counts() && "
        yield f"  if ({counts}{succeeded(language)}) {{"
        if self.persistent:
            yield "    begin_persistent_request();"
        yield f"    {self.call(language, available)}"
        if self.persistent:
            yield f"    end_persistent_request({language}::request(request));"
        yield "  }"


def succeeded(language):
    return f"{language}::succeeded(outcome, {'ierror' if 'Fortran' in language else '0'})"


def functions(table):
    """(name, arguments, rule) of each function; NAME+ in the table stands for three functions."""
    for (name, *arguments), text in table_rows(table):
        if name.endswith("+"):
            name = name[:-1]
            yield name, arguments, Rule(text)
            yield "I" + name[0].lower() + name[1:], [*arguments, "request"], Rule(text)
            yield name + "_init", [*arguments, "info", "request"], Rule(text, persistent=True)
        else:
            yield name, arguments, Rule(text)


class TraceRule:
    """What a call writes into a trace: an optional step before the call, and a rule after it."""

    def __init__(self, text="", arguments=(), use=""):
        before, _, after = text.rpartition("; ")
        self.before, self.after = before.split(), after.split()
        self.arguments = list(arguments)  # of a function that only the tracing library wraps
        self.use = use  # of the request of a nonblocking or persistent collective: Use::once or Use::persistent

    def body(self, language, real, available, parameters, rule):
        """The statements of a wrapper that counts, traces and times every call."""
        yield f'  static constinit RealFunction real("{real}");'
        yield "  static constinit TimingSampler sampler;"
        yield "  const Call call(sampler);"
        yield from rule.before_call(language, available)
        step, *step_arguments = self.before or ["-"]
        replaced = {}  # arguments that the wrapper passes to MPI in place of the program's
        if step == "snapshot":
            number, requests, statuses = step_arguments
            number = number if number.isdigit() else f"{language}::number({number})"
            yield f"  const RequestSnapshot<{language}> snapshot(call.counts(), {number}, {requests}, {statuses});"
            replaced[statuses] = "snapshot.statuses()"
        elif step == "handle":
            yield f"  const Word request_handle = call.counts() ? {language}::request({step_arguments[0]}) : 0;"
        elif step == "matched":
            yield f"  const Word matched_message = call.counts() ? TraceRules<{language}>::message_handle({step_arguments[0]}) : 0;"
        elif "status" in self.after:
            yield f"  const StatusCapture<{language}> captured(call.counts(), status);"
            replaced["status"] = "captured.status()"
        passed = ", ".join(replaced.get(parameter, parameter) for parameter in parameters)
        yield f"  const int outcome = guarded([&] {{ return real({passed}); }});"
        yield from rule.after_call(language, available)
        if self.after:
            name, *arguments = self.after
            yield f"  if (call.counts() && trace.is_open() && {succeeded(language)}) {{"
            if self.use:
                yield f"    const DeferredCollective deferred({language}::request(request), {self.use});"
            owner = "snapshot." if step == "snapshot" else f"TraceRules<{language}>::"
            yield f"    {owner}{name}({', '.join(replaced.get(argument, argument) for argument in arguments)});"
            yield "  }"
        yield "  return outcome;"


def trace_rules(table):
    """name → TraceRule"""
    rules = {}
    for (name, *arguments), text in table_rows(table):
        if name.endswith("+"):
            name = name[:-1]
            rules["I" + name[0].lower() + name[1:]] = TraceRule(text, use="Use::once")
            rules[name + "_init"] = TraceRule(text, use="Use::persistent")
        rules[name] = TraceRule(text, arguments)
    return rules


def counting_body(language, real, available, parameters, rule):
    """The statements of a wrapper that counts. `parameters` are those of the wrapper, `available` those that the rule may take."""
    yield f'  static constinit RealFunction real("{real}");'
    yield "  static constinit TimingSampler sampler;"
    yield "  const Call call(sampler);"
    yield from rule.before_call(language, available)
    yield f"  const int outcome = guarded([&] {{ return real({', '.join(parameters)}); }});"
    yield from rule.after_call(language, available)
    yield "  return outcome;"


def untimed_body(language, real, available, parameters, rule):
    yield f'  static constinit RealFunction real("{real}");'
    yield f"  {rule.call(language, available)}"
    yield f"  return guarded([&] {{ return real({', '.join(parameters)}); }});"


def fast_path_wrapper(symbol, real, parameters, rule):
    """A wrapper of few instructions that ends in a tail call of the PMPI function. Everything else happens in a second function, which
    counts after the call, while the message is already on its way."""
    call = ", ".join(parameters)
    declaration = ", ".join(f"[[maybe_unused]] Word {parameter}" for parameter in parameters)
    yield f'static constinit FastPath fast_path_{symbol}("{real}");'
    yield f"[[gnu::noinline]] static int slow_path_{symbol}({declaration}) {{"
    yield f"  FastPath& fast_path = fast_path_{symbol};"
    signature = ""  # the arguments that determine what a send counts
    if rule.name == "-":
        yield "  const Call call(fast_path.sampler, is_on());"
        yield f"  return fast_path.real({call});"
    else:
        count = f"{rule.name}({', '.join(rule.arguments)})"
        if rule.name in ("send", "isend", "sendrecv"):
            signature = f"{', '.join(rule.arguments[:3])}, {rule.arguments[-1]}"
            count = f"send_fast_path({signature})"
        yield "  if (!is_on()) [[unlikely]]"
        yield f"    return fast_path.real({call});"
        yield f"  const int outcome = timed(fast_path.sampler, [&] {{ return fast_path.real({call}); }});"
        yield "  if (outcome == MPI_SUCCESS) [[likely]]"
        yield f"    Rules<C>::{count};"
        yield "  return outcome;"
    yield "}"
    yield f'int wrap_{symbol}({", ".join(["Word"] * len(parameters))}) asm("{symbol}");'
    yield f'[[gnu::visibility("default"), gnu::aligned(64)]] int wrap_{symbol}({declaration}) {{'
    if rule.name != "-" and not signature:
        yield f"  return slow_path_{symbol}({call});"
        yield "}"
        return
    yield f"  FastPath& fast_path = fast_path_{symbol};"
    differs = f" || !Rules<C>::repeats_last_send({signature})" if signature else ""
    yield f"  if (fast_path.sampler.is_due(){differs}) [[unlikely]]"
    yield f"    return slow_path_{symbol}({call});"
    yield "  fast_path.sampler.skip();"
    if signature:
        yield "  recorder.counters.count_repeat();"
    yield f"  return fast_path.real.call_resolved({call});"
    yield "}"


class Generator:
    def __init__(self, symbols, traced):
        self.symbols = symbols  # that the MPI library defines
        self.traced = traced  # name → TraceRule; empty in the library that only counts

    def wrapper(self, name, symbol, language, real, available, parameters, rule):
        if language == "C" and name in FAST_PATH_CALLS and not self.traced:
            yield from fast_path_wrapper(symbol, real, parameters, rule)
            return
        declaration = ", ".join(f"[[maybe_unused]] Word {parameter}" for parameter in parameters)
        yield f'int wrap_{symbol}({", ".join(["Word"] * len(parameters))}) asm("{symbol}");'
        yield f'[[gnu::visibility("default")]] int wrap_{symbol}({declaration}) {{'
        if rule.untimed:
            yield from untimed_body(language, real, available, parameters, rule)
        elif self.traced:
            yield from self.traced.get(name, TraceRule()).body(language, real, available, parameters, rule)
        else:
            yield from counting_body(language, real, available, parameters, rule)
        yield "}"

    def c_wrappers(self, name, arguments, rule):
        parameters = [argument.removeprefix("c/") for argument in arguments if not argument.startswith("f/")]
        for suffix, language in (("", "C"), ("_c", "LargeC")):
            if f"PMPI_{name}{suffix}" in self.symbols:
                yield from self.wrapper(name, f"MPI_{name}{suffix}", language, f"PMPI_{name}{suffix}", parameters, parameters, rule)

    def fortran_wrappers(self, name, arguments, rule):
        """Open MPI's Fortran functions do not call wrapped functions, so all of them are wrapped. MPICH's call the C functions, except
        those of mpi_f08 without a buffer."""
        visible = [argument for argument in arguments if argument[:2] not in ("c/", "f/")]
        hidden = [argument.removeprefix("f/") for argument in arguments if argument.startswith("f/")]
        parameters = [*visible, "ierror", *hidden]
        lower = name.lower()
        is_open_mpi = "ompi_send_f" in self.symbols
        f08 = []  # (language, names)
        for language, form in (("Fortran", "f08_"), ("LargeFortran", "c_f08_"), ("FortranDescriptors", "f08ts_"), ("LargeFortran", "c_f08ts_")):
            # MPICH's functions with descriptors call the C functions.
            if form.endswith("ts_") and not is_open_mpi:
                continue
            pairs = [(f"mpi_{lower}_{form}", f"{real}_{lower}_{form}") for real in ("pmpi", "pmpir")]
            f08.append((language, [pair for pair in pairs if set(pair) <= self.symbols][:1]))
        # One function under the names that Fortran compilers give it. The first name gets a wrapper, the others are aliases of it. Open
        # MPI also has mpi_send and MPI_SEND, for compilers that append no underscore (IBM XL); libraries have functions of their own with such names
        # (mpi_send of R's Rmpi), and a preloaded library would replace these.
        mangled = [(f"mpi_{lower}_", f"pmpi_{lower}_"), (f"mpi_{lower}__", f"pmpi_{lower}__")]
        mangled = [pair for pair in mangled if is_open_mpi and set(pair) <= self.symbols]
        for language, names in (*f08, ("Fortran", mangled)):
            yield from self.fortran_wrapper(name, language, names, visible + hidden, parameters, rule)

    def fortran_wrapper(self, name, language, names, available, parameters, rule):
        if not names:
            return
        (symbol, real), *aliases = names
        yield from self.wrapper(name, symbol, language, real, available, parameters, rule)
        for alias, _ in aliases:
            types = ", ".join(["Word"] * len(parameters))
            yield f'[[gnu::visibility("default"), gnu::alias("{symbol}")]] int wrap_{alias}({types}) asm("{alias}");'


def main():
    options = sys.argv[1:]
    traced, header = {}, "counting/counting_rules.hpp"
    if options[0] == "--trace":
        traced, header = trace_rules(options[1]), "tracing/trace_rules.hpp"
        options = options[2:]
    table, output, *libraries = options
    wrapped = [*functions(table), *((name, rule.arguments, Rule("-")) for name, rule in traced.items() if rule.arguments)]
    unknown = traced.keys() - {name for name, _, _ in wrapped}
    if unknown:
        sys.exit(f"{table} does not contain functions of the trace table: {', '.join(sorted(unknown))}")
    lines = ["// Generated by generate_wrappers.py from mpi_table.txt.", '#include "rankloom/capture/record/call_timer.hpp"',
             f'#include "rankloom/capture/record/{header}"', "", "namespace rankloom::record {", 'extern "C" {', ""]
    generator = Generator(defined_symbols(libraries), traced)
    for name, arguments, rule in wrapped:
        lines += [*generator.c_wrappers(name, arguments, rule), *generator.fortran_wrappers(name, arguments, rule)]
    lines += ["", '}  // extern "C"', "}  // namespace rankloom::record", ""]
    pathlib.Path(output).write_text("\n".join(lines))


if __name__ == "__main__":
    main()
