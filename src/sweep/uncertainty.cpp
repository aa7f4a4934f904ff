#include "sweep/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "base/csv.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/text.hpp"

namespace entrain::sweeping {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// ASME V&V 20: U95 = k u, k about 1.15 for an error that is not centred on the solution and a factor of safety of
/// 1.25. That the bounds hold in 95 % of all cases is not shown: how often they do is what bench_truth counts.
constexpr double kCoverage = 1.15;

double squared(double value) {
  return value * value;
}

QuantityUncertainty uncertainty_of(const std::vector<const SweepCase*>& cases, std::size_t quantity) {
  QuantityUncertainty of;
  double sum = 0.0;
  double bounds = 0.0;
  std::size_t estimated = 0;
  std::vector<double> values;
  for (const auto* row : cases) {
    if (!std::isfinite(row->quantities[quantity])) continue;
    values.push_back(row->quantities[quantity]);
    sum += values.back();
    if (std::isnan(row->errors[quantity])) continue;
    bounds += squared(row->errors[quantity] / kCoverage);
    ++estimated;
  }
  of.cases = values.size();
  of.unchecked = of.cases - estimated;
  of.value = of.cases > 0 ? sum / static_cast<double>(of.cases) : kNone;
  double deviation = 0.0;
  for (const double value : values) deviation += squared(value - of.value);
  of.input = of.cases > 1 ? std::sqrt(deviation / static_cast<double>(of.cases - 1)) : kNone;
  of.numerical = estimated > 0 ? std::sqrt(bounds / static_cast<double>(estimated)) : kNone;
  return of;
}

}  // namespace

MeasuredValues read_reference(const std::filesystem::path& file, const std::vector<std::string>& quantities) {
  const std::string text = base::read_csv_text(file) + "\n";
  std::string_view rest = text;
  const char separator = base::csv_separator(text);
  base::take_csv_record(rest, separator);  // names of the columns
  MeasuredValues measured;
  std::vector<Problem> problems;
  std::size_t row = 1;
  while (const auto cells = base::take_csv_record(rest, separator)) {
    ++row;
    if (cells->size() == 1 && cells->front().empty()) continue;
    const SourcePosition where{file.string(), static_cast<int>(row), 0};
    const auto value = cells->size() == 3 ? base::csv_number((*cells)[1]) : std::nullopt;
    const auto deviation = cells->size() == 3 ? base::csv_number((*cells)[2]) : std::nullopt;
    if (!value || !deviation || !(*deviation >= 0.0)) {
      problems.push_back(problem_of(
          Fact{FactCode::SweepWrong, {cells->front()}, {{"why", "a row is: quantity, value, standard uncertainty"}}},
          "", where));
    } else if (std::find(quantities.begin(), quantities.end(), cells->front()) == quantities.end()) {
      problems.push_back(problem_of(Fact{FactCode::SweepReferenceUnknown, {cells->front()}},
                                    suggestion(cells->front(), quantities), where));
    } else {
      measured[cells->front()] = {*value, *deviation};
    }
  }
  if (!problems.empty()) throw Error(std::move(problems));
  return measured;
}

std::vector<QuantityUncertainty> uncertainties(const SweepResult& result, std::size_t base_cases,
                                               const MeasuredValues& reference) {
  if (result.sampling == SweepSampling::Grid || result.sampling == SweepSampling::List) return {};
  std::vector<const SweepCase*> cases;
  for (const auto& row : result.cases) {
    if (result.sampling != SweepSampling::Sobol || row.number < 2 * base_cases) cases.push_back(&row);
  }
  std::vector<QuantityUncertainty> all;
  for (std::size_t q = 0; q < result.quantities.size(); ++q) {
    QuantityUncertainty of = uncertainty_of(cases, q);
    const auto known = reference.find(result.quantities[q]);
    of.measured = known == reference.end() ? kNone : known->second.first;
    of.data = known == reference.end() ? kNone : known->second.second;
    of.together = std::sqrt(squared(of.numerical) + squared(of.input) + (std::isnan(of.data) ? 0.0 : squared(of.data)));
    all.push_back(of);
  }
  return all;
}

}  // namespace entrain::sweeping
