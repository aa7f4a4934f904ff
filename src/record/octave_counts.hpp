#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace entrain::recording {

/// A histogram of sizes (numbers >= 0) by octaves, from 2^-127 to 2^127, for each channel, in bounded memory. Smaller
/// sizes count as 0. Nothing is allocated after construction.
class OctaveCounts {
 public:
  explicit OctaveCounts(std::size_t channels);

  /// One size per channel; NaN = unknown, which is not counted.
  void add(std::span<const double> sizes);

  /// What a `part` (0 to 1) of the known sizes does not exceed; exact to the octave, within it as if they lay evenly in
  /// the logarithm. NaN when none is known.
  double quantile(std::size_t channel, double part) const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(counts_);
  }

 private:
  std::vector<std::uint64_t> counts_;  // channel by channel
};

}  // namespace entrain::recording
