// SPDX-License-Identifier: Apache-2.0
// map/clustering: the leading eigenvectors of the normalised similarity.
//
// Small graphs are solved whole. On large ones Spectra's Lanczos method works from one start vector, and that cannot
// see that an eigenvalue is there several times, as it is in every program with symmetry (a cubic stencil has each of
// its modes in up to six directions). So its values only say where the wanted part of the spectrum ends; a block of its
// vectors and of random ones, passed through a Chebyshev filter for that part (Zhou, Saad et al. 2006), holds the
// copies that were missed, and a Rayleigh-Ritz step brings all into order.
#include "rankloom/map/clustering/eigenvectors.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <stdexcept>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Spectra/SymEigsSolver.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// When more than one of so many is wanted, the whole spectrum is the quicker way.
constexpr std::uint32_t good_part = 4;
/// Clusters are told apart long before the vectors are exact.
constexpr double tolerance = 1e-3;
constexpr Eigen::Index most_rounds = 20;
/// Against a division by zero where weights differ so much that the small ones vanish.
constexpr double least_degree = 1e-300;
constexpr int filter_degree = 16;
constexpr int filter_passes = 2;

struct TimeIsUp : std::exception {};

/// N = D^(-1/2) S D^(-1/2) without storing S: w(i, j) · scale / sqrt(d_i d_j), and self / d_i on the diagonal.
class NormalisedSimilarity {
 public:
  using Scalar = double;  // Spectra asks

  NormalisedSimilarity(const Affinity& graph, const Similarity& similarity, const Deadline& deadline)
      : graph_(&graph), deadline_(deadline), self_(similarity.self), root_(graph.size()) {
    double most = 0;
    for (const double weight : graph.all_weights()) most = std::max(most, weight);
    scale_ = most > 0 ? similarity.maximum / most : 0;
    for (std::uint32_t row = 0; row < graph.size(); ++row) {
      double degree = self_;
      for (const double weight : graph.weights(row)) degree += weight * scale_;
      root_[row] = std::sqrt(std::max(degree, least_degree));
    }
  }

  Eigen::Index rows() const { return graph_->size(); }
  Eigen::Index cols() const { return graph_->size(); }
  /// The eigenvector of the eigenvalue 1.
  Eigen::VectorXd first() const { return root_.normalized(); }

  /// result = N · x, for Spectra.
  void perform_op(const double* x, double* result) const {
    check_time();
    const Eigen::Map<const Eigen::VectorXd> in(x, rows());
    Eigen::Map<Eigen::VectorXd> out(result, rows());
    const Eigen::VectorXd scaled = in.cwiseQuotient(root_);
    for_rows([&](std::uint32_t row) {
      const auto near = graph_->neighbours(row);
      const auto weights = graph_->weights(row);
      double sum = 0;
      for (std::size_t edge = 0; edge < near.size(); ++edge) sum += weights[edge] * scaled[near[edge]];
      out[row] = (sum * scale_ + self_ * scaled[row]) / root_[row];
    });
  }

  /// result = a · (N - shift) · x - b · result, column by column at once.
  void apply(const Block& x, double a, double shift, double b, Block& result) const {
    check_time();
    for_rows([&](std::uint32_t row) {
      const auto near = graph_->neighbours(row);
      const auto weights = graph_->weights(row);
      auto out = result.row(row);
      out *= -b;
      out += (a * (self_ / (root_[row] * root_[row]) - shift)) * x.row(row);
      for (std::size_t edge = 0; edge < near.size(); ++edge) {
        out += (a * scale_ * weights[edge] / (root_[row] * root_[near[edge]])) * x.row(near[edge]);
      }
    });
  }

  Eigen::MatrixXd dense() const {
    check_time();
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(rows(), rows());
    for (std::uint32_t row = 0; row < graph_->size(); ++row) {
      matrix(row, row) = self_ / (root_[row] * root_[row]);
      const auto near = graph_->neighbours(row);
      const auto weights = graph_->weights(row);
      for (std::size_t edge = 0; edge < near.size(); ++edge) {
        matrix(row, near[edge]) = weights[edge] * scale_ / (root_[row] * root_[near[edge]]);
      }
    }
    return matrix;
  }

 private:
  template <class Body>
  void for_rows(const Body& body) const {
    parallel_chunks(graph_->size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) body(static_cast<std::uint32_t>(row));
    });
  }
  void check_time() const {
    if (deadline_.passed()) throw TimeIsUp();
  }

  const Affinity* graph_;
  Deadline deadline_;
  double self_, scale_;
  Eigen::VectorXd root_;  // of the degrees
};

Eigenvectors from_columns(const Eigen::VectorXd& eigenvalues, const Eigen::MatrixXd& columns) {
  Eigenvectors result;
  result.rows = static_cast<std::uint32_t>(columns.rows());
  result.eigenvalues.assign(eigenvalues.data(), eigenvalues.data() + eigenvalues.size());
  result.values.assign(columns.data(), columns.data() + columns.size());
  return result;
}

/// Eigen lists the smallest first.
Eigenvectors last_of(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& solved, Eigen::Index count,
                     const Eigen::MatrixXd* basis = nullptr) {
  const Eigen::VectorXd eigenvalues = solved.eigenvalues().tail(count).reverse();
  Eigen::MatrixXd columns = solved.eigenvectors().rightCols(count).rowwise().reverse();
  if (basis != nullptr) columns = (*basis * columns).eval();
  if (columns.col(0).sum() < 0) columns.col(0) = -columns.col(0);
  return from_columns(eigenvalues, columns);
}

/// What Lanczos finds from one start vector: fewer than asked for, or nothing, when it does not converge.
Eigen::MatrixXd lanczos(const NormalisedSimilarity& matrix, Eigen::Index count, Random& random, double& least) {
  const Eigen::Index krylov = std::min<Eigen::Index>(matrix.rows(), 2 * count + 12);
  Spectra::SymEigsSolver<NormalisedSimilarity> solver(const_cast<NormalisedSimilarity&>(matrix), count, krylov);
  Eigen::VectorXd start(matrix.rows());
  for (double& value : start) value = random.unit() - 0.5;
  try {
    solver.init(start.data());
    if (solver.compute(Spectra::SortRule::LargestAlge, most_rounds, tolerance) == 0) return {};
  } catch (const std::runtime_error&) {  // Spectra gives up on a tridiagonal matrix that it cannot diagonalise
    return {};
  }
  least = solver.eigenvalues().minCoeff();
  return solver.eigenvectors();
}

void orthonormalise(Block& block) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors{Eigen::MatrixXd(block)};
  block = factors.householderQ() * Eigen::MatrixXd::Identity(block.rows(), block.cols());
}

/// Multiplies what belongs to eigenvalues above the cut by a large factor, and the rest, down to -1, by at most one:
/// the Chebyshev polynomial of the interval [-1, cut].
void filter(const NormalisedSimilarity& matrix, double cut, Block& block) {
  const double centre = (cut - 1) / 2, radius = (cut + 1) / 2;
  Block before = block, next = Block::Zero(block.rows(), block.cols());
  matrix.apply(before, 1 / radius, centre, 0, next);
  for (int degree = 2; degree <= filter_degree; ++degree) {
    matrix.apply(next, 2 / radius, centre, 1, before);  // before becomes the polynomial of the next degree
    before.swap(next);
  }
  block.swap(next);
}

Eigenvectors by_lanczos_and_block(const NormalisedSimilarity& matrix, Eigen::Index count, std::uint64_t seed) {
  Random random(seed);
  double cut = 0.9;
  const Eigen::MatrixXd found = lanczos(matrix, count, random, cut);
  cut = std::clamp(cut, -0.9, 0.9999);
  Block block(matrix.rows(), count + count / 2 + 4);
  block.leftCols(found.cols()) = found;
  block.col(0) = matrix.first();
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    for (Eigen::Index column = std::max<Eigen::Index>(1, found.cols()); column < block.cols(); ++column) {
      block(row, column) = random.unit() - 0.5;
    }
  }
  for (int pass = 0; pass < filter_passes; ++pass) {
    filter(matrix, cut, block);
    orthonormalise(block);
  }
  Block product = Block::Zero(block.rows(), block.cols());
  matrix.apply(block, 1, 0, 0, product);
  const Eigen::MatrixXd small_matrix = block.transpose() * product;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved((small_matrix + small_matrix.transpose()) / 2);
  const Eigen::MatrixXd basis = block;
  return last_of(solved, count, &basis);
}

}  // namespace

std::optional<Eigenvectors> leading_eigenvectors(const Affinity& graph, const Similarity& similarity,
                                                 std::uint32_t count, std::uint64_t seed, const Deadline& deadline) {
  assert(graph.size() >= 2 && count >= 1 && count <= graph.size());
  try {
    const NormalisedSimilarity matrix(graph, similarity, deadline);
    if (graph.size() <= whole_spectrum || count > graph.size() / good_part) {
      return last_of(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix.dense()), count);
    }
    return by_lanczos_and_block(matrix, count, seed);
  } catch (const TimeIsUp&) {
    return std::nullopt;
  }
}

}  // namespace rankloom
