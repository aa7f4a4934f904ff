#include "sweep/sobol.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sweep/sampling.hpp"

namespace entrain::sweeping {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastVariance = 1e-24;  // of the mean square
constexpr std::size_t kResamples = 1000;
constexpr std::uint64_t kSeed = 20240;

struct Estimate {
  double first, total;
};

/// Of the rows `chosen` of A, B and A with the column of B.
Estimate estimate(const double* a, const double* b, const double* mixed, const std::vector<std::size_t>& chosen) {
  const auto count = static_cast<double>(chosen.size());
  double mean = 0.0;
  for (const auto i : chosen) mean += (a[i] + b[i]) / (2.0 * count);
  double variance = 0.0;
  double first = 0.0;
  double total = 0.0;
  for (const auto i : chosen) {
    variance += ((a[i] - mean) * (a[i] - mean) + (b[i] - mean) * (b[i] - mean)) / (2.0 * count);
    first += (b[i] - mean) * (mixed[i] - a[i]) / count;
    total += (a[i] - mixed[i]) * (a[i] - mixed[i]) / (2.0 * count);
  }
  // Rounding alone is no variance.
  if (variance <= kLeastVariance * (mean * mean + variance)) return {kNone, kNone};
  return {first / variance, total / variance};
}

/// The middle 95 % of them.
std::pair<double, double> interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return {values[static_cast<std::size_t>(std::lround(0.025 * last))],
          values[static_cast<std::size_t>(std::lround(0.975 * last))]};
}

/// The indices of a quantity and an input, and those of the same rows drawn again and again.
struct Resampled {
  const double* a = nullptr;
  const double* b = nullptr;
  const double* mixed = nullptr;
  std::vector<std::size_t> rows;  ///< with all three values
  Estimate of_all{kNone, kNone};
  std::vector<std::size_t> chosen = {};
  std::vector<double> first = {}, total = {};

  void resample(const std::vector<double>& shares) {
    if (std::isnan(of_all.first)) return;
    chosen.resize(rows.size());
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i] = rows[static_cast<std::size_t>(shares[i] * static_cast<double>(rows.size()))];
    const Estimate of_some = estimate(a, b, mixed, chosen);
    if (!std::isfinite(of_some.first)) return;  // all of its rows are the same one
    first.push_back(of_some.first);
    total.push_back(of_some.total);
  }
  SobolIndex index() {
    if (first.empty()) return {kNone, kNone, kNone, kNone, kNone, kNone};
    const auto [first_low, first_high] = interval(std::move(first));
    const auto [total_low, total_high] = interval(std::move(total));
    return {of_all.first, first_low, first_high, of_all.total, total_low, total_high};
  }
};

Resampled of_all_rows(const double* values, std::size_t base_cases, std::size_t input) {
  Resampled of{values, values + base_cases, values + (input + 2) * base_cases, {}};
  for (std::size_t i = 0; i < base_cases; ++i) {
    if (std::isfinite(of.a[i]) && std::isfinite(of.b[i]) && std::isfinite(of.mixed[i])) of.rows.push_back(i);
  }
  if (of.rows.size() > 1) of.of_all = estimate(of.a, of.b, of.mixed, of.rows);
  return of;
}

}  // namespace

std::vector<std::vector<SobolIndex>> sobol_indices(const std::vector<std::vector<double>>& quantities,
                                                   std::size_t base_cases, std::size_t inputs,
                                                   const std::atomic<bool>* interrupt) {
  std::vector<Resampled> all;
  for (const auto& values : quantities) {
    for (std::size_t d = 0; d < inputs; ++d) all.push_back(of_all_rows(values.data(), base_cases, d));
  }
  std::vector<double> shares(base_cases);
  for (std::size_t r = 0; r < kResamples; ++r) {
    if (interrupt != nullptr && interrupt->load()) return {};
    for (std::size_t i = 0; i < base_cases; ++i) shares[i] = random_share(kSeed, r, i);
    for (auto& of : all) of.resample(shares);
  }
  std::vector<std::vector<SobolIndex>> indices(quantities.size());
  for (std::size_t k = 0; k < all.size(); ++k) indices[k / inputs].push_back(all[k].index());
  return indices;
}

}  // namespace entrain::sweeping
