#include "numerics/learning_gain.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "numerics/dense.hpp"

namespace entrain::numerics {
namespace {

using Complex = std::complex<double>;

class Response {
 public:
  Response(const LearningLoop& loop, const LearningFilter& filter) : filter_(filter) {
    // In triangular form every frequency costs one substitution; its diagonal are the poles.
    const Eigen::ComplexSchur<Eigen::MatrixXcd> schur(Eigen::MatrixXcd(view(loop.A).cast<Complex>()));
    triangle_ = schur.matrixT();
    right_ = schur.matrixU().adjoint() * view(loop.B).cast<Complex>();
    for (const auto& c : loop.C) left_.emplace_back(view(c).cast<Complex>() * schur.matrixU());
    for (const auto& d : loop.D) direct_.emplace_back(view(d).cast<Complex>());
  }

  double at(double angle) const {
    const Complex z = std::polar(1.0, angle);
    Eigen::MatrixXcd shifted = -triangle_;
    shifted.diagonal().array() += z;
    const Eigen::MatrixXcd states = shifted.triangularView<Eigen::Upper>().solve(right_);
    Eigen::MatrixXcd error = Eigen::MatrixXcd::Zero(right_.cols(), right_.cols());
    Complex power = 1.0;
    for (std::size_t p = 0; p < left_.size(); ++p, power *= z) error += power * (left_[p] * states + direct_[p]);
    const Eigen::MatrixXcd one = Eigen::MatrixXcd::Identity(error.rows(), error.cols());
    const Eigen::MatrixXcd factor = filtered(z) * ((1.0 - filter_.forgetting) * one + filter_.gain * error);
    return factor.jacobiSvd().singularValues()(0);
  }

  std::vector<Complex> poles() const {
    const Eigen::VectorXcd diagonal = triangle_.diagonal();
    return {diagonal.begin(), diagonal.end()};
  }

 private:
  double filtered(Complex z) const {
    if (filter_.cutoff <= 0.0) return 1.0;
    const double share = -std::expm1(-2.0 * std::numbers::pi * filter_.cutoff);
    return std::norm(share / (1.0 - (1.0 - share) / z));
  }

  Eigen::MatrixXcd triangle_, right_;
  std::vector<Eigen::MatrixXcd> left_, direct_;
  LearningFilter filter_;
};

/// Peaks are as narrow as the damping is small: they are looked for where poles lie, and between on a logarithmic grid.
std::vector<double> angles_to_try(const std::vector<Complex>& poles) {
  constexpr int kGrid = 400;
  constexpr double kLowest = 1e-6;
  std::vector<double> angles;
  for (int i = 0; i <= kGrid; ++i) {
    angles.push_back(kLowest * std::pow(std::numbers::pi / kLowest, static_cast<double>(i) / kGrid));
  }
  for (const Complex& pole : poles) {
    const double angle = std::abs(std::arg(pole));
    const double width = std::abs(std::abs(pole) - 1.0) + 1e-9;
    for (const double offset : {-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0}) {
      angles.push_back(std::clamp(angle + offset * width, kLowest, std::numbers::pi));
    }
  }
  std::sort(angles.begin(), angles.end());
  // Conjugate poles give the same angles; the best one must have neighbours.
  const auto same = [](double a, double b) { return b - a <= 1e-12 * b; };
  angles.erase(std::unique(angles.begin(), angles.end(), same), angles.end());
  return angles;
}

}  // namespace

LearningGain learning_gain(const LearningLoop& loop, const LearningFilter& filter) {
  const Response response(loop, filter);
  const auto poles = response.poles();
  LearningGain result;
  for (const Complex& pole : poles) result.radius = std::max(result.radius, std::abs(pole));

  const auto angles = angles_to_try(poles);
  std::size_t best = 0;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const double value = response.at(angles[i]);
    if (value <= result.largest) continue;
    result.largest = value;
    best = i;
  }
  double low = angles[best == 0 ? 0 : best - 1];
  double high = angles[std::min(best + 1, angles.size() - 1)];
  constexpr int kSections = 80;  // of the bracket, each by 0.618: down to rounding
  for (int i = 0; i < kSections; ++i) {
    const double third = (high - low) * (1.0 - 1.0 / std::numbers::phi);
    if (response.at(low + third) > response.at(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  result.angle = 0.5 * (low + high);
  result.largest = std::max(result.largest, response.at(result.angle));
  return result;
}

}  // namespace entrain::numerics
