#include "analysis/spectral_content.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/eigenvalues.hpp"

namespace entrain::analysis {

SpectralContent::SpectralContent(const LinearNetwork& network) {
  add(exact_coupling(network).dynamics);
  for (const auto& subsystem : network.subsystems) add(subsystem.matrices.A);
  std::stable_sort(motions_.begin(), motions_.end(),
                   [](const Motion& a, const Motion& b) { return a.frequency > b.frequency; });
}

void SpectralContent::add(const Matrix& dynamics) {
  const double gone = std::log(1e4);  // decay at which a motion no longer matters
  for (const auto& value : numerics::eigenvalues(dynamics)) {
    if (!(value.imag() > 0.0)) continue;
    motions_.push_back(
        {value.imag(), value.real() < 0.0 ? gone / -value.real() : std::numeric_limits<double>::infinity()});
  }
}

double SpectralContent::phase_in(Duration step) const {
  double angle = 0.0;
  Duration from = 0.0;
  for (const auto& motion : motions_) {
    const Duration to = std::min(step, motion.life);
    if (!(to > from)) continue;
    angle += motion.frequency * (to - from);
    from = to;
  }
  return angle;
}

}  // namespace entrain::analysis
