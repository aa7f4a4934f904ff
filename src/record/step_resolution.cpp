#include "record/step_resolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace entrain::recording {
namespace {

constexpr double kUnresolved = std::numeric_limits<double>::quiet_NaN();

/// The error of a Hermite cubic in the longer of the two steps around the middle sample. The cubic through the other
/// four has an error of the fourth derivative / 24 * the product of the distances there.
double missed_around(std::span<const Time> t, std::span<const double> y) {
  constexpr std::size_t kMiddle = 2;
  double interpolated = 0.0;
  double product = 1.0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (i == kMiddle) continue;
    product *= std::abs(t[kMiddle] - t[i]);
    double weight = 1.0;
    for (std::size_t j = 0; j < t.size(); ++j) {
      if (j != kMiddle && j != i) weight *= (t[kMiddle] - t[j]) / (t[i] - t[j]);
    }
    interpolated += weight * y[i];
  }
  const double step = std::max(t[1] - t[2], t[2] - t[3]);
  return std::abs(y[kMiddle] - interpolated) * std::pow(step, 4) / (16.0 * product);
}

}  // namespace

void StepResolution::begin(std::span<const Signal> signals, const RunSummary& summary) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].causality == Causality::Output) places.emplace(signals[i].name, i);
  }
  sources_.clear();
  connections_.clear();
  std::map<std::size_t, std::size_t> known;  // signal -> source
  for (const auto& connection : summary.connections) {
    const auto place = places.find(connection.output);
    if (place == places.end()) {
      connections_.push_back(kNone);
      continue;
    }
    const auto [source, is_new] = known.emplace(place->second, sources_.size());
    if (is_new) sources_.push_back({place->second, signals[place->second].subsystem});
    connections_.push_back(source->second);
  }
  missed_.assign(sources_.size(), kUnresolved);
  counts_ = OctaveCounts(sources_.size());
}

void StepResolution::communicated(const Sample& sample) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    missed_[i] = kUnresolved;
    if (!sample.communicated.empty() && sample.communicated[source.subsystem] == 0) continue;
    std::copy_backward(source.times.begin(), source.times.end() - 1, source.times.end());
    std::copy_backward(source.values.begin(), source.values.end() - 1, source.values.end());
    source.times[0] = sample.t;
    source.values[0] = sample.values[source.signal];
    if (++source.count >= kAround) missed_[i] = missed_around(source.times, source.values);
  }
  counts_.add(missed_);
}

double StepResolution::missed(std::size_t connection, double part) const {
  return connections_[connection] == kNone ? kUnresolved : counts_.quantile(connections_[connection], part);
}

}  // namespace entrain::recording
