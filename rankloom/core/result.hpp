// SPDX-License-Identifier: Apache-2.0
// core: errors that come from outside the program are values: what is wrong, where in the input, and how to fix it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace rankloom {

/// The kind of an error; its value is the exit status of the program.
enum class Code : std::uint8_t {
  usage = 2,        ///< The command line is wrong.
  bad_input = 3,    ///< A file or string does not follow its format.
  infeasible = 4,   ///< The problem has no solution, such as more ranks than slots.
  environment = 5,  ///< This machine lacks something: a file, a permission, memory, a program.
};

/// A position in the input: the source (a file, "-" for standard input, or the name of an option) and the line, 0 if
/// there is none.
struct Where {
  std::string source;
  std::uint64_t line = 0;
};

inline Where at(std::string source, std::uint64_t line = 0) {
  return {std::move(source), line};
}

struct Error {
  Code code;
  Where where;
  std::string what;
  std::string hint;  ///< What the user can do.
};

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

inline Failure fail(Code code, Where where, std::string what, std::string hint) {
  return Failure(Error{code, std::move(where), std::move(what), std::move(hint)});
}

/// Returns the error of one result as the error of another.
template <class T>
Failure propagate(Result<T>& result) {
  return Failure(std::move(result).error());
}

template <class T>
Failure propagate(Result<T>&& result) {
  return Failure(std::move(result).error());
}

/// "file:12: what", and the hint on a line of its own, as all our programs print errors.
std::string to_string(const Error& error);

}  // namespace rankloom
