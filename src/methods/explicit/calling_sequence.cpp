#include "methods/explicit/calling_sequence.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::method {
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

void CallingSequence::bind(OptionBinder& binder) {
  binder.names("sequence", written_,
               "subsystems in the order of the calls, \"a + b\" at once; empty = found from the graph");
}

void CallingSequence::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  if (written_.empty()) return;
  const auto known = subsystem_names(graph);
  const auto problem = [&](Fact fact, std::string remedy) {
    problems.push_back(problem_of(std::move(fact), std::move(remedy), position_of(written, "sequence")));
  };
  const auto names = names_in(written_);
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

void CallingSequence::start(const Graph& graph) {
  stages_.clear();
  if (written_.empty()) {
    for (const SubsystemId s : graph.calling_sequence()) stages_.push_back({s});
    return;
  }
  const auto known = subsystem_names(graph);
  for (const auto& names : stages_of(written_)) {
    auto& stage = stages_.emplace_back();
    for (const auto& name : names) {
      stage.emplace_back(static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin()));
    }
  }
}

Fact CallingSequence::note(const Graph& graph) const {
  Fact sequence{FactCode::CallingSequence, {}, {{"origin", written_.empty() ? "found" : "given"}}};
  for (const auto& stage : stages_) {
    auto& entry = sequence.subjects.emplace_back();
    for (const SubsystemId s : stage) entry += (entry.empty() ? "" : " + ") + graph.name(s);
  }
  return sequence;
}

}  // namespace entrain::method
