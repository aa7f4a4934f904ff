#include "entrain/envelope.hpp"

#include <cmath>

namespace entrain {
namespace {

/// As std::fmin and std::fmax, which pass by NaN, without a call.
void widen(double& low, double& high, double value) {
  if (!(value >= low) && !std::isnan(value)) low = value;
  if (!(value <= high) && !std::isnan(value)) high = value;
}

}  // namespace

Envelope::Envelope(std::size_t channels, std::size_t most_spans)
    : channels_(channels), most_spans_(most_spans + most_spans % 2) {
  times_.reserve(most_spans_);
  low_.reserve(most_spans_ * channels);
  high_.reserve(most_spans_ * channels);
}

void Envelope::add(Time t, std::span<const double> values) {
  ++samples_;
  const bool opens = times_.empty() || in_last_span_ == samples_per_span_;
  if (opens && times_.size() == most_spans_) join_pairs();
  if (opens) {
    times_.push_back(t);
    low_.insert(low_.end(), values.begin(), values.end());
    high_.insert(high_.end(), values.begin(), values.end());
    in_last_span_ = 1;
    return;
  }
  times_.back() = t;
  ++in_last_span_;
  double* low = low_.data() + low_.size() - channels_;
  double* high = high_.data() + high_.size() - channels_;
  for (const double value : values.first(channels_)) widen(*low++, *high++, value);
}

void Envelope::join_pairs() {
  const std::size_t half = times_.size() / 2;
  for (std::size_t span = 0; span < half; ++span) {
    times_[span] = times_[2 * span + 1];
    for (std::size_t c = 0; c < channels_; ++c) {
      const std::size_t from = 2 * span * channels_ + c;
      low_[span * channels_ + c] = std::fmin(low_[from], low_[from + channels_]);
      high_[span * channels_ + c] = std::fmax(high_[from], high_[from + channels_]);
    }
  }
  times_.resize(half);
  low_.resize(half * channels_);
  high_.resize(half * channels_);
  samples_per_span_ *= 2;
}

}  // namespace entrain
