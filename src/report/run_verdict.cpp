#include "report/run_verdict.hpp"

#include <nlohmann/json.hpp>

#include "entrain/report.hpp"
#include "report/steps_json.hpp"
#include "report/verdict.hpp"

namespace entrain::reporting {

Verdict run_verdict(const RunSummary& summary, const recording::StepHistory& history) {
  using Json = nlohmann::ordered_json;
  return verdict_of(Json::parse(summary_json(summary)), Json::parse(steps_json(history, summary)), {.samples = 1});
}

}  // namespace entrain::reporting
