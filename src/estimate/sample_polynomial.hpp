#pragma once

#include <span>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::estimate {

/// The polynomial through samples at some times, by powers of the share of an interval. Weights are kept while the
/// times lie alike, as they do with equal steps.
class SamplePolynomial {
 public:
  /// The weight of sample j in coefficient p is at p * nodes.size() + j.
  std::span<const double> weights(std::span<const Time> nodes, Time from, Duration size);

 private:
  std::vector<double> shares_, kept_, weights_, product_;
};

}  // namespace entrain::estimate
