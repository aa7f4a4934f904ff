#include "estimate/linear_flow.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/dense.hpp"
#include "numerics/propagators.hpp"

namespace entrain::estimate {
namespace {

// A series over at most this norm loses no digit that matters here.
constexpr double kLargestPart = 1.0;
constexpr int kTerms = 20;
constexpr double kNegligible = 1e-17;
constexpr double kUsualTerms = 12.0;
// A longer series costs more than to make the matrices.
constexpr double kLargestSeries = 8.0;
constexpr std::uint64_t kUsesBeforeKept = 3;

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

ConstVector rate(std::span<const double> rates, std::size_t p, std::size_t states) {
  return {rates.data() + p * states, numerics::index(states)};
}

}  // namespace

LinearFlow::LinearFlow(numerics::SparseRows a)
    : a_(std::move(a)), term_(a_.rows()), next_(a_.rows()), part_(kMostRates * a_.rows()) {
  for (std::size_t i = 0; i < a_.rows(); ++i) {
    double row = 0.0;
    for (std::size_t k = a_.first[i]; k < a_.first[i + 1]; ++k) row += std::abs(a_.values[k]);
    norm_ = std::max(norm_, row);
  }
}

bool LinearFlow::prefers_series(Duration size, std::uint64_t uses) const {
  if (norm_ * size > kLargestSeries) return false;
  const double parts = std::max(1.0, std::ceil(norm_ * size / kLargestPart));
  const double states = static_cast<double>(a_.rows());
  const double by_series = parts * kUsualTerms * (static_cast<double>(a_.values.size()) + 2.0 * states);
  return uses < kUsesBeforeKept || by_series < (kMostRates + 1.0) * states * states;
}

LinearFlow::Kept& LinearFlow::kept_for(Duration size) {
  for (Kept& kept : kept_) {
    if (kept.size == size) return kept;
  }
  Kept& kept = kept_[oldest_];
  oldest_ = (oldest_ + 1) % kept_.size();
  kept = {size, 0, {}};
  return kept;
}

void LinearFlow::make_propagators(Kept& kept) const {
  const std::size_t states = a_.rows();
  Matrix dense(states, states);
  Matrix identity(states, states);
  for (std::size_t i = 0; i < states; ++i) {
    a_.add_to(i, 1.0, std::span(dense.values).subspan(i * states, states));
    identity(i, i) = 1.0;
  }
  kept.propagators = entrain::numerics::propagators(dense, identity, kept.size, kMostRates + 1);
  double scale = 1.0;  // p! / h^p
  for (std::size_t p = 0; p < kMostRates; ++p) {
    if (p > 0) scale *= static_cast<double>(p) / kept.size;
    for (double& value : kept.propagators[p + 1].values) value *= scale;
  }
}

void LinearFlow::advance(Duration size, std::span<const double> rates, std::span<double> w) {
  if (w.empty()) return;
  Kept& kept = kept_for(size);
  if (kept.propagators.empty()) {
    if (prefers_series(size, ++kept.uses)) return advance_by_series(size, rates, w);
    make_propagators(kept);
  }
  Vector sum(next_.data(), numerics::index(w.size()));
  sum.noalias() = numerics::view(kept.propagators[0]) * ConstVector(w.data(), numerics::index(w.size()));
  for (std::size_t p = 0; p * w.size() < rates.size(); ++p) {
    sum.noalias() += numerics::view(kept.propagators[p + 1]) * rate(rates, p, w.size());
  }
  std::copy(next_.begin(), next_.end(), w.begin());
}

/// By Taylor terms of w itself, in parts of a moderate norm.
void LinearFlow::advance_by_series(Duration size, std::span<const double> rates, std::span<double> w) {
  const std::size_t n = w.size();
  const std::size_t count = rates.size() / n;
  const double parts = std::max(1.0, std::ceil(norm_ * size / kLargestPart));
  const Duration h = size / parts;
  std::copy(rates.begin(), rates.end(), part_.begin());
  for (std::size_t p = 1; p < count; ++p) {  // by the share of a part
    Vector(part_.data() + p * n, numerics::index(n)) *= std::pow(parts, -static_cast<double>(p));
  }
  Vector sum(w.data(), numerics::index(n));
  Vector term(term_.data(), numerics::index(n));
  Vector next(next_.data(), numerics::index(n));
  for (double part = 0.0; part < parts; part += 1.0) {
    term = sum;
    for (int j = 1; j <= kTerms; ++j) {  // term: the j-th derivative times h^j / j!
      for (std::size_t i = 0; i < n; ++i) next_[i] = a_.times(i, term_);
      term = next * (h / j);
      const auto p = static_cast<std::size_t>(j - 1);
      if (p < count) term += rate(part_, p, n) * (h / j);
      sum += term;
      if (p >= count && term.cwiseAbs().maxCoeff() <= kNegligible * sum.cwiseAbs().maxCoeff()) break;
    }
    for (std::size_t low = 0; low + 1 < count; ++low) {  // the rate seen from the end of the part
      for (std::size_t p = count - 1; p-- > low;) {
        Vector(part_.data() + p * n, numerics::index(n)) += rate(part_, p + 1, n);
      }
    }
  }
}

}  // namespace entrain::estimate
