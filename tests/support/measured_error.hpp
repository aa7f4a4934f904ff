#pragma once

#include <algorithm>
#include <cmath>

#include "support/recorded.hpp"

namespace entrain::test {

/// rms over the run of the worst output, relative to its range, against all equations in one integrator.
inline double measured_error(const SystemDescription& description, const ModelFactory& models = {}) {
  auto monolithic = description;
  monolithic.method.value = "monolithic";
  const auto run = recorded(description, models);
  const auto exact = recorded(monolithic, models);
  double worst = 0.0;
  for (const auto& name : run.names) {
    const auto& ours = run.column(name);
    const auto& reference = exact.column(name);
    double sum = 0.0;
    for (std::size_t k = 0; k < ours.size(); ++k) sum += std::pow(ours[k] - reference[k], 2);
    const auto [low, high] = std::minmax_element(reference.begin(), reference.end());
    worst = std::max(worst, std::sqrt(sum / static_cast<double>(ours.size())) / (*high - *low));
  }
  return worst;
}

}  // namespace entrain::test
