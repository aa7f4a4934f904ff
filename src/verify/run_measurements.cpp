#include "verify/run_measurements.hpp"

#include <algorithm>

#include "entrain/fact_codes.hpp"
#include "report/verdict.hpp"

namespace entrain::verifying {
namespace {

/// How often it happened; 0 where nothing is counted.
double count_in(const Fact& warning) {
  return warning.number("count").value_or(0.0);
}

/// What belongs to the system happens as often in every run. What happens the more often the finer the steps are, and
/// at every few of them, the coupling does: there is nothing that the runs converge to, but what it makes of itself.
void doubt_counts(const RunSummary& first, const RunSummary& finest, Verification& result) {
  constexpr double kMore = 1.5;
  constexpr double kOften = 0.1;  // of the macro steps
  for (const auto& warning : finest.warnings) {
    const double count = count_in(warning);
    if (!(count >= kOften * static_cast<double>(finest.macro_steps))) continue;
    const auto same = std::find_if(first.warnings.begin(), first.warnings.end(), [&](const Fact& of) {
      return of.code == warning.code && of.subjects == warning.subjects;
    });
    if (same != first.warnings.end() && count < kMore * count_in(*same)) continue;
    result.doubts.push_back(
        {FactCode::WarningsGrow, {}, {{"of", name_of(warning.code)}, {"warning", render(warning)}}});
  }
}

/// A quarter of the step leaves a quarter of the residual, or less.
void doubt_residual(const RunMeasurements& first, const RunMeasurements& finest, Verification& result) {
  constexpr double kStays = 0.5;
  if (!(finest.residual.size > reporting::kLargeResidual && finest.residual.size > kStays * first.residual.size))
    return;
  result.doubts.push_back({FactCode::ResidualStays,
                           {finest.residual.connection},
                           {{"first", first.residual.size}, {"finest", finest.residual.size}}});
}

}  // namespace

void RunMeasurements::end(const RunSummary& of) {
  summary = of;
  residual = reporting::usual_residual(*this, of);
}

void note_warnings(std::span<const RunMeasurements> runs, Verification& result) {
  const auto& first = runs.front();
  const auto& finest = runs.back();
  const bool stay = !finest.summary.warnings.empty();
  doubt_counts(first.summary, finest.summary, result);
  doubt_residual(first, finest, result);
  for (const auto& warning : (stay ? finest : first).summary.warnings) {
    const bool doubted = std::any_of(result.doubts.begin(), result.doubts.end(), [&](const Fact& doubt) {
      return doubt.code == FactCode::WarningsGrow && doubt.text("of") == name_of(warning.code);
    });
    if (doubted) continue;
    Fact remark{FactCode::RunWarns,
                warning.subjects,
                {{"of", name_of(warning.code)},
                 {"step", (stay ? finest : first).summary.step, "s"},
                 {"warning", render(warning)}}};
    if (!stay) remark.values.emplace_back("only_first", 1);
    result.remarks.push_back(std::move(remark));
  }
}

}  // namespace entrain::verifying
