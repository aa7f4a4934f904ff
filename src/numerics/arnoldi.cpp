// Of numerics/eigenvalues.hpp, by itself because of its headers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuse-after-free"  // GCC 12 sees one in Eigen where Spectra assigns a product
#endif
#include <Spectra/GenEigsSolver.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "entrain/error.hpp"
#include "numerics/eigenvalues.hpp"

namespace entrain {
namespace {

using Multiply = FunctionRef<void(std::span<const double> vector, std::span<double> product)>;

/// A power of the matrix, as Spectra asks for it.
class Power {
 public:
  using Scalar = double;

  Power(std::size_t size, int exponent, Multiply multiply)
      : size_(size), exponent_(exponent), multiply_(multiply), between_(size) {}
  Eigen::Index rows() const { return static_cast<Eigen::Index>(size_); }
  Eigen::Index cols() const { return rows(); }
  void perform_op(const double* vector, double* product) const {
    std::copy_n(vector, size_, product);
    for (int k = 0; k < exponent_; ++k) {
      std::copy_n(product, size_, between_.begin());
      multiply_(between_, {product, size_});
    }
  }

 private:
  std::size_t size_;
  int exponent_;
  Multiply multiply_;
  mutable std::vector<double> between_;
};

/// || P v - value v || / |value| for v of length 1.
double residual(const Power& power, const std::complex<double>& value, const Eigen::VectorXcd& v) {
  const Eigen::VectorXd real = v.real();
  const Eigen::VectorXd imaginary = v.imag();
  Eigen::VectorXd real_product(v.size());
  Eigen::VectorXd imaginary_product(v.size());
  power.perform_op(real.data(), real_product.data());
  power.perform_op(imaginary.data(), imaginary_product.data());
  Eigen::VectorXcd product(v.size());
  product.real() = real_product;
  product.imag() = imaginary_product;
  return (product - value * v).norm() / (std::abs(value) * v.norm());
}

std::optional<double> radius_of_power(std::size_t size, int exponent, Multiply multiply) {
  constexpr int kMostRestarts = 20;
  constexpr double kTolerance = 1e-3;  // of the power: the matrix' own value is `exponent` times as near
  Power power(size, exponent, multiply);
  const auto basis = static_cast<Eigen::Index>(std::min<std::size_t>(40, size));
  Spectra::GenEigsSolver<Power> solver(power, 1, basis);
  try {
    solver.init();  // from a fixed vector: the same number in every run
    solver.compute(Spectra::SortRule::LargestMagn, kMostRestarts, kTolerance);
  } catch (const std::exception&) {  // a power that overflows or vanishes leaves it nothing to decompose
    return std::nullopt;
  }
  if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
  const std::complex<double> value = solver.eigenvalues()[0];
  // Spectra can call a value converged that is none when the basis breaks down.
  if (!(residual(power, value, solver.eigenvectors().col(0)) <= kTolerance)) return std::nullopt;
  return std::pow(std::abs(value), 1.0 / exponent);
}

}  // namespace

double spectral_radius(std::size_t size, Multiply multiply) {
  // Many alike subsystems have many eigenvalues of almost the same modulus: a power of the matrix draws them apart.
  // Where they are far apart, high powers vanish beside the largest.
  for (const int exponent : {16, 256, 1, 4}) {
    if (const auto radius = radius_of_power(size, exponent, multiply)) return *radius;
  }
  throw Error(ErrorCode::SolverFailed, "the largest eigenvalue of the step matrix was not found");
}

}  // namespace entrain
