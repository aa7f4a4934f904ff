#include "facade/learned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/grid.hpp"
#include "base/suggest.hpp"

namespace entrain {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::InvalidSystem, message,
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Learn again with 'entrain learn'"});
}

InputId connected_input(const Graph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& connection : graph.connections()) {
    known.push_back(graph.name(connection.input));
    if (known.back() == name) return connection.input;
  }
  refuse(fmt::format("the learned correction is for the input '{}', which no connection feeds; {}", name,
                     suggestion(name, known)));
}

}  // namespace

CorrectionSchedule scheduled(const Learned& learned, const Graph& graph, const RunSettings& settings) {
  if (!same_time(learned.step, settings.step) || !(learned.start == settings.start)) {
    refuse(
        fmt::format("the correction was learned from t = {} s in steps of {} s, but this run goes from {} s in steps "
                    "of {} s",
                    learned.start, learned.step, settings.start, settings.step));
  }
  if (learned.corrections.size() != learned.steps * learned.inputs.size()) {
    refuse(fmt::format("the learned correction has {} numbers instead of {} for each of its {} inputs",
                       learned.corrections.size(), learned.steps, learned.inputs.size()));
  }
  const auto steps = Grid(settings.start, settings.stop, settings.step).steps();
  if (steps > learned.steps) {
    refuse(fmt::format("the correction was learned for {} macro steps; this run has {}", learned.steps, steps));
  }
  std::vector<InputId> inputs;
  for (const auto& name : learned.inputs) inputs.push_back(connected_input(graph, name));
  return {graph, std::move(inputs), learned.corrections};
}

SystemDescription with_learned(SystemDescription description, const Learned& learned) {
  description.method.value = "jacobi";
  auto& options = description.method_options["jacobi"];
  for (const auto& [name, value] : learned.options) options[name] = {value, {}};
  description.step = {learned.step, {}};
  return description;
}

}  // namespace entrain
