#include "learn/acceleration.hpp"

#include <cmath>
#include <utility>

namespace entrain::learning {
namespace {

constexpr double kIndependent = 1e-10;  // of its length: what is left of a difference that others do not explain

double scalar_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

void subtract(std::vector<double>& from, double factor, const std::vector<double>& what) {
  for (std::size_t k = 0; k < from.size(); ++k) from[k] -= factor * what[k];
}

}  // namespace

std::vector<double> Acceleration::scaled_step(const std::vector<double>& corrections,
                                              const std::vector<double>& learned) {
  std::vector<double> step(learned.size());
  for (std::size_t k = 0; k < step.size(); ++k) step[k] = learned[k] - corrections[k];
  if (past_.past.empty()) {
    past_.scales.assign(wires_, 0.0);
    for (std::size_t k = 0; k < step.size(); ++k) past_.scales[k % wires_] += step[k] * step[k];
    for (double& scale : past_.scales) scale = scale > 0.0 ? 1.0 / std::sqrt(scale) : 1.0;
  }
  for (std::size_t k = 0; k < step.size(); ++k) step[k] *= past_.scales[k % wires_];
  return step;
}

/// The share of each difference to an earlier run is found by modified Gram-Schmidt, the newest first: the differences
/// are nearly parallel after a few runs, and normal equations would lose them.
void Acceleration::combine(const std::vector<double>& corrections, std::vector<double>& learned) {
  if (memory_ == 0) return;
  Run now{learned, scaled_step(corrections, learned)};
  std::vector<double> left = now.step;
  std::vector<std::vector<double>> directions;  // orthogonal
  std::vector<std::vector<double>> changes;     // of what is learned, along them
  for (auto run = past_.past.rbegin(); run != past_.past.rend(); ++run) {
    std::vector<double> direction = now.step;
    std::vector<double> change = now.learned;
    subtract(direction, 1.0, run->step);
    subtract(change, 1.0, run->learned);
    const double length = scalar_product(direction, direction);
    for (std::size_t j = 0; j < directions.size(); ++j) {
      const double share = scalar_product(direction, directions[j]) / scalar_product(directions[j], directions[j]);
      subtract(direction, share, directions[j]);
      subtract(change, share, changes[j]);
    }
    const double size = scalar_product(direction, direction);
    if (!(size > kIndependent * kIndependent * length)) continue;  // also not for NaN
    const double share = scalar_product(left, direction) / size;
    subtract(left, share, direction);
    subtract(learned, share, change);
    directions.push_back(std::move(direction));
    changes.push_back(std::move(change));
  }
  past_.past.push_back(std::move(now));
  if (past_.past.size() > memory_) past_.past.pop_front();
}

}  // namespace entrain::learning
