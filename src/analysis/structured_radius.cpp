// The structured radius of measures.hpp: the largest gain on the unit circle, whose peaks can be narrow.
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "analysis/measures.hpp"
#include "numerics/dense.hpp"
#include "numerics/eigenvalues.hpp"
#include "numerics/golden_section.hpp"

namespace entrain::analysis {
namespace {

using Eigen::MatrixXcd;

/// || K (zeta I - Phi)^-1 E ||_2 at an angle: the effect of a change of one subsystem's step on itself through the
/// coupling.
class LoopGain {
 public:
  LoopGain(const StepProgram& program, const Matrix& phi, std::size_t subsystem)
      : phi_(numerics::view(phi).cast<std::complex<double>>()) {
    const auto& network = program.network();
    const std::size_t states = network.subsystems[subsystem].matrices.A.rows;
    const std::size_t samples = network.subsystems[subsystem].inputs.size() * program.samples_per_input();
    std::size_t first_state = 0;
    std::size_t first_sample = program.samples_at();
    for (std::size_t s = 0; s < subsystem; ++s) {
      first_state += network.subsystems[s].matrices.A.rows;
      first_sample += network.subsystems[s].inputs.size() * program.samples_per_input();
    }
    std::vector<double> scratch;
    Matrix seen(program.size(), program.size());
    for (std::size_t i = 0; i < program.size(); ++i) seen(i, i) = 1.0;
    program.apply_around(subsystem, false, seen.values, program.size(), scratch);
    Matrix done(program.size(), states);
    for (std::size_t i = 0; i < states; ++i) done(first_state + i, i) = 1.0;
    program.apply_around(subsystem, true, done.values, states, scratch);
    k_.resize(numerics::index(states + samples), numerics::index(program.size()));
    k_.topRows(numerics::index(states)) =
        numerics::view(seen).middleRows(numerics::index(first_state), numerics::index(states));
    k_.bottomRows(numerics::index(samples)) =
        numerics::view(seen).middleRows(numerics::index(first_sample), numerics::index(samples));
    e_ = numerics::view(done).cast<std::complex<double>>();
  }

  double operator()(double angle) const {
    const MatrixXcd resolvent = std::polar(1.0, angle) * MatrixXcd::Identity(phi_.rows(), phi_.cols()) - phi_;
    return Eigen::JacobiSVD<MatrixXcd>(k_ * resolvent.partialPivLu().solve(e_)).singularValues()[0];
  }

 private:
  MatrixXcd phi_, k_, e_;
};

/// Where to look first: a grid, and the eigenvalues near the circle, whose peaks are narrower than the grid. The
/// matrices are real: half the circle is enough. Ascending.
std::vector<double> angles_to_look_at(const std::vector<std::complex<double>>& values) {
  constexpr int kAngles = 360;
  std::vector<double> angles;
  for (int i = 0; i <= kAngles; ++i) angles.push_back(std::numbers::pi * i / kAngles);
  for (const auto& value : values) {
    const double angle = std::abs(std::arg(value));
    const double width = 1.0 - std::abs(value);  // of its peak
    if (width > 4.0 * std::numbers::pi / kAngles) continue;
    for (const double at : {angle - width, angle, angle + width}) {
      angles.push_back(std::clamp(at, 0.0, std::numbers::pi));
    }
  }
  std::sort(angles.begin(), angles.end());
  angles.erase(std::unique(angles.begin(), angles.end()), angles.end());
  return angles;
}

/// The numbers of the highest local maxima, few enough to be looked at closely.
std::vector<std::size_t> highest_peaks(const std::vector<double>& gains) {
  constexpr std::size_t kMost = 8;
  std::vector<std::size_t> peaks;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    const bool falls_before = i == 0 || gains[i - 1] <= gains[i];
    const bool falls_behind = i + 1 == gains.size() || gains[i + 1] <= gains[i];
    if (falls_before && falls_behind) peaks.push_back(i);
  }
  std::stable_sort(peaks.begin(), peaks.end(), [&](std::size_t a, std::size_t b) { return gains[a] > gains[b]; });
  peaks.resize(std::min(peaks.size(), kMost));
  return peaks;
}

}  // namespace

double structured_radius(const StepProgram& program, std::size_t subsystem) {
  const Matrix phi = step_matrix(program);
  const double radius = numerics::spectral_radius(phi);
  if (!(radius < 1.0)) return 0.0;
  const LoopGain gain(program, phi, subsystem);
  const std::vector<double> angles = angles_to_look_at(numerics::eigenvalues(phi));
  std::vector<double> gains;
  gains.reserve(angles.size());
  for (const double angle : angles) gains.push_back(gain(angle));
  // The narrowest peak is as wide as the distance to the circle; near its top the place hardly matters.
  const double width = std::max(1e-14, 1e-4 * (1.0 - radius));
  double largest = 0.0;
  for (const std::size_t peak : highest_peaks(gains)) {
    const double low = angles[peak - std::min<std::size_t>(peak, 1)];
    const double high = angles[std::min(peak + 1, angles.size() - 1)];
    largest = std::max({largest, gains[peak], numerics::golden_section(low, high, width, gain).value});
  }
  return 1.0 / largest;
}

}  // namespace entrain::analysis
