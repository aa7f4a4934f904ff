#include <fmt/format.h>

#include <algorithm>

#include "entrain/fact_codes.hpp"
#include "methods/asynchronous/f3ornits.hpp"

namespace entrain {

void F3ornitsOptions::bind(OptionBinder& binder) {
  constexpr OptionBinder::Limits kNotNegative{0.0};
  binder.choice("calibration", calibration, "estimates pass through the latest samples, or fit one more of them (cls)");
  binder.boolean("smooth", smooth, "inputs without jumps of value or slope, where the subsystem takes cubics");
  binder.choice("normalisation", normalisation, "what errors are relative to");
  binder.number("damping", damping, "share of the amplitude forgotten per second", kNotNegative);
  binder.number("relative_tolerance", relative_tolerance, "relative tolerance of the foreseen outputs", kNotNegative);
  binder.number("absolute_tolerance", absolute_tolerance, "absolute tolerance, in the unit of each output",
                kNotNegative);
  binder.integer("max_order", max_order, "highest order of the estimates", {0, kMaxInputDegree});
  binder.number("initial_step", initial_step, "first step in s; 0: the step of the run", kNotNegative);
  binder.number("min_step", min_step, "smallest step in s; 0: a hundredth of initial_step", kNotNegative);
  binder.number("max_step", max_step, "largest step in s; 0: no limit", kNotNegative);
  binder.list("growth", growth, "least and most of a step against the one before", kNotNegative);
  binder.boolean("memory", memory, "a step cut for a rendezvous may be followed by one as long as it should have been");
  binder.boolean("detect_jumps", detect_jumps,
                 "jumps that nobody announced are noticed, and a past that one has made worthless is forgotten");
  binder.boolean(
      "locate_jumps", locate_jumps,
      "steps that end behind a detected jump are made again, shorter, where all that end with them can be rolled back");
  binder.integer("substeps", substeps, "parts of a step whose inputs exceed the degree the subsystem takes", {1, 1000});
}

StepControlSettings F3ornitsOptions::step_control() const {
  StepControlSettings settings;
  settings.normalisation = normalisation;
  settings.damping = damping;
  settings.relative_tolerance = relative_tolerance;
  settings.absolute_tolerance = absolute_tolerance;
  settings.least_dilatation = growth[0];
  settings.most_dilatation = growth[1];
  return settings;
}

void F3ornits::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  const auto add = [&](const std::string& option, Fact fact, std::string remedy = {}) {
    problems.push_back(problem_of(std::move(fact), std::move(remedy), position_of(written, option)));
  };
  const auto& growth = options_.growth;
  const bool pair = growth.size() == 2 && growth[0] > 0.0 && growth[0] <= 1.0 && growth[1] >= 1.0;
  if (!pair) add("growth", Fact{FactCode::GrowthNoPair, {"method.f3ornits.growth"}}, "choose for example [0.1, 1.05]");
  if (options_.relative_tolerance + options_.absolute_tolerance == 0.0) {
    add("relative_tolerance", Fact{FactCode::TolerancesZero, {"method.f3ornits.relative_tolerance"}},
        "nothing can be foreseen exactly");
  }
  if (options_.max_step > 0.0 && std::max(options_.min_step, options_.initial_step) > options_.max_step) {
    add("max_step",
        Fact{FactCode::StepsOutOfOrder, {"method.f3ornits.max_step"}, {{"bound", "min_step or initial_step"}}});
  } else if (options_.initial_step > 0.0 && options_.initial_step < options_.min_step) {
    add("initial_step", Fact{FactCode::StepsOutOfOrder, {"method.f3ornits.initial_step"}, {{"bound", "min_step"}}});
  }
}

void F3ornits::check_times(const RunSettings& settings, const WrittenOptions& written,
                           std::vector<Problem>& problems) const {
  if (options_.initial_step > 0.0 || options_.min_step <= settings.step) return;
  problems.push_back(problem_of(Fact{FactCode::MinStepAboveFirst,
                                     {"method.f3ornits.min_step"},
                                     {{"min_step", options_.min_step, "s"}, {"step", settings.step, "s"}}},
                                "choose a smaller min_step, or an initial_step of at least that",
                                position_of(written, "min_step")));
}

}  // namespace entrain
