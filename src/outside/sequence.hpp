#pragma once

#include <cstdint>

namespace entrain::outside {

/// Which datagrams of a sender arrived, by their sequence numbers, which count from 1.
class SequenceCounter {
 public:
  enum class Arrival { New, Doubled, Reordered };

  Arrival take(std::uint64_t sequence) {
    if (sequence > highest_) {
      const std::uint64_t ahead = sequence - highest_;
      missing_ += ahead - 1;
      seen_ = ahead >= kWindow ? 0 : seen_ << ahead;
      seen_ |= 1U;
      highest_ = sequence;
      return Arrival::New;
    }
    const std::uint64_t behind = highest_ - sequence;
    if (behind >= kWindow) return Arrival::Doubled;  // too old to be known; it is not used
    const std::uint64_t bit = std::uint64_t{1} << behind;
    if ((seen_ & bit) != 0) return Arrival::Doubled;
    seen_ |= bit;
    if (missing_ > 0) --missing_;
    return Arrival::Reordered;
  }
  std::uint64_t highest() const { return highest_; }
  /// Numbers up to the highest that never came.
  std::uint64_t missing() const { return missing_; }

 private:
  static constexpr std::uint64_t kWindow = 64;

  std::uint64_t highest_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t seen_ = 0;  ///< bit b: highest_ - b came
};

}  // namespace entrain::outside
