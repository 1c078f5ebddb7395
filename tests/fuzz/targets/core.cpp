// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: texts that options and files of several formats contain.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "rankloom/core/options.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/core/text/units.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace rankloom::fuzz {

namespace {

void read_hostlist(std::string_view bytes) {
  const auto hosts = expand_hostlist(bytes);
  if (has_value(hosts)) expect(!hosts->empty(), "a hostlist is not empty");
}

void read_number_ranges(std::string_view bytes) {
  std::string error;
  const auto numbers = parse_number_ranges(bytes, (1U << 20) - 1, &error);
  if (!numbers) return expect(!error.empty(), "an error has a message");
  expect(parse_number_ranges(format_number_ranges(*numbers)) == *numbers, "ranges read back to the same numbers");
}

void read_units(std::string_view bytes) {
  for (const auto number :
       {parse_number(bytes), parse_bytes(bytes), parse_nanoseconds(bytes, 1e9), parse_inverse_bandwidth(bytes)}) {
    if (!number) continue;
    expect(std::isfinite(*number), "a number is finite");
    expect(parse_number(format_value(*number)) == *number, "a value reads back to the same number");
    for (const std::string& text : {format_bytes(*number), format_seconds(*number), format_count(*number)})
      expect(!text.empty(), "a number has a text");
  }
}

/// The scanner has fast paths; the standard library reads the same number.
void scan_numbers(std::string_view bytes) {
  const FileContents file = file_of(bytes);
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    const std::string_view rest = in.rest();
    double number = 0, same = 0;
    std::uint64_t integer = 0;
    if (Scanner integers = in; integers.take_integer(integer)) {
      std::uint64_t expected = 0;
      std::from_chars(rest.data(), rest.data() + rest.size(), expected);
      expect(integer == expected, "an integer has its value");
    }
    if (in.take_number(number)) {
      const std::string_view text = rest.substr(rest.starts_with('+') ? 1 : 0);
      std::from_chars(text.data(), text.data() + text.size(), same);
      expect(number == same, "a number is rounded correctly");
    } else if (!in.take(',') && in.take_token().empty()) {
      in.skip_line();
    }
    expect(in.rest().size() < rest.size(), "a scanner moves forward");
  }
}

void set_options(std::string_view bytes) {
  enum class Order : std::uint8_t { turn, random };
  std::uint64_t tries = 10;
  double factor = 1, size = 0;
  bool fast = false;
  std::string name;
  Order order = Order::turn;
  OptionList list;
  list.count("tries", tries, "number of tries", 1, 1000);
  list.number("factor", factor, "a factor", 0, 100);
  list.bytes("size", size, "a size");
  list.flag("fast", fast, "be fast");
  list.text("name", name, "NAME", "a name");
  list.choice<Order>("order", order, {{"turn", Order::turn}, {"random", Order::random}}, "the order");
  if (has_value(list.set_all(bytes, "mapper"))) {
    expect(tries >= 1 && tries <= 1000, "a count is within its limits");
    expect(factor >= 0 && factor <= 100, "a number is within its limits");
  }
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  return {{"hostlist", read_hostlist, 3000},
          {"number-ranges", read_number_ranges},
          {"units", read_units},
          {"numbers", scan_numbers},
          {"options", set_options}};
}

}  // namespace rankloom::fuzz
