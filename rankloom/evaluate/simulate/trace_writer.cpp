// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: collectives as lines of a trace, in a deadlock-free order: a member that forwards data receives
// before it sends; a member that exchanges data does so partner by partner, as MPI libraries do.
#include "rankloom/evaluate/simulate/trace_writer.hpp"

#include <bit>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace rankloom {

namespace {

using collective_shapes::for_each_child;
using collective_shapes::for_each_round;
using collective_shapes::parent;
using collective_shapes::Shape;
using collective_shapes::TreeShape;

/// One member of a group during one step.
class Member {
 public:
  Member(TraceWriter& out, std::span<const Rank> members, std::uint64_t size, std::uint64_t root,
         std::uint64_t position, double bytes)
      : out_(out), members_(members), size_(size), root_(root), p_(position), bytes_(bytes) {}

  void write(Shape shape) {
    if (const auto tree = collective_shapes::tree_shape(shape)) return tree->up ? up(*tree) : down(*tree);
    switch (shape) {
      case Shape::star_out:
        return star(true);
      case Shape::star_in:
        return star(false);
      case Shape::all_pairs:
        for (std::uint64_t step = 1; step < size_; ++step) exchange(after(step), after(size_ - step));
        return;
      case Shape::to_later_members:
        for (std::uint64_t step = 1; step < size_; ++step)
          exchange(p_ + step < size_ ? p_ + step : no_member, p_ >= step ? p_ - step : no_member);
        return;
      case Shape::doubling:
        return doubling();
      case Shape::fold_in:
        return fold(true);
      case Shape::fold_out:
        return fold(false);
      default:
        for_each_round(shape, size_, from_root(), [&](std::uint64_t to, std::uint64_t from, std::uint64_t blocks) {
          exchange(position(to), position(from), blocks);
        });
    }
  }

 private:
  static constexpr std::uint64_t no_member = ~std::uint64_t{0};

  Rank rank(std::uint64_t position) const {
    return members_.empty() ? Rank{static_cast<std::uint32_t>(position)} : members_[position];
  }
  std::uint64_t after(std::uint64_t offset) const { return (p_ + offset) % size_; }
  std::uint64_t from_root() const { return (p_ + size_ - root_) % size_; }
  std::uint64_t position(std::uint64_t from_root) const { return (from_root + root_) % size_; }

  void send(std::uint64_t to, std::uint64_t blocks = 1) {
    out_.send(rank(to), TraceWriter::collective_tag, bytes_ * static_cast<double>(blocks));
  }
  void receive(std::uint64_t from, std::uint64_t blocks = 1) {
    out_.recv(rank(from), TraceWriter::collective_tag, bytes_ * static_cast<double>(blocks));
  }
  /// Members that exchange data receive as many blocks as they send.
  void exchange(std::uint64_t to, std::uint64_t from, std::uint64_t blocks = 1) {
    if (to != no_member) out_.isend(rank(to), TraceWriter::collective_tag, bytes_ * static_cast<double>(blocks));
    if (from != no_member) receive(from, blocks);
    if (to != no_member) out_.wait_all();
  }

  void star(bool out) {
    if (p_ != root_) return out ? receive(root_) : send(root_);
    for (std::uint64_t q = 0; q < size_; ++q) {
      if (q == root_) continue;
      if (out) {
        out_.isend(rank(q), TraceWriter::collective_tag, bytes_);
      } else {
        out_.irecv(rank(q), TraceWriter::collective_tag, bytes_);
      }
    }
    out_.wait_all();
  }

  /// The last child first, because its subtree is the deepest.
  void down(const TreeShape& shape) {
    const std::uint64_t v = from_root();
    if (const auto above = v > 0 ? parent(shape.tree, v, size_) : std::nullopt)
      receive(position(above->first), shape.blocks ? above->second : 1);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> children;
    for_each_child(shape.tree, v, size_,
                   [&](std::uint64_t child, std::uint64_t below) { children.emplace_back(child, below); });
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      out_.isend(rank(position(child->first)), TraceWriter::collective_tag,
                 bytes_ * static_cast<double>(shape.blocks ? child->second : 1));
    if (!children.empty()) out_.wait_all();
  }

  void up(const TreeShape& shape) {
    const std::uint64_t v = from_root();
    for_each_child(shape.tree, v, size_, [&](std::uint64_t child, std::uint64_t below) {
      receive(position(child), shape.blocks ? below : 1);
    });
    if (const auto above = v > 0 ? parent(shape.tree, v, size_) : std::nullopt)
      send(position(above->first), shape.blocks ? above->second : 1);
  }

  void fold(bool in) {
    const collective_shapes::Folding folding(size_);
    const std::uint64_t v = from_root();
    if (folding.is_folded(v)) return in ? send(position(v - 1)) : receive(position(v - 1));
    if (folding.has_partner(v)) return in ? receive(position(v + 1)) : send(position(v + 1));
  }

  void doubling() {
    const std::uint64_t power = std::bit_floor(size_);
    const std::uint64_t folded = size_ - power;
    const auto position_of = [&](std::uint64_t v) { return v < folded ? 2 * v + 1 : v + folded; };
    const bool sends_first = p_ < 2 * folded && p_ % 2 == 0, receives_first = p_ < 2 * folded && p_ % 2 == 1;
    if (sends_first) {
      send(p_ + 1);
      return receive(p_ + 1);
    }
    if (receives_first) receive(p_ - 1);
    const std::uint64_t v = p_ < 2 * folded ? p_ / 2 : p_ - folded;
    for (std::uint64_t bit = 1; bit < power; bit *= 2) exchange(position_of(v ^ bit), position_of(v ^ bit));
    if (receives_first) send(p_ - 1);
  }

  TraceWriter& out_;
  std::span<const Rank> members_;
  std::uint64_t size_, root_, p_;
  double bytes_;
};

}  // namespace

void TraceWriter::line(std::string_view action) {
  fmt::format_to(std::back_inserter(text_), "{} {}\n", rank_, action);
}

void TraceWriter::compute(double nanoseconds) {
  if (nanoseconds >= 1) fmt::format_to(std::back_inserter(text_), "{} compute {:.0f}\n", rank_, nanoseconds);
}

// 6 is SimGrid's code for a byte. A replay treats a receive of 0 bytes as one of unknown size.
void TraceWriter::message(std::string_view action, Rank other, int tag, double bytes, bool is_send) {
  do {
    const double piece = bytes < max_message ? bytes : max_message;
    const double size = is_send || piece >= 1 ? piece : 1;
    fmt::format_to(std::back_inserter(text_), "{} {} {} {} {:.0f} 6\n", rank_, action, index(other), tag, size);
    bytes -= piece;
    if (is_send) ++messages_;
  } while (bytes >= 1);
}

void TraceWriter::collective(const CollectiveStep& step, std::span<const Rank> members, std::uint32_t ranks,
                             std::uint32_t root, std::uint32_t position, double bytes) {
  const std::uint64_t size = members.empty() ? ranks : members.size();
  const double message_bytes = bytes * step.blocks / step.messages;
  for (double message = 0; message < step.messages; ++message)
    Member(*this, members, size, root, position, message_bytes).write(step.shape);
}

}  // namespace rankloom
