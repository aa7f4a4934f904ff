#include "learn/update.hpp"

#include <cmath>
#include <numbers>

namespace entrain::learning {
namespace {

template <class Iterator>
void smooth_one_way(Iterator first, Iterator last, double share) {
  double state = *first;
  for (; first != last; ++first) {
    state += share * (*first - state);
    *first = state;
  }
}

}  // namespace

void smooth(std::span<double> values, double cutoff, Duration interval) {
  if (values.empty()) return;
  const double share = -std::expm1(-2.0 * std::numbers::pi * cutoff * interval);
  smooth_one_way(values.begin(), values.end(), share);
  smooth_one_way(values.rbegin(), values.rend(), share);
}

void update_corrections(std::vector<double>& corrections, const WireRecord& record, const LearningTuning& tuning,
                        Duration step) {
  const std::size_t wires = record.wires().size();
  std::vector<double> next;
  for (std::size_t w = 0; w < wires; ++w) {
    // Where the consumer is in the middle of a step nothing is taken, so nothing is learned.
    const std::size_t stride = record.wires()[w].consumer_span;
    next.clear();
    for (std::size_t k = 0; k < record.steps(); k += stride) {
      next.push_back((1.0 - tuning.forgetting) * corrections[k * wires + w] + tuning.gain * record.error(w, k));
    }
    // The start is consistent and needs no correction; the next step does, and the filter must not smear that jump.
    if (tuning.cutoff > 0.0 && !next.empty()) {
      smooth(std::span(next).subspan(1), tuning.cutoff, step * static_cast<double>(stride));
    }
    for (std::size_t n = 0; n < next.size(); ++n) corrections[n * stride * wires + w] = next[n];
  }
}

}  // namespace entrain::learning
