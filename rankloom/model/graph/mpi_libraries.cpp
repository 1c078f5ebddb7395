// SPDX-License-Identifier: Apache-2.0
// model/graph: the steps of collective operations in Open MPI and MPICH. The libraries choose an algorithm by the size
// of the communicator and the bytes of the call. These tables are shorter than those of the libraries: algorithms that
// send the same messages between the same members are one row, and so are ranges that hardly differ.
#include <bit>
#include <charconv>
#include <span>
#include <string>

#include "rankloom/model/graph/collective_steps.hpp"

namespace rankloom {

namespace {

using collective_shapes::Shape;

constexpr double any_bytes = 1e300;
constexpr double KiB = 1024, MiB = 1024 * KiB;

enum class Algorithm : std::uint8_t {
  linear,
  chain,
  binary,
  binomial,
  quaternomial,
  scatter_allgather,
  doubling,
  ring,
  neighbours,
  halving,
  butterfly,
  rabenseifner,
  reduce_bcast,
  reduce_scatter,
  dissemination,
};

/// The first row counts whose limits are both above the size of the communicator and the bytes.
struct Choice {
  std::uint64_t size_below;
  double bytes_below;
  Algorithm algorithm;
};
constexpr std::uint64_t any_size = ~0ULL;

Algorithm choose(std::span<const Choice> rows, std::uint32_t size, double bytes) {
  for (const Choice& row : rows)
    if (size < row.size_below && bytes < row.bytes_below) return row.algorithm;
  return rows.back().algorithm;
}

// Open MPI 4.1 and 5.0, fixed decisions of coll/tuned for commutative operations. Rings of vectors with fewer elements
// than members are recursive doubling there.
constexpr Choice openmpi_barrier[] = {
    {4, any_bytes, Algorithm::doubling},    {8, any_bytes, Algorithm::linear},
    {64, any_bytes, Algorithm::doubling},   {256, any_bytes, Algorithm::dissemination},
    {512, any_bytes, Algorithm::binomial},  {1024, any_bytes, Algorithm::dissemination},
    {4096, any_bytes, Algorithm::binomial}, {any_size, any_bytes, Algorithm::dissemination}};
constexpr Choice openmpi_bcast[] = {{4, any_bytes, Algorithm::linear},
                                    {8, 2 * KiB, Algorithm::binary},
                                    {8, 8 * KiB, Algorithm::binomial},
                                    {8, MiB, Algorithm::linear},
                                    {8, any_bytes, Algorithm::chain},
                                    {16, 64, Algorithm::binary},
                                    {16, 4 * KiB, Algorithm::quaternomial},
                                    {16, 16 * KiB, Algorithm::binary},
                                    {16, 32 * KiB, Algorithm::binomial},
                                    {16, any_bytes, Algorithm::linear},
                                    {32, 4 * KiB, Algorithm::quaternomial},
                                    {32, MiB, Algorithm::binomial},
                                    {32, any_bytes, Algorithm::scatter_allgather},
                                    {64, 2 * KiB, Algorithm::binomial},
                                    {128, any_bytes, Algorithm::quaternomial},
                                    {256, 64 * KiB, Algorithm::binary},
                                    {1024, any_bytes, Algorithm::quaternomial},
                                    {2048, 512 * KiB, Algorithm::quaternomial},
                                    {2048, any_bytes, Algorithm::scatter_allgather},
                                    {any_size, 256 * KiB, Algorithm::quaternomial},
                                    {any_size, any_bytes, Algorithm::scatter_allgather}};
constexpr Choice openmpi_reduce[] = {{4, any_bytes, Algorithm::linear}, {8, 4 * KiB, Algorithm::binary},
                                     {8, 64 * KiB, Algorithm::chain},   {8, MiB, Algorithm::binomial},
                                     {8, any_bytes, Algorithm::linear}, {16, 8 * KiB, Algorithm::binary},
                                     {32, 4 * KiB, Algorithm::binary},  {any_size, any_bytes, Algorithm::binomial}};
constexpr Choice openmpi_allreduce[] = {{4, 16 * KiB, Algorithm::doubling},
                                        {4, 256 * KiB, Algorithm::ring},
                                        {4, any_bytes, Algorithm::rabenseifner},
                                        {16, 8 * KiB, Algorithm::doubling},
                                        {16, any_bytes, Algorithm::rabenseifner},
                                        {32, 4 * KiB, Algorithm::doubling},
                                        {32, any_bytes, Algorithm::rabenseifner},
                                        {64, 128, Algorithm::doubling},
                                        {64, any_bytes, Algorithm::rabenseifner},
                                        {128, 256 * KiB, Algorithm::doubling},
                                        {128, any_bytes, Algorithm::rabenseifner},
                                        {256, 128 * KiB, Algorithm::reduce_bcast},
                                        {256, 256 * KiB, Algorithm::doubling},
                                        {256, any_bytes, Algorithm::rabenseifner},
                                        {512, 4 * KiB, Algorithm::reduce_bcast},
                                        {512, any_bytes, Algorithm::rabenseifner},
                                        {any_size, 2 * KiB, Algorithm::reduce_bcast},
                                        {4096, 16 * KiB, Algorithm::doubling},
                                        {4096, any_bytes, Algorithm::rabenseifner},
                                        {any_size, 32 * KiB, Algorithm::doubling},
                                        {any_size, any_bytes, Algorithm::rabenseifner}};
constexpr Choice openmpi_allgather[] = {
    {32, any_bytes, Algorithm::doubling},     {64, KiB, Algorithm::doubling},
    {256, 512, Algorithm::doubling},          {128, 64 * KiB, Algorithm::neighbours},
    {128, any_bytes, Algorithm::ring},        {512, KiB, Algorithm::doubling},
    {512, 128 * KiB, Algorithm::neighbours},  {512, any_bytes, Algorithm::ring},
    {1024, 2 * KiB, Algorithm::doubling},     {1024, any_bytes, Algorithm::neighbours},
    {any_size, 4 * KiB, Algorithm::doubling}, {any_size, any_bytes, Algorithm::neighbours}};
/// By the bytes of the complete vector.
constexpr Choice openmpi_reduce_scatter[] = {{4, any_bytes, Algorithm::ring},
                                             {32, 256 * KiB, Algorithm::halving},
                                             {32, any_bytes, Algorithm::ring},
                                             {any_size, 256, Algorithm::reduce_scatter},
                                             {64, 512 * KiB, Algorithm::halving},
                                             {64, any_bytes, Algorithm::ring},
                                             {any_size, any_bytes, Algorithm::butterfly}};
constexpr Choice openmpi_gather[] = {
    {8, 32 * KiB, Algorithm::binomial}, {8, any_bytes, Algorithm::linear}, {any_size, any_bytes, Algorithm::binomial}};
constexpr Choice openmpi_scatter[] = {{4, any_bytes, Algorithm::linear},       {8, 2 * KiB, Algorithm::binomial},
                                      {8, any_bytes, Algorithm::linear},       {32, 16 * KiB, Algorithm::binomial},
                                      {32, any_bytes, Algorithm::linear},      {any_size, 512, Algorithm::binomial},
                                      {any_size, any_bytes, Algorithm::linear}};

/// Rabenseifner's algorithm: a reduce-scatter by recursive halving, and an allgather.
CollectiveSteps allreduce_by_halving(std::uint32_t size) {
  const double block = 1.0 / std::bit_floor(size);
  return {{Shape::fold_in}, {Shape::halving, block}, {Shape::halving, block}, {Shape::fold_out}};
}

/// An allgather of blocks of this share of the bytes.
CollectiveStep allgather_in_log_steps(std::uint32_t size, double share) {
  return {std::has_single_bit(size) ? Shape::block_doubling : Shape::bruck, share};
}

CollectiveStep allgather_ring(double size, double share) {
  return {Shape::ring, (size - 1) * share, size - 1};
}

CollectiveSteps append(CollectiveSteps first, const CollectiveSteps& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

CollectiveSteps openmpi_rooted(Algorithm algorithm, bool up, std::uint32_t size) {
  switch (algorithm) {
    case Algorithm::linear:
      return {{up ? Shape::star_in : Shape::star_out}};
    case Algorithm::chain:
      return {{up ? Shape::chain_up : Shape::chain}};
    case Algorithm::binary:
      return {{up ? Shape::binary_up : Shape::binary_down}};
    case Algorithm::quaternomial:
      return {{Shape::quaternomial_down}};
    case Algorithm::scatter_allgather:
      return {{Shape::scatter_down, 1.0 / size}, allgather_in_log_steps(size, 1.0 / size)};
    default:
      return {{up ? Shape::binomial_up : Shape::binomial_down}};
  }
}

/// Of the complete vector, `size` blocks, half is exchanged with the most distant member, or with the next one.
CollectiveSteps reduce_scatter_by_halving(std::uint32_t size, Shape shape) {
  return {{Shape::fold_in, static_cast<double>(size)},
          {shape, static_cast<double>(size) / std::bit_floor(size)},
          {Shape::fold_out}};
}

CollectiveSteps openmpi_barrier_steps(std::uint32_t size) {
  switch (choose(openmpi_barrier, size, 0)) {
    case Algorithm::linear:
      return {{Shape::star_in, 0}, {Shape::star_out, 0}};
    case Algorithm::binomial:
      return {{Shape::binomial_up, 0}, {Shape::binomial_down, 0}};
    case Algorithm::doubling:
      return {{Shape::doubling, 0}};
    default:
      return {{Shape::dissemination, 0}};
  }
}

CollectiveSteps openmpi_allreduce_steps(std::uint32_t size, double bytes) {
  switch (choose(openmpi_allreduce, size, bytes)) {
    case Algorithm::doubling:
      return {{Shape::doubling}};
    case Algorithm::ring:
      return {{Shape::ring, 2.0 * (size - 1) / size, 2.0 * (size - 1)}};
    case Algorithm::reduce_bcast:
      return append(openmpi_steps(CollectiveOp::reduce, size, bytes), openmpi_steps(CollectiveOp::bcast, size, bytes));
    default:
      return allreduce_by_halving(size);
  }
}

CollectiveSteps openmpi_allgather_steps(std::uint32_t size, double bytes) {
  const Algorithm algorithm = choose(openmpi_allgather, size, bytes);
  if (algorithm == Algorithm::doubling) return {allgather_in_log_steps(size, 1)};
  if (algorithm == Algorithm::ring || size % 2 == 1) return {allgather_ring(size, 1)};
  const std::uint32_t quarter = size / 4;
  return {{Shape::neighbours, (size - 1) / 2.0, static_cast<double>(quarter)}};
}

CollectiveSteps openmpi_reduce_scatter_steps(std::uint32_t size, double bytes) {
  switch (choose(openmpi_reduce_scatter, size, size * bytes)) {
    case Algorithm::ring:
      return {allgather_ring(size, 1)};
    case Algorithm::reduce_scatter: {
      CollectiveSteps steps = openmpi_steps(CollectiveOp::reduce, size, size * bytes);
      for (CollectiveStep& step : steps) step.blocks *= size;
      return append(std::move(steps), openmpi_steps(CollectiveOp::scatter, size, bytes));
    }
    case Algorithm::butterfly:
      return reduce_scatter_by_halving(size, Shape::halving);
    default:
      return reduce_scatter_by_halving(size, Shape::block_doubling);
  }
}

/// The largest blocks for which coll/tuned uses Bruck's all-to-all.
double openmpi_bruck_below(std::uint32_t size) {
  if (size < 16) return 0;
  if (size < 64 || (size >= 512 && size < 2048)) return 512;
  return size < 4096 ? KiB : 2 * KiB;
}

}  // namespace

CollectiveSteps openmpi_steps(CollectiveOp op, std::uint32_t size, double bytes) {
  switch (op) {
    case CollectiveOp::barrier:
      return openmpi_barrier_steps(size);
    case CollectiveOp::bcast:
      return openmpi_rooted(choose(openmpi_bcast, size, bytes), false, size);
    case CollectiveOp::reduce:
      return openmpi_rooted(choose(openmpi_reduce, size, bytes), true, size);
    case CollectiveOp::gather:
      return {{choose(openmpi_gather, size, bytes) == Algorithm::linear ? Shape::star_in : Shape::gather_up}};
    case CollectiveOp::scatter:
      return {{choose(openmpi_scatter, size, bytes) == Algorithm::linear ? Shape::star_out : Shape::scatter_down}};
    case CollectiveOp::allreduce:
      return openmpi_allreduce_steps(size, bytes);
    case CollectiveOp::allgather:
      return openmpi_allgather_steps(size, bytes);
    case CollectiveOp::alltoall:
      return {{bytes < openmpi_bruck_below(size) ? Shape::bruck_alltoall : Shape::all_pairs}};
    case CollectiveOp::reduce_scatter:
      return openmpi_reduce_scatter_steps(size, bytes);
    case CollectiveOp::scan:
      return {{Shape::chain}};  // of coll/basic
  }
  return {};
}

// MPICH 4.2, its generic table, for commutative predefined operations on elements of 8 bytes.
CollectiveSteps mpich_steps(CollectiveOp op, std::uint32_t size, double bytes) {
  constexpr double element = 8, short_bcast = 12 * KiB, long_vector = 512 * KiB, short_reduce = 2 * KiB;
  const bool power_of_two = std::has_single_bit(size);
  const bool one_element_per_member = bytes >= element * std::bit_floor(size);
  const double block = 1.0 / size, total = bytes * size;
  switch (op) {
    case CollectiveOp::barrier:
      return {{Shape::dissemination, 0}};
    case CollectiveOp::bcast:
      if (size < 8 || bytes <= short_bcast) return {{Shape::binomial_down}};
      if (power_of_two && bytes <= long_vector) return {{Shape::scatter_down, block}, {Shape::block_doubling, block}};
      return {{Shape::scatter_down, block}, allgather_ring(size, block)};
    case CollectiveOp::reduce:
      if (bytes <= short_reduce || !one_element_per_member) return {{Shape::binomial_up}};
      return {{Shape::fold_in},
              {Shape::halving, 1.0 / std::bit_floor(size)},
              {Shape::halving_gather, 1.0 / std::bit_floor(size)}};
    case CollectiveOp::gather:
      return {{Shape::gather_up}};
    case CollectiveOp::scatter:
      return {{Shape::scatter_down}};
    case CollectiveOp::allreduce:
      if (bytes <= element || !one_element_per_member) return {{Shape::doubling}};
      return allreduce_by_halving(size);
    case CollectiveOp::allgather:
      if (total < (power_of_two ? long_vector : 80 * KiB)) return {allgather_in_log_steps(size, 1)};
      return {allgather_ring(size, 1)};
    case CollectiveOp::alltoall:
      return {{size >= 8 && bytes <= 256 ? Shape::bruck_alltoall : Shape::all_pairs}};
    case CollectiveOp::reduce_scatter:
      if (total < long_vector) return reduce_scatter_by_halving(size, Shape::block_doubling);
      return {{Shape::all_pairs}};
    case CollectiveOp::scan:
      return {{Shape::partial_doubling}};
  }
  return {};
}

bool is_two_level(CollectiveOp op, CollectiveModel model, std::uint32_t size, double bytes) {
  switch (op) {
    case CollectiveOp::barrier:
    case CollectiveOp::reduce:
    case CollectiveOp::allreduce:
      return model == CollectiveModel::mpich || model == CollectiveModel::openmpi5;
    case CollectiveOp::bcast:
      if (model == CollectiveModel::mpich)
        return size < 8 || bytes < (std::has_single_bit(size) ? 512 * KiB : 12 * KiB);
      return model == CollectiveModel::openmpi5;
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
    case CollectiveOp::allgather:
      return model == CollectiveModel::openmpi5;
    default:
      return false;
  }
}

CollectiveModel collective_model(CollectiveModel model, const Profile& profile) {
  if (model != CollectiveModel::automatic) return model;
  const auto found = profile.origin.find("mpi");
  if (found == profile.origin.end()) return CollectiveModel::tree;
  constexpr std::string_view open_mpi = "Open MPI v";
  const std::string_view library = found->second;
  if (library.starts_with(open_mpi)) {
    const std::string_view version = library.substr(open_mpi.size());
    std::uint32_t major = 0;
    if (std::from_chars(version.data(), version.data() + version.size(), major).ec != std::errc())
      return CollectiveModel::tree;
    return major < 5 ? CollectiveModel::openmpi : CollectiveModel::openmpi5;
  }
  return library.find("MPICH") != std::string_view::npos ? CollectiveModel::mpich : CollectiveModel::tree;
}

}  // namespace rankloom
