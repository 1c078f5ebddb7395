// SPDX-License-Identifier: Apache-2.0
// map/clustering: the leading eigenvectors of the normalised similarity matrix.
//
// Small graphs get a dense eigensolver. On large graphs Spectra's Lanczos method works from one start vector and
// therefore misses the multiplicity of an eigenvalue, which every program with symmetry has (a cubic stencil has each
// of its modes in up to six directions). So the Lanczos values only tell where the wanted part of the spectrum ends. A
// block of Lanczos vectors and random vectors then passes through a Chebyshev filter for that part (Zhou, Saad et al.
// 2006), which recovers the missing copies, and a Rayleigh-Ritz step yields the eigenvectors in order.
//
// The result has the same bits on every architecture: map/CMakeLists.txt turns off vector instructions of Eigen, whose
// width determines the order of sums, and fixes the cache sizes, which determine the blocks of a matrix product. Signs,
// and the basis of the eigenspace of a multiple eigenvalue, are normalised, because they depend on the last bits.
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
#include "rankloom/core/timing.hpp"

namespace rankloom {
namespace {

using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// If more than one eigenvector in this many is wanted, the dense solver is faster.
constexpr std::uint32_t dense_solver_ratio = 4;
/// k-means separates the clusters long before the vectors are exact.
constexpr double tolerance = 1e-3;
constexpr Eigen::Index max_rounds = 20;
/// Prevents a division by zero where weights differ so much that the small ones underflow.
constexpr double min_degree = 1e-300;
constexpr int filter_degree = 16;
constexpr int filter_passes = 2;
/// Eigenvalues (at most 1) that differ by less belong to one eigenspace: the dense solver is exact to about 1e-14.
constexpr double multiple_eigenvalue = 1e-9;

struct DeadlinePassed : std::exception {};

/// N = D^(-1/2) S D^(-1/2) without storing S: w(i, j) · scale / sqrt(d_i d_j), and self / d_i on the diagonal.
class NormalisedSimilarity {
 public:
  using Scalar = double;  // required by Spectra

  NormalisedSimilarity(const Affinity& graph, const Similarity& similarity, const Deadline& deadline)
      : graph_(&graph), deadline_(deadline), self_(similarity.self), root_(graph.size()) {
    double max_weight = 0;
    for (const double weight : graph.all_weights()) max_weight = std::max(max_weight, weight);
    scale_ = max_weight > 0 ? similarity.maximum / max_weight : 0;
    for (std::uint32_t row = 0; row < graph.size(); ++row) {
      double degree = self_;
      for (const double weight : graph.weights(row)) degree += weight * scale_;
      root_[row] = std::sqrt(std::max(degree, min_degree));
    }
  }

  Eigen::Index rows() const { return graph_->size(); }
  Eigen::Index cols() const { return graph_->size(); }
  /// The eigenvector of the eigenvalue 1.
  Eigen::VectorXd leading() const { return root_.normalized(); }

  /// result = N · x; the name and the signature are Spectra's.
  void perform_op(const double* x, double* result) const {
    check_time();
    const Eigen::Map<const Eigen::VectorXd> in(x, rows());
    Eigen::Map<Eigen::VectorXd> out(result, rows());
    const Eigen::VectorXd scaled = in.cwiseQuotient(root_);
    for_rows([&](std::uint32_t row) {
      const auto neighbours = graph_->neighbours(row);
      const auto weights = graph_->weights(row);
      double sum = 0;
      for (std::size_t edge = 0; edge < neighbours.size(); ++edge) sum += weights[edge] * scaled[neighbours[edge]];
      out[row] = (sum * scale_ + self_ * scaled[row]) / root_[row];
    });
  }

  /// result = a · (N - shift) · x - b · result, for all columns together.
  void apply(const Block& x, double a, double shift, double b, Block& result) const {
    check_time();
    for_rows([&](std::uint32_t row) {
      const auto neighbours = graph_->neighbours(row);
      const auto weights = graph_->weights(row);
      double* const out = result.row(row).data();
      const auto add = [&, columns = x.cols()](double factor, const double* in) {
        for (Eigen::Index column = 0; column < columns; ++column) out[column] += factor * in[column];
      };
      for (Eigen::Index column = 0; column < x.cols(); ++column) out[column] *= -b;
      add(a * (self_ / (root_[row] * root_[row]) - shift), x.row(row).data());
      for (std::size_t edge = 0; edge < neighbours.size(); ++edge) {
        add(a * scale_ * weights[edge] / (root_[row] * root_[neighbours[edge]]), x.row(neighbours[edge]).data());
      }
    });
  }

  Eigen::MatrixXd dense() const {
    check_time();
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(rows(), rows());
    for (std::uint32_t row = 0; row < graph_->size(); ++row) {
      matrix(row, row) = self_ / (root_[row] * root_[row]);
      const auto neighbours = graph_->neighbours(row);
      const auto weights = graph_->weights(row);
      for (std::size_t edge = 0; edge < neighbours.size(); ++edge) {
        matrix(row, neighbours[edge]) = weights[edge] * scale_ / (root_[row] * root_[neighbours[edge]]);
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
    if (deadline_.passed()) throw DeadlinePassed();
  }

  const Affinity* graph_;
  Deadline deadline_;
  double self_, scale_;
  Eigen::VectorXd root_;  // square roots of the degrees
};

Eigenvectors from_columns(const Eigen::VectorXd& eigenvalues, const Eigen::MatrixXd& columns) {
  Eigenvectors result;
  result.rows = static_cast<std::uint32_t>(columns.rows());
  result.eigenvalues.assign(eigenvalues.data(), eigenvalues.data() + eigenvalues.size());
  result.values.assign(columns.data(), columns.data() + columns.size());
  return result;
}

/// Replaces the orthonormal basis of an eigenspace by one that does not depend on the solver: fixed vectors, projected
/// onto the space and orthonormalised. A basis of one vector gets its sign this way.
void normalise_basis(Eigen::Ref<Eigen::MatrixXd> basis, std::uint64_t stream) {
  Random random(0, stream);
  Eigen::MatrixXd fixed(basis.rows(), basis.cols());
  for (Eigen::Index row = 0; row < fixed.rows(); ++row) {
    for (Eigen::Index column = 0; column < fixed.cols(); ++column) fixed(row, column) = random.unit();
  }
  // The coordinates of the projections; the rotation Q R^-1 that orthonormalises them is applied to the basis.
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors{Eigen::MatrixXd(basis.transpose() * fixed)};
  Eigen::MatrixXd rotation = factors.householderQ();
  for (Eigen::Index column = 0; column < rotation.cols(); ++column) {
    if (factors.matrixQR()(column, column) < 0) rotation.col(column) *= -1;
  }
  basis = (basis * rotation).eval();
}

/// Eigen sorts by increasing eigenvalue, so the largest are the last. `basis`, if given, transforms the vectors back.
Eigenvectors largest_of(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& solved, Eigen::Index count,
                        const Eigen::MatrixXd* basis = nullptr) {
  const Eigen::VectorXd eigenvalues = solved.eigenvalues().reverse();
  // If the last wanted eigenvalue is a multiple one, its whole eigenspace is needed.
  Eigen::Index needed = count;
  while (needed < eigenvalues.size() && eigenvalues[needed - 1] - eigenvalues[needed] < multiple_eigenvalue) ++needed;
  Eigen::MatrixXd columns = solved.eigenvectors().rightCols(needed).rowwise().reverse();
  if (basis != nullptr) columns = (*basis * columns).eval();
  for (Eigen::Index begin = 0; begin < needed;) {
    Eigen::Index end = begin + 1;
    while (end < needed && eigenvalues[end - 1] - eigenvalues[end] < multiple_eigenvalue) ++end;
    normalise_basis(columns.middleCols(begin, end - begin), static_cast<std::uint64_t>(begin));
    begin = end;
  }
  return from_columns(eigenvalues.head(count), columns.leftCols(count));
}

/// The eigenvectors that Lanczos finds from one random start vector: fewer than `count`, possibly none, when it does
/// not converge. `smallest` becomes their smallest eigenvalue.
Eigen::MatrixXd lanczos(const NormalisedSimilarity& matrix, Eigen::Index count, Random& random, double& smallest) {
  const Eigen::Index krylov = std::min<Eigen::Index>(matrix.rows(), 2 * count + 12);
  Spectra::SymEigsSolver<NormalisedSimilarity> solver(const_cast<NormalisedSimilarity&>(matrix), count, krylov);
  Eigen::VectorXd start(matrix.rows());
  for (double& value : start) value = random.unit() - 0.5;
  try {
    solver.init(start.data());
    if (solver.compute(Spectra::SortRule::LargestAlge, max_rounds, tolerance) == 0) return {};
  } catch (const std::runtime_error&) {  // Spectra throws when it cannot diagonalise the tridiagonal matrix
    return {};
  }
  smallest = solver.eigenvalues().minCoeff();
  return solver.eigenvectors();
}

void orthonormalise(Block& block) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors{Eigen::MatrixXd(block)};
  block = factors.householderQ() * Eigen::MatrixXd::Identity(block.rows(), block.cols());
}

/// Amplifies the components of eigenvalues above the cut, and multiplies those of eigenvalues in [-1, cut] by at most
/// one: the Chebyshev polynomial of the interval [-1, cut].
void chebyshev_filter(const NormalisedSimilarity& matrix, double cut, Block& block) {
  const double centre = (cut - 1) / 2, radius = (cut + 1) / 2;
  Block previous = block, current = Block::Zero(block.rows(), block.cols());
  matrix.apply(previous, 1 / radius, centre, 0, current);
  for (int degree = 2; degree <= filter_degree; ++degree) {
    matrix.apply(current, 2 / radius, centre, 1, previous);  // `previous` becomes the polynomial of the next degree
    previous.swap(current);
  }
  block.swap(current);
}

Eigenvectors solve_iteratively(const NormalisedSimilarity& matrix, Eigen::Index count, std::uint64_t seed) {
  Random random(seed);
  double cut = 0.9;
  const Eigen::MatrixXd lanczos_vectors = lanczos(matrix, count, random, cut);
  cut = std::clamp(cut, -0.9, 0.9999);
  Block block(matrix.rows(), count + count / 2 + 4);
  block.leftCols(lanczos_vectors.cols()) = lanczos_vectors;
  block.col(0) = matrix.leading();
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    for (Eigen::Index column = std::max<Eigen::Index>(1, lanczos_vectors.cols()); column < block.cols(); ++column) {
      block(row, column) = random.unit() - 0.5;
    }
  }
  for (int pass = 0; pass < filter_passes; ++pass) {
    chebyshev_filter(matrix, cut, block);
    orthonormalise(block);
  }
  Block product = Block::Zero(block.rows(), block.cols());
  matrix.apply(block, 1, 0, 0, product);
  const Eigen::MatrixXd projected = block.transpose() * product;  // Rayleigh-Ritz
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved((projected + projected.transpose()) / 2);
  const Eigen::MatrixXd basis = block;
  return largest_of(solved, count, &basis);
}

}  // namespace

std::optional<Eigenvectors> leading_eigenvectors(const Affinity& graph, const Similarity& similarity,
                                                 std::uint32_t count, std::uint64_t seed, const Deadline& deadline) {
  const TimedSection timing("eigenvectors");
  assert(graph.size() >= 2 && count >= 1 && count <= graph.size());
  try {
    const NormalisedSimilarity matrix(graph, similarity, deadline);
    if (graph.size() <= max_dense_size || count > graph.size() / dense_solver_ratio) {
      return largest_of(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix.dense()), count);
    }
    return solve_iteratively(matrix, count, seed);
  } catch (const DeadlinePassed&) {
    return std::nullopt;
  }
}

}  // namespace rankloom
