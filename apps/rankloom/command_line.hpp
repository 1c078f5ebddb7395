// SPDX-License-Identifier: Apache-2.0
// apps: the command line: parses the arguments, calls the verb, and explains errors in the arguments.
#pragma once

namespace rankloom::app {

/// Parses the arguments and runs the verb. The value is the exit status.
int run_command_line(int argc, const char* const* argv);

}  // namespace rankloom::app
