#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "masters/calendar.hpp"
#include "masters/method.hpp"

namespace entrain {
namespace {

void problem(std::vector<Problem>& problems, std::string message, std::string remedy) {
  problems.push_back({std::move(message), std::move(remedy), {}, Problem::Severity::Error});
}

void check_steps(const std::string& name, const Capabilities& can, const RunSettings& settings,
                 std::vector<Problem>& problems) {
  const Duration h = settings.step;
  if (can.imposed_step) {
    const Duration imposed = *can.imposed_step;
    if (!whole_ratio(h, imposed) && !whole_ratio(imposed, h)) {
      problem(problems,
              fmt::format("'{}' imposes a step of {} s, which neither divides the macro step of {} s nor is "
                          "a multiple of it",
                          name, imposed, h),
              fmt::format("choose a macro step such as {} s", imposed));
    } else if (!whole_ratio(settings.stop - settings.start, imposed)) {
      problem(problems,
              fmt::format("the run from {} s to {} s is no multiple of the step of {} s that '{}' imposes",
                          settings.start, settings.stop, imposed, name),
              "choose another stop time");
    }
  } else if (can.min_step && h < *can.min_step) {
    problem(problems,
            fmt::format("the macro step of {} s is below the minimal step of '{}', {} s", h, name, *can.min_step),
            "choose a larger step");
  }
}

}  // namespace

std::vector<Problem> unmet_requirements(const Method& method, const Graph& graph,
                                        const std::vector<const Capabilities*>& capabilities,
                                        const RunSettings& settings) {
  std::vector<Problem> problems;
  const Requirements needs = method.requirements();
  for (std::size_t s = 0; s < capabilities.size(); ++s) {
    const auto& name = graph.name(SubsystemId{s});
    if (needs.equations && !capabilities[s]->equations) {
      problem(problems,
              fmt::format("{} needs the equations of every subsystem; '{}' keeps them to itself", method.name(), name),
              "use a coupling method such as jacobi");
    }
    if (needs.common_grid) check_steps(name, *capabilities[s], settings, problems);
  }
  if (needs.refresh_in_loops) {
    for (const auto& loop : graph.loops()) {
      for (const SubsystemId s : loop.subsystems) {
        if (capabilities[s]->output_refresh) continue;
        problem(problems,
                fmt::format("loops = \"solve\" needs outputs without a step; '{}' is in an algebraic loop "
                            "and cannot tell them",
                            graph.name(s)),
                "use loops = \"delay\"");
      }
    }
  }
  return problems;
}

}  // namespace entrain
