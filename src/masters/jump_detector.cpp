#include "masters/jump_detector.hpp"

#include <algorithm>
#include <cmath>

namespace entrain {
namespace {

constexpr std::uint64_t kStepsToLearn = 4;
constexpr double kShareOfRange = 0.02;
constexpr double kTimesUsual = 20.0;
constexpr double kFading = 0.8;
constexpr double kRounding = 1e-9;  // of a signal that has not moved yet

}  // namespace

void JumpDetector::start(std::span<const double> values, std::span<const OutputId> watched) {
  watched_.assign(watched.begin(), watched.end());
  seen_.clear();
  for (const OutputId output : watched_) seen_.push_back({values[output], values[output], 0.0});
  steps_ = 0;
}

bool JumpDetector::jumped(std::span<const double> predicted, std::span<const double> actual) {
  bool found = false;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    Seen& seen = seen_[i];
    const double value = actual[watched_[i]];
    const double miss = std::abs(value - predicted[watched_[i]]);
    const double least = std::max(kShareOfRange * (seen.high - seen.low), kRounding * (1.0 + std::abs(value)));
    found = found || (steps_ >= kStepsToLearn && miss > least && miss > kTimesUsual * seen.usual_miss);
    seen.usual_miss = std::max(miss, kFading * seen.usual_miss);
    seen.low = std::min(seen.low, value);
    seen.high = std::max(seen.high, value);
  }
  ++steps_;
  if (found) forget_past();
  return found;
}

void JumpDetector::forget_past() {
  steps_ = 0;
  for (auto& seen : seen_) seen.usual_miss = 0.0;
}

void JumpDetector::save(std::vector<double>& numbers) const {
  numbers.push_back(static_cast<double>(steps_));
  for (const auto& seen : seen_) numbers.insert(numbers.end(), {seen.low, seen.high, seen.usual_miss});
}

const double* JumpDetector::restore(const double* numbers) {
  steps_ = static_cast<std::uint64_t>(*numbers++);
  for (auto& seen : seen_) {
    seen = {numbers[0], numbers[1], numbers[2]};
    numbers += 3;
  }
  return numbers;
}

}  // namespace entrain
