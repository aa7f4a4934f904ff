#include "verify/run_witness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "report/verdict.hpp"

namespace entrain {
namespace {

/// The number that a warning begins with: "2001 jumps of the signals ..."; 0 when it counts nothing.
double count_in(const std::string& warning) {
  double count = 0.0;
  std::from_chars(warning.data(), warning.data() + warning.size(), count);
  return count;
}

std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == 's'; });  // nor plurals
  return text;
}

/// What belongs to the system happens as often in every run. What happens the more often the finer the steps are, and
/// at every few of them, the coupling does: there is nothing that the runs converge to, but what it makes of itself.
void doubt_counts(const RunSummary& first, const RunSummary& finest, Verification& result) {
  constexpr double kMore = 1.5;
  constexpr double kOften = 0.1;  // of the macro steps
  for (const auto& warning : finest.warnings) {
    const double count = count_in(warning);
    if (!(count >= kOften * static_cast<double>(finest.macro_steps))) continue;
    const auto same = std::find_if(first.warnings.begin(), first.warnings.end(), [&](const std::string& of) {
      return without_numbers(of) == without_numbers(warning);
    });
    if (same != first.warnings.end() && count < kMore * count_in(*same)) continue;
    result.doubts.push_back(fmt::format(
        "the finer the steps, the more there is to warn of: {}. So it is the coupling that makes it, and the runs can "
        "agree on a motion that the system does not make; take another method",
        warning));
  }
}

/// A quarter of the step leaves a quarter of the residual, or less.
void doubt_residual(const RunWitness& first, const RunWitness& finest, Verification& result) {
  constexpr double kStays = 0.5;
  if (!(finest.residual.size > kLargeResidual && finest.residual.size > kStays * first.residual.size)) return;
  result.doubts.push_back(fmt::format(
      "inputs differ from the outputs they stand for by {:.2g} of the range at {}, and with a quarter of the step by "
      "{:.2g}: the coupling does not become consistent",
      first.residual.size, finest.residual.connection, finest.residual.size));
}

}  // namespace

void RunWitness::end(const RunSummary& of) {
  summary = of;
  residual = usual_residual(*this, of);
}

void note_warnings(std::span<const RunWitness> runs, Verification& result) {
  const auto& first = runs.front();
  const auto& finest = runs.back();
  const bool stay = !finest.summary.warnings.empty();
  doubt_counts(first.summary, finest.summary, result);
  doubt_residual(first, finest, result);
  for (const auto& warning : (stay ? finest : first).summary.warnings) {
    const bool told = std::any_of(result.doubts.begin(), result.doubts.end(),
                                  [&](const std::string& doubt) { return doubt.find(warning) != std::string::npos; });
    if (told) continue;
    result.remarks.push_back(fmt::format("the run with {} s warns{}: {}", (stay ? finest : first).summary.step,
                                         stay ? "" : ", the finest does not", warning));
  }
}

}  // namespace entrain
