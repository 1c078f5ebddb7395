// SPDX-License-Identifier: Apache-2.0
// capture/generate: the butterfly of the NPB CG benchmark, with abstract weights or with the bytes and messages of its
// problem classes.
#include <array>
#include <bit>
#include <string_view>

#include <fmt/format.h>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/support.hpp"

namespace rankloom {

namespace {

struct ProblemClass {
  std::string_view name;
  double rows;        ///< Of the matrix.
  double iterations;  ///< Timed outer iterations.
};

constexpr std::array<ProblemClass, 8> classes = {{{"none", 0, 0},
                                                  {"S", 1400, 15},
                                                  {"W", 7000, 15},
                                                  {"A", 14000, 15},
                                                  {"B", 75000, 75},
                                                  {"C", 150000, 75},
                                                  {"D", 1500000, 100},
                                                  {"E", 9000000, 100}}};

/// Ranks form a grid of R rows and C columns, C = R or 2R. A matrix-vector product ends with a sum over each row of the
/// grid by recursive doubling, and an exchange with the rank at the transposed position.
class ConjugateGradient : public Generator {
 public:
  void describe(OptionList& options) override {
    options.count("ranks", ranks_, "number of ranks, a power of two", 1, max_ranks);
    std::vector<std::pair<std::string, std::size_t>> choices;
    for (std::size_t c = 0; c < classes.size(); ++c) choices.emplace_back(classes[c].name, c);
    options.choice("class", class_, std::move(choices),
                   "problem class of the NAS benchmark, for its bytes and messages; none: abstract weights");
    options.bytes("row", row_, "weight of a partner in the row, without class");
    options.bytes("transpose", transpose_, "weight of the transposed partner, without class");
    describe_direction(options, direction_, "with class");
  }

  Result<Profile> generate(std::uint64_t) const override {
    if (!std::has_single_bit(ranks_))
      return fail(Code::usage, at("--ranks"), fmt::format("{} is not a power of two", ranks_),
                  fmt::format("choose {} or {}", std::bit_floor(ranks_), std::bit_ceil(ranks_)));
    const double edges = static_cast<double>(ranks_) * static_cast<double>(std::bit_width(columns()));
    auto fits = check_memory("cg", static_cast<double>(ranks_), edges * bytes_per_built_edge);
    if (!fits) return propagate(fits);

    const bool real = class_ > 0;
    const Exchange exchange = real ? benchmark_exchange() : Exchange{{row_, 1}, {transpose_, 1}};
    const bool directed = direction_ == Direction::directed || (direction_ == Direction::by_weights && real);
    CommGraphBuilder builder(static_cast<std::uint32_t>(ranks_));
    const auto send = [&](std::uint64_t from, std::uint64_t to, Message message) {
      if (!directed && to < from) return;  // the partner adds the edge
      builder.add(Rank{static_cast<std::uint32_t>(from)}, Rank{static_cast<std::uint32_t>(to)}, message.bytes,
                  message.count);
    };
    for (std::uint64_t p = 0; p < ranks_; ++p) {
      for (std::uint64_t bit = 1; bit < columns(); bit *= 2) send(p, p ^ bit, exchange.row);
      const std::uint64_t partner = transposed(p);
      if (partner != p || (directed && real && columns() > 1)) send(p, partner, exchange.transpose);
    }
    return point_to_point_profile(std::move(builder).build(real, !directed));
  }

 private:
  struct Message {
    double bytes;
    double count;
  };
  struct Exchange {
    Message row, transpose;
  };

  std::uint64_t grid_rows() const { return std::uint64_t{1} << std::countr_zero(ranks_) / 2; }
  std::uint64_t columns() const { return ranks_ / grid_rows(); }

  std::uint64_t transposed(std::uint64_t p) const {
    const std::uint64_t rows = grid_rows();
    if (columns() == rows) return p % rows * rows + p / rows;
    return 2 * (p / 2 % rows * rows + p / 2 / rows) + p % 2;  // pairs of columns stay together
  }

  /// One solve has 25 steps and a residual, each with a matrix-vector product whose vector has rows/columns() doubles
  /// (on average, if that is not an integer). Two scalars are summed in each step, two more in each solve, and two
  /// together after each solve. One solve precedes the timed ones.
  Exchange benchmark_exchange() const {
    constexpr double steps = 25, double_size = 8;
    const double solves = classes[class_].iterations + 1;
    const double vectors = solves * (steps + 1);
    const double scalars = solves * (2 * steps + 2);
    const double vector_bytes = double_size * classes[class_].rows / static_cast<double>(columns());
    return {{vectors * vector_bytes + scalars * double_size + solves * 2 * double_size, vectors + scalars + solves},
            {vectors * vector_bytes, vectors}};
  }

  std::uint64_t ranks_ = 64;
  std::size_t class_ = 0;
  double row_ = 101;
  double transpose_ = 100;
  Direction direction_ = Direction::by_weights;
};

}  // namespace

std::unique_ptr<Generator> make_cg() {
  return std::make_unique<ConjugateGradient>();
}

}  // namespace rankloom
