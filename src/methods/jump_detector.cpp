#include "methods/jump_detector.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::method {
namespace {

constexpr std::uint64_t kStepsToLearn = 4;
constexpr double kShareOfRange = 0.02;
constexpr double kTimesUsual = 20.0;
// While the usual miss is being learned: of the range in which the signal has moved for long enough, or many times the
// few misses so far (a signal that begins to move as a high power of time misses ever more).
constexpr double kShareWhileLearning = 0.3;
constexpr double kTimesWhileLearning = 400.0;
constexpr std::uint64_t kStepsOfARange = 16;
constexpr double kFading = 0.8;
constexpr double kValueRounding = 1e-9;  // of a signal that has not moved yet

}  // namespace

void JumpDetector::start(std::span<const double> values, std::span<const OutputId> watched) {
  watched_.assign(watched.begin(), watched.end());
  memory_.seen.clear();
  for (const OutputId output : watched_) memory_.seen.push_back({{values[output], values[output]}, 0.0});
  memory_.steps = memory_.all_steps = 0;
}

bool JumpDetector::sees_jump(std::span<const double> predicted, std::span<const double> actual) const {
  for (std::size_t i = 0; i < memory_.seen.size(); ++i) {
    const double value = actual[watched_[i]];
    if (is_jump(memory_.seen[i], std::abs(value - predicted[watched_[i]]), value)) return true;
  }
  return false;
}

bool JumpDetector::jumped(std::span<const double> predicted, std::span<const double> actual) {
  const bool found = sees_jump(predicted, actual);
  for (std::size_t i = 0; i < memory_.seen.size(); ++i) {
    Seen& seen = memory_.seen[i];
    const double value = actual[watched_[i]];
    const double miss = std::abs(value - predicted[watched_[i]]);
    seen.usual_miss = std::max(miss, kFading * seen.usual_miss);
    seen.range.take(value);
  }
  ++memory_.steps;
  ++memory_.all_steps;
  if (found) forget_past();
  return found;
}

bool JumpDetector::is_jump(const Seen& seen, double miss, double value) const {
  const double range = seen.range.span();
  if (!(miss > kValueRounding * (1.0 + std::abs(value)))) return false;
  if (memory_.steps >= kStepsToLearn) return miss > kShareOfRange * range && miss > kTimesUsual * seen.usual_miss;
  if (!(miss > kShareWhileLearning * range)) return false;
  return memory_.all_steps >= kStepsOfARange || (memory_.steps > 0 && miss > kTimesWhileLearning * seen.usual_miss);
}

void JumpDetector::forget_past() {
  memory_.steps = 0;
  for (auto& seen : memory_.seen) seen.usual_miss = 0.0;
}

}  // namespace entrain::method
