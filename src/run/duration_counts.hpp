#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace entrain::running {

/// How often durations occurred, in fixed memory: 16 classes per octave, so that a quantile is exact to 5 %.
class DurationCounts {
 public:
  void add(std::int64_t nanoseconds) {
    ++counts_[index_of(nanoseconds)];
    ++total_;
    if (nanoseconds > most_) most_ = nanoseconds;
  }
  std::uint64_t total() const { return total_; }
  std::int64_t most() const { return most_; }
  /// In s: the least duration that this share of all does not exceed; 0 without any.
  double quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < counts_.size() && total_ > 0; ++i) {
      passed += counts_[i];
      if (passed > wanted || passed == total_) {
        const std::int64_t end = limit_of(i);
        return static_cast<double>(end < most_ ? end : most_) * 1e-9;
      }
    }
    return 0.0;
  }
  /// Classes of half an octave, from the first that is not empty to the last.
  void read_histogram(std::vector<double>& limits, std::vector<std::uint64_t>& counts) const {
    constexpr std::size_t kJoined = kParts / 2;
    std::size_t first = kClasses;
    std::size_t last = 0;
    for (std::size_t i = 0; i < kClasses; ++i) {
      if (counts_[i] == 0) continue;
      if (first == kClasses) first = i / kJoined;
      last = i / kJoined;
    }
    limits.clear();
    counts.clear();
    limits.reserve(kClasses / kJoined);
    counts.reserve(kClasses / kJoined);
    for (std::size_t joined = first; joined <= last && first < kClasses; ++joined) {
      std::uint64_t sum = 0;
      for (std::size_t i = joined * kJoined; i < (joined + 1) * kJoined; ++i) sum += counts_[i];
      limits.push_back(static_cast<double>(limit_of((joined + 1) * kJoined - 1)) * 1e-9);
      counts.push_back(sum);
    }
  }

 private:
  static constexpr std::size_t kParts = 16;
  static constexpr unsigned kBits = 4;
  static constexpr std::size_t kClasses = 60 * kParts;

  static std::size_t index_of(std::int64_t nanoseconds) {
    const auto value = static_cast<std::uint64_t>(nanoseconds < 0 ? 0 : nanoseconds);
    if (value < kParts) return static_cast<std::size_t>(value);
    const auto octave = static_cast<unsigned>(std::bit_width(value)) - 1 - kBits;  // of a number with kBits more
    return (octave + 1) * kParts + static_cast<std::size_t>((value >> octave) - kParts);
  }
  /// The least duration of the class behind it.
  static std::int64_t limit_of(std::size_t index) {
    const std::size_t next = index + 1;
    if (next < kParts) return static_cast<std::int64_t>(next);
    const auto octave = static_cast<unsigned>(next / kParts - 1);
    return static_cast<std::int64_t>((kParts + next % kParts) << octave);
  }

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(kClasses, 0);
  std::uint64_t total_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace entrain::running
