#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/variable.hpp"

namespace entrain {

/// The course of some numbers over any number of samples in bounded memory: lowest and highest value of each over spans
/// of equally many samples. When the room is used up, spans are joined in pairs. No extreme is ever lost, and nothing
/// is allocated after construction.
class ENTRAIN_API Envelope {
 public:
  explicit Envelope(std::size_t channels, std::size_t most_spans = 2048);

  /// One value per channel; NaN = unknown, which a known value of the same span hides.
  void add(Time t, std::span<const double> values);

  std::size_t size() const { return times_.size(); }
  std::size_t channels() const { return channels_; }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t samples_per_span() const { return samples_per_span_; }
  Time time(std::size_t span) const { return times_[span]; }  ///< of its last sample
  double low(std::size_t span, std::size_t channel) const { return low_[span * channels_ + channel]; }
  double high(std::size_t span, std::size_t channel) const { return high_[span * channels_ + channel]; }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(channels_, most_spans_, samples_, samples_per_span_, in_last_span_, times_, low_, high_);
  }

 private:
  void join_pairs();

  std::size_t channels_;
  std::size_t most_spans_;
  std::uint64_t samples_ = 0;
  std::uint64_t samples_per_span_ = 1;
  std::uint64_t in_last_span_ = 0;
  std::vector<Time> times_;
  std::vector<double> low_, high_;  // span by span
};

}  // namespace entrain
