#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs run as without the recorder, and write their profile however they end."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from recording import PROGRAMS, RecordingTest


class Languages(RecordingTest):
    def test_atomic_operations_do_what_the_language_says(self):
        for level in ("-O0", "-O2"):
            self.build("atomics.c", level)
            self.record()
            self.assertEqual(self.printed, "right\n")

    def test_cxx_programs_run_as_without_the_recorder(self):
        self.call("g++", "-O2", "-pthread", PROGRAMS / "objects.cpp", "-o", "plain")
        expected = self.call("./plain")
        self.assertEqual(expected, "210 3 1 1 4\n64\n")
        for level in ("-O0", "-O2"):
            self.build("objects.cpp", level)
            matrix = self.record()
            self.assertEqual((self.printed, self.err), (expected, ""))
            self.assertGreater(matrix.ranks, 3)

    def test_custom_allocators_and_c11_threads_work(self):
        self.build("allocator.c", "-std=c11", "-fno-builtin")
        matrix = self.record()
        self.assertEqual(self.printed, "5 3000\n")
        self.assertEqual(matrix.ranks, 4)
        for thread in (1, 2, 3):  # 8,000 bytes of each thread are read by the main thread
            self.assertGreaterEqual(matrix[thread, 0], 120 * 64)

    def test_linked_and_loaded_libraries_are_recorded(self):
        self.build("library.c", "-shared", "-fPIC", "-Wl,-z,defs", out="liblibrary.so")
        self.build("library_user.c", "-DLINKED", "-L.", "-Wl,-rpath,.", "-llibrary")
        for arguments in ([], ["./liblibrary.so"]):
            if arguments:
                self.build("library_user.c")
            matrix = self.record(*arguments)
            self.assertEqual(self.printed, "400\n")
            self.assertEqual(matrix.ranks, 2)
            self.assertGreaterEqual(matrix[0, 1], 19 * 64)
            self.assertGreaterEqual(matrix[1, 0], 20 * 64)

    def test_programs_that_call_the_interface_of_sanitizers_run(self):
        self.build("annotations.c")
        matrix = self.record()
        self.assertEqual((self.printed, self.err), (f"unlock 0\nsum {sum(range(512))}\n", ""))
        self.assertEqual(matrix.ranks, 2)
        self.assertGreaterEqual(matrix[1, 0], 64 * 64)

    def test_every_function_of_the_interface_is_defined(self):
        header = self.call("gcc", "-E", "-include", "sanitizer/tsan_interface.h", "-x", "c", "/dev/null")
        # A program may define __tsan_on_… and __tsan_default_… itself, and calls __tsan_get_… only in the former.
        declared = set(re.findall(r"(__tsan_(?!on_|default_|get_report_|get_current_report)\w+)\(", header))
        library = self.rankloom.parent.parent / "lib/rankloom/librankloom_threads.so"
        defined = set(re.findall(r" T (\w+)", self.call("nm", "-D", library)))
        self.assertGreater(len(declared), 20)
        self.assertEqual(declared - defined, set())

    def test_every_function_that_gcc_calls_is_defined(self):
        compiler = self.call("gcc", "-print-prog-name=cc1").strip()
        called = {name.decode() for name in re.findall(rb"(__tsan_\w+)\0", pathlib.Path(compiler).read_bytes())}
        library = self.rankloom.parent.parent / "lib/rankloom/librankloom_threads.so"
        defined = set(re.findall(r" T (\w+)", self.call("nm", "-D", library)))
        self.assertGreater(len(called), 80)
        self.assertEqual(called - defined, set())

    def test_the_library_depends_on_the_c_library_only(self):
        library = self.rankloom.parent.parent / "lib/rankloom/librankloom_threads.so"
        needed = re.findall(r"NEEDED.*\[(.*)\]", self.call("readelf", "-d", library))
        self.assertTrue(all(name.startswith(("libc.", "ld-linux")) for name in needed), needed)


class Endings(RecordingTest):
    def setUp(self):
        super().setUp()
        self.build("endings.c")

    def files(self):
        return sorted(name for name in os.listdir(self.directory) if name != "program")

    def test_every_ending_writes_the_profile_and_keeps_the_status(self):
        for how in ("return", "exit", "_exit", "_Exit", "quick_exit", "thread", "running", "atexit", "small stack", "many", "close", "system", "fork", "vfork"):
            with self.subTest(how=how):
                matrix = self.record(how, status=7)
                self.assertEqual((self.printed, self.err), ("ends\n", ""))
                self.assertGreaterEqual(matrix[0, 1], 64)
                self.assertLessEqual(matrix.ranks, 3)
                self.assertEqual(self.files(), ["out.prof"], "no other files")
                os.remove(self.directory / "out.prof")

    def test_a_forked_child_with_threads_writes_its_own_profile(self):
        matrix = self.record("fork with threads", status=7)
        child, = set(self.files()) - {"out.prof"}
        self.assertRegex(child, r"^out\.prof\.\d+$")
        self.assertEqual(matrix[0, 1], 64)
        self.assertEqual(self.read(child).ranks, 2)
        self.assertGreaterEqual(self.read(child)[0, 1], 5 * 64)

    def test_the_file_name_can_contain_the_process_id(self):
        self.call("./program", "fork with threads", status=7, RANKLOOM_THREADS_OUT="run.%p.prof")
        self.assertEqual(len(self.files()), 2)
        for name in self.files():
            self.assertRegex(name, r"^run\.\d+\.prof$")

    def test_the_file_is_in_the_initial_working_directory(self):
        self.call("./program", "chdir", status=7)
        name, = self.files()
        self.assertRegex(name, r"^rankloom-threads\.\d+\.prof$")

    def test_a_failed_write_is_reported_and_does_not_affect_the_program(self):
        for out in ("no/such/directory/out.prof", "x" * 5000):
            with self.subTest(out=out[:30]):
                self.assertEqual(self.call("./program", status=7, RANKLOOM_THREADS_OUT=out), "ends\n")
                self.assertIn("rankloom: cannot write the profile", self.err)
                self.assertEqual(self.err.count("\n"), 1)
                self.assertEqual(self.files(), [])

    def test_a_device_is_not_replaced(self):
        os.mkfifo(self.directory / "pipe")
        reader = os.open(self.directory / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.call("./program", status=7, RANKLOOM_THREADS_OUT="pipe")
        self.assertTrue(os.read(reader, 100).startswith(b"rankloom profile 1\n"))
        os.close(reader)
        self.assertEqual(self.files(), ["pipe"])

    def test_a_full_disk_does_not_affect_the_program(self):
        self.call("bash", "-c", "ulimit -f 0; ./program 2>&1 | cat", RANKLOOM_THREADS_OUT="out.prof")
        done = self.call("bash", "-c", "ulimit -f 0; ./program; echo status $?", RANKLOOM_THREADS_OUT="out.prof")
        self.assertEqual(done, "ends\nstatus 7\n")
        self.assertIn("File too large", self.err)
        self.assertEqual(self.files(), [])

    def test_lack_of_memory_does_not_affect_the_program(self):
        done = self.call("bash", "-c", "ulimit -v 30000; ./program; echo status $?", RANKLOOM_THREADS_OUT="out.prof", RANKLOOM_THREADS_WINDOW="4G")
        self.assertEqual(done, "ends\nstatus 7\n")

    def test_the_profile_contains_loads(self):
        self.record("running", status=7)
        graph = self.call(self.rankloom, "import", "out.prof", "--to", "metis").splitlines()
        self.assertTrue(graph[0].endswith(" 011"), graph)
        self.assertGreater(int(graph[1].split()[0]), 0)


class Wrapper(RecordingTest):
    def cc(self, *arguments, status=0, **environment):
        return self.call(self.rankloom, "cc", *arguments, status=status, **environment)

    def test_compiles_and_links_in_steps(self):
        self.cc("-O2", "-c", PROGRAMS / "counters.c", "-o", "counters.o")
        self.cc("counters.o", "-pthread", "-o", "program")
        self.assertEqual(self.record("together").ranks, 5)

    def test_the_printed_flags_have_the_same_effect(self):
        flags = json.loads(self.cc("--json"))
        self.call("gcc", *flags["compile"], "-c", PROGRAMS / "counters.c", "-o", "counters.o")
        self.call("gcc", "counters.o", "-pthread", "-o", "program", *flags["link"])
        self.assertGreater(self.record("together")[1, 2], 0)
        self.call("gcc", "-fsanitize=thread", "-c", PROGRAMS / "counters.c", "-o", "counters.o")  # compiled with the sanitizer flag only
        self.call("gcc", "counters.o", "-pthread", "-o", "program", *flags["link"])
        self.assertGreater(self.record("together")[1, 2], 0)

    def test_passes_other_arguments_to_the_compiler(self):
        self.assertEqual(self.cc("--version"), self.call("gcc", "--version"))
        self.assertEqual(self.cc("-dumpmachine"), self.call("gcc", "-dumpmachine"))
        self.cc("-v")
        self.assertIn("gcc version", self.err)
        self.assertIn("int main", self.cc("-E", "-P", PROGRAMS / "counters.c"))
        self.assertIn("#define __SANITIZE_THREAD__ 1", self.cc("-E", "-dM", "-x", "c", "/dev/null"))
        self.cc("missing.c", status=1)
        self.assertIn("missing.c: No such file", self.err)

    def test_uses_the_compiler_of_the_environment(self):
        (self.directory / "my_compiler").write_text('#!/bin/sh\necho called "$@" >> log\nexec gcc "$@"\n')
        os.chmod(self.directory / "my_compiler", 0o755)
        self.cc("-pthread", PROGRAMS / "counters.c", "-o", "program", CC="env ./my_compiler")
        self.cc("-pthread", PROGRAMS / "counters.c", "-o", "program", CC=f"{self.rankloom} cc", RANKLOOM_CC="./my_compiler")
        self.assertEqual((self.directory / "log").read_text().count("counters.c"), 2)
        self.cc("-pthread", PROGRAMS / "counters.c", "-o", "program", CC=f"{self.rankloom} cc")  # does not call itself
        self.cc("x.c", status=5, CC="no-such-compiler")
        self.assertIn("no-such-compiler cannot be started", self.err)

    def test_libtsan_is_not_linked_by_flags_of_the_program(self):
        self.cc("-fsanitize=thread", "-pthread", PROGRAMS / "counters.c", "-o", "program")
        self.assertNotIn("libtsan", self.call("ldd", "./program"))

    def test_other_sanitizers_stay_enabled(self):
        self.cc("-fsanitize=undefined,thread", "-pthread", PROGRAMS / "counters.c", "-o", "program")
        libraries = self.call("ldd", "./program")
        self.assertNotIn("libtsan", libraries)
        self.assertIn("libubsan", libraries)
        self.assertEqual(self.record("together").ranks, 5)

    def test_works_with_cmake(self):
        (self.directory / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.18)\nproject(both C CXX)\nfind_package(Threads REQUIRED)\nfind_package(OpenMP REQUIRED)\n"
            f"add_executable(program {PROGRAMS / 'ring.cpp'})\ntarget_link_libraries(program PRIVATE Threads::Threads)\n"
            f"add_executable(stencil {PROGRAMS / 'stencil.c'})\ntarget_link_libraries(stencil PRIVATE OpenMP::OpenMP_C)\n")
        self.call("cmake", "-G", "Ninja", ".", CC=f"{self.rankloom} cc", CXX=f"{self.rankloom} c++")
        self.call("ninja")
        self.assertEqual(self.record().ranks, 7)
        self.call("./stencil", OMP_NUM_THREADS="3", RANKLOOM_THREADS_OUT="stencil.prof")
        self.assertEqual(self.read("stencil.prof").ranks, 3)

    def test_rejects_static_linking(self):
        self.cc("-static", PROGRAMS / "counters.c", "-o", "program", status=2)
        self.assertIn("remove -static", self.err)

    def test_response_files_work(self):
        (self.directory / "arguments").write_text(f"-O2 -pthread {PROGRAMS / 'counters.c'}\n")
        self.cc("@arguments", "-o", "program")
        self.assertEqual(self.record("together").ranks, 5)


if __name__ == "__main__":
    RecordingTest.rankloom = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
