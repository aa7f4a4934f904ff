#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuse-after-free"  // GCC 12 sees one in Eigen where Spectra assigns a product
#endif
#include "numerics/sparse_eigenvalues.hpp"

#include <Spectra/GenEigsComplexShiftSolver.h>
#include <klu.h>
#include <Eigen/SparseLU>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "base/function_ref.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/eigenvalues.hpp"
#include "numerics/golden_section.hpp"

namespace entrain::numerics {
namespace {

using Eigen::Index;
using Complex = std::complex<double>;
using Sparse = Eigen::SparseMatrix<Complex, Eigen::ColMajor, int>;

/// Factors of a sparse complex matrix (SuiteSparse KLU).
class ComplexLu {
 public:
  ComplexLu() { klu_defaults(&common_); }
  ~ComplexLu() {
    klu_z_free_numeric(&numeric_, &common_);
    klu_free_symbolic(&symbolic_, &common_);
  }
  ComplexLu(const ComplexLu&) = delete;
  ComplexLu& operator=(const ComplexLu&) = delete;

  /// The pattern is that of the first. Throws Error when the matrix is singular.
  void factor(Sparse& matrix) {
    int* const first = matrix.outerIndexPtr();
    int* const rows = matrix.innerIndexPtr();
    auto* const values = reinterpret_cast<double*>(matrix.valuePtr());
    if (symbolic_ == nullptr) symbolic_ = klu_analyze(static_cast<int>(matrix.rows()), first, rows, &common_);
    klu_z_free_numeric(&numeric_, &common_);
    if (symbolic_ != nullptr) numeric_ = klu_z_factor(first, rows, values, symbolic_, &common_);
    if (numeric_ == nullptr || common_.status != KLU_OK) {
      throw Error(ErrorCode::SolverFailed, {FactCode::EigenvalueUnexpected});
    }
  }
  void solve(Eigen::VectorXcd& side) const {
    klu_z_solve(symbolic_, numeric_, static_cast<int>(side.size()), 1, reinterpret_cast<double*>(side.data()),
                &common_);
  }

 private:
  mutable klu_common common_{};  // KLU writes its statistics there
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
};

/// M z.
class Product {
 public:
  explicit Product(const SchurComplement& of)
      : size_(static_cast<Index>(of.size)), matrix_(static_cast<Index>(of.all), static_cast<Index>(of.all)) {
    std::vector<Eigen::Triplet<double, int>> entries;
    for (const auto& [row, column, value] : of.entries) {
      entries.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
    }
    matrix_.setFromTriplets(entries.begin(), entries.end());
    between_ = matrix_.bottomRightCorner(matrix_.rows() - size_, matrix_.rows() - size_);
    lu_.compute(between_);
    if (lu_.info() != Eigen::Success) throw Error(ErrorCode::SolverFailed, {FactCode::StepMatrixNotFormed});
  }

  Index rows() const { return size_; }
  Eigen::VectorXd operator()(const Eigen::VectorXd& z) const {
    Eigen::VectorXd all = Eigen::VectorXd::Zero(matrix_.rows());
    all.head(size_) = z;
    const Eigen::VectorXd product = matrix_ * all;
    if (between_.rows() > 0) all.tail(between_.rows()) = -lu_.solve(product.tail(between_.rows()));
    return (matrix_ * all).head(size_);
  }

 private:
  Index size_;
  Eigen::SparseMatrix<double> matrix_;
  Eigen::SparseMatrix<double> between_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu_;
};

/// (M - shift)^-1, of which Spectra asks the real part.
class Shifted {
 public:
  using Scalar = double;

  explicit Shifted(const SchurComplement& of) : size_(static_cast<Index>(of.size)) {
    std::vector<Eigen::Triplet<Complex, int>> entries;
    entries.reserve(of.entries.size() + of.size);
    for (const auto& [row, column, value] : of.entries) {
      entries.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
    }
    for (int i = 0; i < static_cast<int>(of.size); ++i) entries.emplace_back(i, i, 0.0);
    matrix_.resize(static_cast<Index>(of.all), static_cast<Index>(of.all));
    matrix_.setFromTriplets(entries.begin(), entries.end());
  }

  Index rows() const { return size_; }
  Index cols() const { return size_; }
  void set_shift(double real, double imaginary) {
    Sparse shifted = matrix_;
    for (Index i = 0; i < size_; ++i) shifted.coeffRef(i, i) -= Complex(real, imaginary);
    lu_.factor(shifted);
  }
  void perform_op(const double* vector, double* product) const {
    Eigen::VectorXcd side = Eigen::VectorXcd::Zero(matrix_.rows());
    side.head(size_) = Eigen::Map<const Eigen::VectorXd>(vector, size_);
    lu_.solve(side);
    Eigen::Map<Eigen::VectorXd>(product, size_) = side.head(size_).real();
  }

 private:
  Index size_;
  Sparse matrix_;
  ComplexLu lu_;
};

/// Looks for the eigenvalue of the highest score along a line. All are borrowed.
class LineSearch {
 public:
  using Place = base::FunctionRef<Complex(double at)>;
  using Score = base::FunctionRef<double(const Complex& value)>;

  LineSearch(const SchurComplement& matrix, Place place, Score score)
      : shifted_(matrix), product_(matrix), place_(place), score_(score) {}

  double best() const { return best_; }

  /// The highest score among those nearest to a place of the line.
  double look(double at, Index most_restarts) {
    constexpr Index kNearest = 8;
    constexpr Index kBasis = 24;
    constexpr double kTolerance = 1e-10;
    const Complex shift = place_(at);
    Spectra::GenEigsComplexShiftSolver<Shifted> solver(shifted_, std::min(kNearest, shifted_.rows() - 2),
                                                       std::min(kBasis, shifted_.rows()), shift.real(), shift.imag());
    solver.init();  // from a fixed vector: the same number in every run
    solver.compute(Spectra::SortRule::LargestMagn, most_restarts, kTolerance);
    double highest = -std::numeric_limits<double>::infinity();
    const Eigen::VectorXcd values = solver.eigenvalues();
    const Eigen::MatrixXcd vectors = solver.eigenvectors();
    for (Index i = 0; i < values.size(); ++i) {
      const double score = score_(values[i]);
      if (score > highest && is_eigenvalue(values[i], vectors.col(i))) highest = score;
    }
    best_ = std::max(best_, highest);
    return highest;
  }

  /// At even places up to the `far` end, where steps that are too long have their eigenvalues; at halved ones towards
  /// 0, where the motion itself has them; then closer around the best.
  void scan(double far, Index most_restarts) {
    const auto look_at = [&](double at) { return look(at, most_restarts); };
    constexpr int kEven = 8;
    constexpr int kHalvings = 10;
    constexpr double kWidth = 0.02;  // of the places around the best
    std::vector<double> places{0.0};
    for (int k = kHalvings; k > 0; --k) places.push_back(std::ldexp(far / kEven, -k));
    for (int k = 1; k <= kEven; ++k) places.push_back(far * k / kEven);
    std::vector<double> scores;
    scores.reserve(places.size());
    for (const double at : places) scores.push_back(look_at(at));
    const auto top = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    const double low = places[top - std::min<std::size_t>(top, 1)];
    const double high = places[std::min(top + 1, places.size() - 1)];
    golden_section(low, high, kWidth * (high - low), look_at);
  }

 private:
  /// Spectra finds eigenvalues of the real part of an inverse and has to guess which of two roots is meant.
  bool is_eigenvalue(const Complex& value, const Eigen::VectorXcd& vector) const {
    constexpr double kTolerance = 1e-6;
    Eigen::VectorXcd product(vector.size());
    product.real() = product_(vector.real());
    product.imag() = product_(vector.imag());
    return (product - value * vector).norm() <= kTolerance * std::abs(value) * vector.norm();
  }

  Shifted shifted_;
  Product product_;
  Place place_;
  Score score_;
  double best_ = -std::numeric_limits<double>::infinity();
};

/// A place on the line itself may be an eigenvalue: the shifts lie beside it by so much.
constexpr double kBeside = 1e-4;

/// Where nothing is near, nothing converges, and nothing is missed; a place that is itself known to a few percent only
/// may be farther from the eigenvalues than they are from each other.
constexpr Index kFewRestarts = 4;
constexpr Index kManyRestarts = 10;

}  // namespace

double spectral_radius(const SchurComplement& matrix) {
  constexpr double kClearly = 0.01;  // beyond, growth in the mean is no matter of how it begins
  constexpr double kApart = 0.02;    // circles that are tried where it is known to a few percent only
  constexpr int kMostCircles = 4;
  double radius = 1.0;
  const auto place = [&](double angle) { return std::polar((1.0 + kBeside) * radius, angle); };
  const auto score = [](const Complex& value) { return modulus(value); };
  LineSearch search(matrix, place, score);
  const double growth = mean_growth(matrix);
  search.scan(std::numbers::pi, kFewRestarts);
  if (growth > (1.0 + kClearly) * search.best()) {
    int k = 0;
    do {
      radius = growth * (1.0 - k * kApart);
      search.scan(std::numbers::pi, kManyRestarts);
    } while (++k < kMostCircles && search.best() < growth * (1.0 - kMostCircles * kApart));
  }
  if (search.best() > radius) {
    radius = search.best();
    search.scan(std::numbers::pi, kManyRestarts);
  }
  if (!std::isfinite(search.best())) {
    throw Error(ErrorCode::SolverFailed,
                {FactCode::EigenvalueNotFound, {}, {{"what", "the largest eigenvalue of the step matrix"}}});
  }
  // Known to a few percent only, but it grows.
  return std::max(search.best(), growth > (1.0 + kClearly) * search.best() ? growth : 0.0);
}

double mean_growth(const SchurComplement& matrix) {
  const auto settling = static_cast<int>(64 + matrix.size / 16);  // longer where more is passed on
  constexpr int kCounted = 192;
  const Product product(matrix);
  Eigen::VectorXd vector(product.rows());
  for (Index i = 0; i < vector.size(); ++i) vector[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));  // no symmetry
  double growth = 0.0;
  for (int k = 0; k < settling + kCounted; ++k) {
    const Eigen::VectorXd next = product(vector);
    const double length = next.norm();
    if (!(length > 0.0)) return 0.0;
    if (k >= settling) growth += std::log(length);
    vector = next / length;
  }
  return std::exp(growth / kCounted);
}

double spectral_abscissa(const SchurComplement& matrix, double fastest) {
  const auto place = [&](double at) { return Complex(kBeside * fastest, at); };
  const auto score = [](const Complex& value) { return value.real(); };
  LineSearch search(matrix, place, score);
  search.scan(fastest, kFewRestarts);
  if (!std::isfinite(search.best())) {
    throw Error(ErrorCode::SolverFailed,
                {FactCode::EigenvalueNotFound, {}, {{"what", "the fastest growing motion of the coupled system"}}});
  }
  return search.best();
}

}  // namespace entrain::numerics
