#include "methods/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coupling/trial_kind.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/calendar.hpp"
#include "methods/registry.hpp"

namespace entrain::method {
namespace {

// Beyond, a macro step takes so long that a run cannot be interrupted, and the numbers are a mistake.
constexpr double kMostParts = 1e6;

/// The method that takes subsystems with any steps.
const std::string& any_step() {
  return built_in_methods().undemanding().name;
}

class Matching {
 public:
  Matching(const Method& method, const Graph& graph, const RunSettings& settings)
      : method_(method), graph_(graph), settings_(settings) {}

  void check(SubsystemId s, const Capabilities& can) {
    const Requirements needs = method_.requirements();
    if (needs.equations && !can.equations) {
      add(s, Fact{FactCode::NeedsEquations, {graph_.name(s)}, {{"method", method_.name()}}},
          fmt::format("use a coupling method such as {}", any_step()));
    }
    if (needs.trials && coupling::natural_trial_kind(can) == coupling::TrialKind::None) check_bare(s, needs);
    if (needs.free_step && can.imposed_step) {
      add(s,
          Fact{FactCode::NeedsFreeStep,
               {graph_.name(s)},
               {{"method", method_.name()}, {"imposed", *can.imposed_step, "s"}}},
          fmt::format("keep the macro step fixed: {}", needs.fixed_step));
    }
    if (needs.steps_together && can.imposed_step && !whole_ratio(settings_.step, *can.imposed_step)) {
      add(s,
          Fact{FactCode::NeedsCommonStep,
               {graph_.name(s)},
               {{"method", method_.name()}, {"imposed", *can.imposed_step, "s"}, {"step", settings_.step, "s"}}},
          fmt::format("choose a macro step that is a multiple of {} s, or use {}", *can.imposed_step, any_step()));
      return;
    }
    if (needs.refresh_all && !can.output_refresh) {
      add(s, Fact{FactCode::NeedsRefresh, {graph_.name(s)}},
          "use feedthrough = \"hold\", or \"delay\" with a learned correction");
    }
    if (needs.common_grid && can.imposed_step) check_imposed_step(s, can);
    if (needs.common_grid && can.step_offset > 0.0) {
      add(s,
          Fact{FactCode::OffsetNotSupported,
               {graph_.name(s)},
               {{"offset", can.step_offset, "s"}, {"method", method_.name()}}},
          fmt::format("use {}", any_step()));
    }
    if (needs.common_grid && !can.imposed_step) check_step_limits(s, can);
  }

  void check_loop_members(const std::vector<const Capabilities*>& capabilities) {
    if (!method_.requirements().refresh_in_loops) return;
    for (const auto& loop : graph_.loops()) {
      for (const SubsystemId s : loop.subsystems) {
        if (capabilities[s]->output_refresh) continue;
        add(s, Fact{FactCode::LoopNeedsRefresh, {graph_.name(s)}}, "use loops = \"delay\"");
      }
    }
  }

  std::vector<UnmetRequirement> take() { return std::move(unmet_); }

 private:
  void add(SubsystemId s, Fact fact, std::string remedy) { unmet_.push_back({s, std::move(fact), std::move(remedy)}); }

  /// Of a subsystem that can neither go back nor be estimated from a linearization. Methods that look at start gains
  /// identify its steps.
  void check_bare(SubsystemId s, const Requirements& needs) {
    const std::size_t inputs = graph_.inputs_of(s).count;
    if (needs.start_gains && coupling::is_identifiable(graph_.outputs_of(s).count, inputs)) return;
    Fact fact{FactCode::NeedsTrials, {graph_.name(s)}, {{"method", method_.name()}}};
    if (needs.start_gains) fact.values.emplace_back("inputs", inputs);
    add(s, std::move(fact), fmt::format("use a method without iterations, such as {}", any_step()));
  }

  void check_imposed_step(SubsystemId s, const Capabilities& can) {
    const Duration imposed = *can.imposed_step;
    const Duration h = settings_.step;
    const auto& name = graph_.name(s);
    if (std::max(h / imposed, imposed / h) > kMostParts) {
      add(s, Fact{FactCode::ImposedStepFarOff, {name}, {{"imposed", imposed, "s"}, {"step", h, "s"}}},
          "choose a macro step nearer to it");
    } else if (!whole_ratio(h, imposed) && !whole_ratio(imposed, h)) {
      add(s, Fact{FactCode::ImposedStepDoesNotFit, {name}, {{"imposed", imposed, "s"}, {"step", h, "s"}}},
          fmt::format("choose a macro step such as {} s, or use {}", imposed, any_step()));
    } else if (can.substeps > 1 && !whole_ratio(h / can.substeps, imposed)) {
      add(s,
          Fact{FactCode::ImposedStepAndSubsteps,
               {name},
               {{"imposed", imposed, "s"}, {"substep", h / can.substeps, "s"}, {"substeps", can.substeps}}},
          "remove substeps, or choose a macro step that fits");
    } else if (!whole_ratio(settings_.stop - settings_.start, imposed)) {
      add(s,
          Fact{FactCode::RunNoMultiple,
               {name},
               {{"start", settings_.start, "s"}, {"stop", settings_.stop, "s"}, {"imposed", imposed, "s"}}},
          "choose another stop time");
    }
  }

  /// The macro step is cut for a maximal step; the parts, and those of a shorter last step, must not fall below the
  /// minimal one. A method that adapts the step leaves no shorter last one.
  void check_step_limits(SubsystemId s, const Capabilities& can) {
    const Duration h = settings_.step;
    const auto& name = graph_.name(s);
    const double parts = std::max<double>(can.substeps, can.max_step ? std::ceil(h / *can.max_step - 1e-9) : 1.0);
    if (can.max_step && parts > kMostParts) {
      add(s,
          Fact{FactCode::TooManyParts, {name}, {{"max_step", *can.max_step, "s"}, {"step", h, "s"}, {"parts", parts}}},
          "choose a smaller macro step");
      return;
    }
    if (!can.min_step) return;
    const base::Grid grid(settings_.start, settings_.stop, h);
    const bool one_step = grid.steps() == 1;
    const Duration last = method_.requirements().free_step && !one_step ? h : grid.size(grid.steps() - 1);
    const double last_parts = std::max<double>(can.substeps, std::ceil(parts * last / h - 1e-9));
    const Duration part = h / parts;
    const Duration last_part = last / last_parts;
    if (part < *can.min_step * (1 - 1e-9)) {
      add(s, Fact{FactCode::BelowMinStep, {name}, {{"step", part, "s"}, {"min_step", *can.min_step, "s"}}},
          "choose a larger macro step");
    } else if (last_part < *can.min_step * (1 - 1e-9)) {
      add(s, Fact{FactCode::LastBelowMinStep, {name}, {{"step", last_part, "s"}, {"min_step", *can.min_step, "s"}}},
          "choose a stop time that is a multiple of the step");
    }
  }

  const Method& method_;
  const Graph& graph_;
  const RunSettings& settings_;
  std::vector<UnmetRequirement> unmet_;
};

}  // namespace

std::vector<UnmetRequirement> unmet_requirements(const Method& method, const Graph& graph,
                                                 const std::vector<const Capabilities*>& capabilities,
                                                 const RunSettings& settings) {
  Matching matching(method, graph, settings);
  for (std::size_t s = 0; s < capabilities.size(); ++s) matching.check(SubsystemId{s}, *capabilities[s]);
  matching.check_loop_members(capabilities);
  return matching.take();
}

bool chooses_steps(const Method& method) {
  const auto needs = method.requirements();
  return needs.free_step || !needs.common_grid || !method.step_tolerances().empty();
}

}  // namespace entrain::method
