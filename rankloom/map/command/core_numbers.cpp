// SPDX-License-Identifier: Apache-2.0
// map/command: the result of an external mapper.
#include "rankloom/map/command/core_numbers.hpp"

#include <fmt/format.h>

#include "rankloom/core/text/scanner.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

constexpr const char* format_hint = "write one core number per line, counted from 0, line i for rank i";

class CoreReader {
 public:
  CoreReader(const FileContents& file, std::uint32_t ranks, const Topology& topology, const Capacities& capacities)
      : file_(file),
        ranks_(ranks),
        topology_(topology),
        capacities_(capacities),
        taken_(topology.core_count(), 0),
        last_(file.view()) {}

  Result<std::vector<Core>> read() {
    Scanner in(file_.view());
    for (in.skip_space(); !in.done(); in.skip_space()) {
      if (in.next_is('#') || in.next_is('%')) {
        in.take_line();
      } else if (auto taken = take(in); !taken) {
        return propagate(taken);
      }
    }
    if (core_of_.size() == ranks_) return std::move(core_of_);
    return bad(fmt::format("the result has {}, but there are {}", counted(core_of_.size(), "core number"),
                           counted(ranks_, "rank")),
               format_hint);
  }

 private:
  Result<void> take(Scanner& in) {
    last_ = in;
    std::uint64_t number = 0;
    if (!in.take_integer(number))
      return bad(fmt::format("\"{}\" is not a core number", last_.token_for_message()), format_hint);
    in.skip_blanks();
    if (!in.at_line_end())
      return bad(fmt::format("\"{}\" follows the core number", in.token_for_message()), format_hint);
    if (core_of_.size() == ranks_)
      return bad(fmt::format("the result has more than {}", counted(ranks_, "core number")), format_hint);
    if (number >= topology_.core_count()) {
      return bad(fmt::format("core {} does not exist", number),
                 fmt::format("the machine has the cores 0 to {}", topology_.core_count() - 1));
    }
    const Core core{static_cast<std::uint32_t>(number)};
    if (++taken_[index(core)] > capacities_[core]) {
      return bad(capacities_[core] == 0
                     ? fmt::format("core {} must not be used", number)
                     : fmt::format("core {} gets more ranks than its capacity of {}", number, capacities_[core]),
                 "give every rank its own core; a partitioner must not exceed the block weight (no imbalance)");
    }
    core_of_.push_back(core);
    return {};
  }

  /// About the last number.
  Failure bad(std::string what, std::string hint) const {
    const std::uint64_t line = file_.view().empty() ? 0 : last_.line();
    return fail(Code::bad_input, at(file_.name(), line), std::move(what), std::move(hint));
  }

  const FileContents& file_;
  std::uint32_t ranks_;
  const Topology& topology_;
  const Capacities& capacities_;
  std::vector<std::uint32_t> taken_;
  std::vector<Core> core_of_;
  Scanner last_;  // before the last number
};

}  // namespace

Result<std::vector<Core>> read_core_numbers(const FileContents& file, std::uint32_t ranks, const Topology& topology,
                                            const Capacities& capacities) {
  return CoreReader(file, ranks, topology, capacities).read();
}

}  // namespace rankloom
