#include "entrain/reproduce.hpp"

#include <algorithm>
#include <cmath>

#include "base/suggest.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/ode.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"

namespace entrain {
namespace {

const std::vector<reproducing::ReproduceEntry>& all_entries() {
  static const std::vector<reproducing::ReproduceEntry> kEntries = [] {
    std::vector<reproducing::ReproduceEntry> entries;
    for (auto* of_paper :
         {&reproducing::missiles_entries, &reproducing::costarica_entries, &reproducing::f3ornits_entries,
          &reproducing::quality_entries, &reproducing::quality_run_entries, &reproducing::learning_entries}) {
      for (auto& entry : of_paper()) entries.push_back(std::move(entry));
    }
    return entries;
  }();
  return kEntries;
}

/// What an FMU computes is exact to the tolerance of the solver inside it; a row that asks for more must allow for
/// that.
void allow_inner_tolerance(std::vector<ReproduceRow>& rows, double inner_tolerance) {
  const double allowed = 100 * inner_tolerance;
  for (auto& row : rows) {
    if (row.tolerance >= allowed) continue;
    row.tolerance = allowed;
    row.reason += "; with FMUs 100 times the tolerance of their solvers";
    row.ok = row.ok || std::abs(row.ours - row.reference) <= allowed * std::abs(row.reference);
  }
}

}  // namespace

bool ReproduceResult::ok() const {
  return std::all_of(rows.begin(), rows.end(), [](const ReproduceRow& row) { return row.ok; });
}

std::size_t ReproduceResult::count(PrintedNumber printed) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const ReproduceRow& row) { return row.printed == printed; }));
}

}  // namespace entrain

namespace entrain::reproducing {
namespace {

PrintedNumber printed_number(std::optional<double> paper, double ours, Better better) {
  constexpr double kMet = 0.05;  // papers print two or three digits, of integrations that are not exact
  if (!paper) return PrintedNumber::NotComparable;
  if (std::abs(ours - *paper) <= kMet * std::abs(*paper)) return PrintedNumber::Met;
  const bool beaten = (better == Better::Smaller && ours < *paper) || (better == Better::Larger && ours > *paper);
  return beaten ? PrintedNumber::Beaten : PrintedNumber::NotMet;
}

}  // namespace

ReproduceRow compared(std::string quantity, std::optional<double> paper, double reference, double ours,
                      const Tolerance& tolerance, Better better) {
  const bool near = std::abs(ours - reference) <= tolerance.relative * std::abs(reference);  // false for NaN
  const bool ok = near || (tolerance.smaller_is_better && ours < reference);
  return {std::move(quantity),
          paper,
          reference,
          ours,
          tolerance.relative,
          tolerance.reason,
          ok,
          printed_number(paper, ours, better)};
}

}  // namespace entrain::reproducing

namespace entrain {

std::vector<std::pair<std::string, std::string>> reproduce_entries() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& entry : all_entries()) list.emplace_back(entry.id, entry.title);
  return list;
}

ReproduceResult reproduce(std::string_view id, const Examples& examples) {
  std::vector<std::string> known;
  for (const auto& entry : all_entries()) {
    if (entry.id == id) {
      ReproduceResult result{entry.id, entry.title, entry.rows(examples)};
      const double inner = examples.fmus.model_exchange ? reproducing::kReproducedExchangeTolerance
                                                        : numerics::OdeOptions{}.relative_tolerance;
      if (examples.fmus.used()) allow_inner_tolerance(result.rows, inner);
      return result;
    }
    known.push_back(entry.id);
  }
  throw Error(ErrorCode::InvalidSystem, {FactCode::NothingToReproduce, {std::string(id)}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = suggestion(id, known)});
}

}  // namespace entrain
