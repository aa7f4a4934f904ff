#include "methods/explicit/gauss_seidel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/linear_stages.hpp"

namespace entrain {
namespace {

std::vector<std::string> subsystem_names(const Graph& graph) {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < graph.subsystems(); ++s) names.push_back(graph.name(SubsystemId{s}));
  return names;
}

/// Every name that is written, stage after stage.
std::vector<std::string> names_in(const std::vector<std::string>& sequence) {
  std::vector<std::string> names;
  for (const auto& stage : stages_of(sequence)) names.insert(names.end(), stage.begin(), stage.end());
  return names;
}

}  // namespace

std::vector<std::vector<std::string>> stages_of(const std::vector<std::string>& sequence) {
  constexpr std::string_view kTogether = " + ";
  std::vector<std::vector<std::string>> stages;
  for (const std::string_view entry : sequence) {
    auto& stage = stages.emplace_back();
    for (std::size_t begin = 0; begin <= entry.size();) {
      const std::size_t end = std::min(entry.find(kTogether, begin), entry.size());
      stage.emplace_back(entry.substr(begin, end - begin));
      begin = end + kTogether.size();
    }
  }
  return stages;
}

const MethodTraits& GaussSeidel::traits() const {
  static const MethodTraits kTraits{.name = "gauss-seidel",
                                    .summary = "sequential, explicit; later subsystems see earlier ones' new outputs",
                                    .family = MethodFamily::Explicit,
                                    .knobs = sequential_knobs(),
                                    .linear_step = {.stages = &sequential_stages}};
  return kTraits;
}

void GaussSeidel::bind(OptionBinder& binder) {
  ExplicitMethod::bind(binder);
  binder.names("sequence", written_sequence_,
               "subsystems in the order of the calls, \"a + b\" at once; empty = found from the graph");
}

void GaussSeidel::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  ExplicitMethod::check(graph, written, problems);
  if (written_sequence_.empty()) return;
  const auto known = subsystem_names(graph);
  const auto problem = [&](Fact fact, std::string remedy) {
    problems.push_back(problem_of(std::move(fact), std::move(remedy), position_of(written, "sequence")));
  };
  const auto names = names_in(written_sequence_);
  for (const auto& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      problem(Fact{FactCode::SequenceUnknown, {name}}, suggestion(name, known));
    }
  }
  for (const auto& name : known) {
    const auto times = std::count(names.begin(), names.end(), name);
    if (times == 0) problem(Fact{FactCode::SequenceIncomplete, {name}}, "every subsystem is called once");
    if (times > 1) problem(Fact{FactCode::SequenceTwice, {name}, {{"times", times}}}, "every subsystem is called once");
  }
}

void GaussSeidel::start(CoupledSystem& system, const RunSettings& settings) {
  ExplicitMethod::start(system, settings);
  stages_.clear();
  if (written_sequence_.empty()) {
    for (const SubsystemId s : system.graph().calling_sequence()) stages_.push_back({s});
    return;
  }
  const auto known = subsystem_names(system.graph());
  for (const auto& names : stages_of(written_sequence_)) {
    auto& stage = stages_.emplace_back();
    for (const auto& name : names) {
      stage.emplace_back(static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin()));
    }
  }
}

void GaussSeidel::advance_subsystems(CoupledSystem& system) {
  for (const auto& stage : stages_) {
    for (const SubsystemId s : stage) prepare(system, s);
    commit(system, stage);
  }
}

std::vector<Fact> GaussSeidel::notes(const CoupledSystem& system) const {
  auto notes = ExplicitMethod::notes(system);
  Fact sequence{FactCode::CallingSequence, {}, {{"origin", written_sequence_.empty() ? "found" : "given"}}};
  for (const auto& stage : stages_) {
    auto& entry = sequence.subjects.emplace_back();
    for (const SubsystemId s : stage) entry += (entry.empty() ? "" : " + ") + system.graph().name(s);
  }
  notes.push_back(std::move(sequence));
  return notes;
}

}  // namespace entrain
