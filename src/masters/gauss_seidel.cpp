#include "masters/gauss_seidel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.hpp"

namespace entrain {
namespace {

std::vector<std::string> subsystem_names(const Graph& graph) {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < graph.subsystems(); ++s) names.push_back(graph.name(SubsystemId{s}));
  return names;
}

}  // namespace

void GaussSeidel::bind(OptionBinder& binder) {
  ExplicitMethod::bind(binder);
  binder.names("sequence", written_sequence_, "subsystems in the order of the calls; empty = found from the graph");
}

void GaussSeidel::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  ExplicitMethod::check(graph, written, problems);
  if (written_sequence_.empty()) return;
  const auto known = subsystem_names(graph);
  const auto problem = [&](std::string message, std::string remedy) {
    problems.push_back({std::move(message), std::move(remedy), position_of(written, "sequence")});
  };
  for (const auto& name : written_sequence_) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      problem(fmt::format("sequence: unknown subsystem '{}'", name), suggestion(name, known));
    }
  }
  for (const auto& name : known) {
    const auto times = std::count(written_sequence_.begin(), written_sequence_.end(), name);
    if (times == 0) problem(fmt::format("sequence: '{}' is missing", name), "every subsystem is called once");
    if (times > 1)
      problem(fmt::format("sequence: '{}' is called {} times", name, times), "every subsystem is called once");
  }
}

void GaussSeidel::start(CoupledSystem& system, const RunSettings& settings) {
  ExplicitMethod::start(system, settings);
  if (written_sequence_.empty()) {
    sequence_ = system.graph().calling_sequence();
    return;
  }
  const auto known = subsystem_names(system.graph());
  sequence_.clear();
  for (const auto& name : written_sequence_) {
    sequence_.emplace_back(static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin()));
  }
}

void GaussSeidel::advance_subsystems(CoupledSystem& system) {
  for (const SubsystemId& s : sequence_) {
    prepare(system, s);
    commit(system, {&s, 1});
  }
}

std::vector<std::string> GaussSeidel::notes(const CoupledSystem& system) const {
  auto notes = ExplicitMethod::notes(system);
  constexpr std::size_t kShown = 12;
  std::vector<std::string> names;
  for (const SubsystemId s : sequence_) {
    if (names.size() < kShown) names.push_back(system.graph().name(s));
  }
  notes.push_back(fmt::format("calling sequence ({}): {}{}", written_sequence_.empty() ? "found" : "given",
                              fmt::join(names, ", "), sequence_.size() > kShown ? ", ..." : ""));
  return notes;
}

}  // namespace entrain
