// SPDX-License-Identifier: Apache-2.0
// core: errors from the world are values: what went wrong, where in the input, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace rankloom {

/// What kind of failure; the value is the exit status of the command line.
enum class Code : std::uint8_t {
  usage = 2,        ///< The command itself is wrong.
  bad_input = 3,    ///< A file or string does not say what its format asks for.
  infeasible = 4,   ///< The question has no answer, such as more ranks than places.
  environment = 5,  ///< The machine lacks something: a file, a permission, memory, a program.
};

/// A place in some input: a file (or "-" for standard input, or the name of an option) and a line, 0 when none applies.
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
  std::string hint;  ///< A remedy that the user can act on.
};

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

inline Failure fail(Code code, Where where, std::string what, std::string hint) {
  return Failure(Error{code, std::move(where), std::move(what), std::move(hint)});
}

/// Hands the error of one result on as the error of another.
template <class T>
Failure propagate(Result<T>& result) {
  return Failure(std::move(result).error());
}

template <class T>
Failure propagate(Result<T>&& result) {
  return Failure(std::move(result).error());
}

/// "file:12: what (hint)", the form in which every program shows an error.
std::string to_string(const Error& error);

}  // namespace rankloom
