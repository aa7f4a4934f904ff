#include "report/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "entrain/fact_codes.hpp"
#include "entrain/method_traits.hpp"
#include "entrain/text.hpp"
#include "report/json_parts.hpp"
#include "report/steps_json.hpp"

namespace entrain::reporting {
namespace {

using Json = nlohmann::ordered_json;
using Level = Verdict::Level;

constexpr double kSmallLoopResidual = 1e-6;  // initialisation solves loops far better, unless it fails to

/// null in JSON is a number that was not finite.
double number_or_nan(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// How far inputs were from their outputs, as part of the output's range.
struct Residuals {
  double worst = 0.0;
  std::string worst_connection = {};
  double worst_time = std::numeric_limits<double>::quiet_NaN();
  double usual = 0.0;  ///< not exceeded by any connection on `kUsualPart` of its steps
  std::string usual_connection = {};
};

Residuals judged_residuals(const Json& run, const Json& steps) {
  Residuals result;
  result.worst = result.usual = number_or_nan(run, "max_coupling_residual");
  result.worst_connection = result.usual_connection = text_at(run, "worst_connection");
  if (!steps.is_object()) return result;
  for (const auto& channel : steps.at("channels")) {
    if (channel.at("name") != "residual") continue;
    const auto& list = channel.contains("high") ? channel.at("high") : channel.at("low");
    std::vector<double> values;
    for (const auto& value : list) {
      values.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity());
    }
    if (values.empty()) return result;
    const auto highest = std::max_element(values.begin(), values.end()) - values.begin();
    result.worst_time = channel.at("time").at(static_cast<std::size_t>(highest)).get<double>();
    if (channel.contains("usual")) result.usual = number_or_nan(channel, "usual");
    if (channel.contains("usual_connection")) result.usual_connection = text_at(channel, "usual_connection");
  }
  return result;
}

/// The residual that is exceeded on 5 % of the steps, and where; of a run that left no steps: the worst.
Fact usual_residual_fact(FactCode code, const Residuals& residuals) {
  const bool has_steps = std::isfinite(residuals.worst_time);
  Fact fact{code, {}, {{"residual", has_steps ? residuals.usual : residuals.worst}}};
  const auto& connection = has_steps ? residuals.usual_connection : residuals.worst_connection;
  if (!connection.empty()) fact.values.emplace_back("at", connection);
  if (has_steps) fact.values.emplace_back("share", 100.0 * (1.0 - kUsualPart));
  return fact;
}

/// The largest residual of one step, and where.
Fact largest_residual_fact(FactCode code, const Residuals& residuals) {
  Fact fact{code, {}, {{"residual", residuals.worst}, {"time", short_number(residuals.worst_time) + " s"}}};
  if (!residuals.worst_connection.empty()) fact.values.emplace_back("at", residuals.worst_connection);
  return fact;
}

struct Remedy {
  std::string cure, experiment;
};

Remedy remedy_of(const Json& run) {
  const auto tolerances = run.value("step_tolerances", std::vector<std::string>());
  if (tolerances.empty()) return {"take a smaller step", "repeat with half the step"};
  return {fmt::format("take a smaller {}", fmt::join(tolerances, " and ")),
          fmt::format("repeat with a tenth of {}", fmt::join(tolerances, " and "))};
}

class Judge {
 public:
  Verdict judge(const Json& run, const Json& steps, const Evidence& evidence) {
    judge_end(run);
    judge_numbers(evidence);
    judge_correction(run);
    judge_residual(run, judged_residuals(run, steps));
    judge_resolution(run, steps);
    judge_loops(run);
    for (const auto& warning : run.value("warnings", Json::array())) add(Level::Caution, fact_from(warning));
    if (evidence.results_cut) add(Level::Caution, {FactCode::LastRowIncomplete});
    if (!evidence.taken_away.empty()) {
      add(Level::Good,
          {FactCode::CapabilitiesTakenAway, {}, {{"what", fmt::format("{}", fmt::join(evidence.taken_away, "; "))}}});
    }
    return verdict();
  }

 private:
  struct Reason {
    Level level;
    Fact fact;
  };

  void add(Level level, Fact fact) { reasons_.push_back({level, std::move(fact)}); }

  void judge_end(const Json& run) {
    const auto termination = text_at(run, "termination");
    if (termination == "completed") return;
    const auto message = text_at(run, "message");
    if (termination == "running") {
      add(Level::Bad, {FactCode::RunKilled});
    } else {
      Fact ended{termination == "failed" ? FactCode::RunFailed : FactCode::RunInterrupted};
      if (!message.empty()) ended.values.emplace_back("why", message);
      add(Level::Bad, std::move(ended));
    }
  }

  void judge_numbers(const Evidence& evidence) {
    if (evidence.not_finite > 0) {
      add(Level::Bad, {FactCode::NumbersNotFinite, {}, {{"count", evidence.not_finite}}});
    }
    if (evidence.samples == 0) add(Level::Caution, {FactCode::NothingRecorded});
  }

  /// A learned run is judged by what learning left, in the inputs that it corrects.
  void judge_correction(const Json& run) {
    const auto correction = run.find("learned_correction");
    if (correction == run.end() || !correction->is_object()) return;
    for (const auto& input : correction->value("inputs", Json::array())) corrected_.push_back(input.get<std::string>());
    const double error = number_or_nan(*correction, "error");
    add(error <= kSmallResidual   ? Level::Good
        : error <= kLargeResidual ? Level::Caution
                                  : Level::Bad,
        {FactCode::CorrectedInputs, corrected_, {{"error", error}}});
  }

  /// Of a learned run: an input that is not corrected is exact where it is taken, and held from there on.
  bool is_held_in_learned_run(const std::string& connection) const {
    return !corrected_.empty() && std::none_of(corrected_.begin(), corrected_.end(), [&](const std::string& input) {
      return connection.ends_with(" -> " + input);
    });
  }

  void judge_residual(const Json& run, const Residuals& residuals) {
    if (text_at(run, "termination") == "running") return;  // the process ended before it wrote what was measured
    const auto connections = run.value("connections", Json::array());
    if (connections.empty()) return add(Level::Good, {FactCode::NothingConnected});
    const auto unmeasured = std::count_if(connections.begin(), connections.end(), [](const Json& connection) {
      return std::isnan(number_or_nan(connection, "max_residual"));
    });
    if (!std::isfinite(residuals.worst)) {
      return add(Level::Caution, {FactCode::ResidualNotMeasured});
    }
    if (unmeasured > 0) {
      add(Level::Good,
          {FactCode::ConnectionsNotMeasured, {}, {{"unmeasured", unmeasured}, {"of", connections.size()}}});
    }
    if (residuals.worst <= kSmallResidual) {
      return add(Level::Good, {FactCode::ResidualSmall, {}, {{"residual", residuals.worst}}});
    }
    const bool has_time = std::isfinite(residuals.worst_time);
    if (residuals.usual <= kSmallResidual && has_time) {
      const auto level = residuals.worst > kLargeResidual ? Level::Caution : Level::Good;
      Fact fact = largest_residual_fact(FactCode::ResidualUsuallySmall, residuals);
      fact.values.emplace_back("usual", residuals.usual);
      fact.values.emplace_back("share", 100.0 * kUsualPart);
      return add(level, std::move(fact));
    }
    judge_usual_residual(residuals, remedy_of(run));
    if (has_time && residuals.worst > residuals.usual) {
      add(Level::Caution, largest_residual_fact(FactCode::ResidualLargestStep, residuals));
    }
  }

  void judge_usual_residual(const Residuals& residuals, const Remedy& remedy) {
    if (is_held_in_learned_run(residuals.usual_connection)) {
      return add(Level::Caution, usual_residual_fact(FactCode::HeldInputsChange, residuals));
    }
    const bool wrong = !(residuals.usual <= kLargeResidual);
    Fact fact = usual_residual_fact(FactCode::ResidualLarge, residuals);
    fact.values.emplace_back(
        "todo", wrong ? remedy.cure + " or a better method" : remedy.experiment + " to see what that does");
    add(wrong ? Level::Bad : Level::Caution, std::move(fact));
  }

  /// Inputs and outputs that agree at the ends of the steps prove nothing about the time in between.
  void judge_resolution(const Json& run, const Json& steps) {
    const bool is_coupled = text_at(run, "method_family") !=
                            to_string(MethodFamily::Reference);  // which records at steps, but does not compute by them
    const bool is_judged = steps.is_object() && steps.contains("unresolved");
    if (!is_coupled || !is_judged || run.value("connections", Json::array()).empty()) return;
    const double missed = number_or_nan(steps.at("unresolved"), "usual");
    const auto connection = text_at(steps.at("unresolved"), "connection");
    if (missed <= kSmallResidual) return;
    const Remedy remedy = remedy_of(run);
    if (std::isnan(missed)) {
      add(Level::Caution, {FactCode::StepsNotJudged, {}, {{"todo", remedy.experiment}}});
      return;
    }
    const bool wrong = missed > kLargeResidual;
    Fact fact{FactCode::StepsTooLong,
              {connection},
              {{"missed", missed}, {"todo", wrong ? remedy.cure : remedy.experiment + " to see what that does"}}};
    if (wrong) fact.values.emplace_back("wrong", 1);
    add(wrong ? Level::Bad : Level::Caution, std::move(fact));
  }

  void judge_loops(const Json& run) {
    for (const auto& loop : run.value("loops", Json::array())) {
      const double residual = number_or_nan(loop, "initial_residual");
      if (residual <= kSmallLoopResidual) continue;
      add(Level::Caution, {FactCode::LoopStartResidual, {}, {{"residual", residual}}});
    }
  }

  Verdict verdict() {
    std::stable_sort(reasons_.begin(), reasons_.end(),
                     [](const Reason& a, const Reason& b) { return a.level > b.level; });
    Verdict result;
    for (const auto& reason : reasons_) result.reasons.push_back(reason.fact);
    result.level = reasons_.empty() ? Level::Good : reasons_.front().level;
    constexpr const char* kHeadlines[] = {"This result can be trusted", "Look closer before you trust this result",
                                          "Do not trust this result"};
    result.headline = kHeadlines[static_cast<std::size_t>(result.level)];
    return result;
  }

  std::vector<Reason> reasons_;
  std::vector<std::string> corrected_;  // inputs of a learned run
};

}  // namespace

Verdict verdict_of(const Json& run, const Json& steps, const Evidence& evidence) {
  return Judge().judge(run, steps, evidence);
}

}  // namespace entrain::reporting
