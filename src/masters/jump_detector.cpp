#include "masters/jump_detector.hpp"

#include <algorithm>
#include <cmath>

namespace entrain {
namespace {

constexpr std::uint64_t kStepsToLearn = 4;
constexpr double kShareOfRange = 0.02;
constexpr double kTimesUsual = 20.0;
constexpr double kFading = 0.8;

}  // namespace

void JumpDetector::start(std::span<const double> values) {
  seen_.clear();
  for (const double value : values) seen_.push_back({value, value, 0.0});
  steps_ = 0;
}

bool JumpDetector::jumped(std::span<const double> predicted, std::span<const double> actual) {
  bool found = false;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    Seen& seen = seen_[i];
    const double miss = std::abs(actual[i] - predicted[i]);
    const double range = seen.high - seen.low;
    found = found || (steps_ >= kStepsToLearn && miss > kShareOfRange * range && miss > kTimesUsual * seen.usual_miss);
    seen.usual_miss = std::max(miss, kFading * seen.usual_miss);
    seen.low = std::min(seen.low, actual[i]);
    seen.high = std::max(seen.high, actual[i]);
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
