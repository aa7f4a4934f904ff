#include "advise/choose_method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advise/look.hpp"
#include "advise/recommendation.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::advising {
namespace {

Fact chosen_note(const MethodConfig& config, Duration step, const std::vector<Fact>& reasons) {
  std::vector<std::string_view> codes;
  std::vector<std::string> subjects{config.title()};
  for (const Fact& reason : reasons) {
    codes.push_back(name_of(reason.code));
    subjects.insert(subjects.end(), reason.subjects.begin(), reason.subjects.end());
  }
  return {FactCode::MethodChosen,
          std::move(subjects),
          {{"step", step, "s"}, {"why", render(reasons, "; ")}, {"reasons", fmt::format("{}", fmt::join(codes, " "))}}};
}

}  // namespace

std::vector<Fact> patent_notes(const method::MethodRegistry& methods, const std::string& method) {
  if (!methods.traits(method).patent_declared) return {};
  return {{FactCode::PatentDeclared, {method}}};
}

SystemDescription to_look_at(SystemDescription description) {
  if (description.method.value == method::kAuto)
    description.method.value = method::built_in_methods().undemanding().name;
  return description;
}

MethodChoice choose_method(const SystemDescription& written, const Extensions& extensions, const SearchBudget& budget) {
  if (written.method.value != method::kAuto) return {written, {}, {}};
  MethodChoice choice{to_look_at(written), {}, {}};
  const method::MethodRegistry methods(extensions);
  Look look;
  {  // its subsystems are gone before runs are made: an FMU may be the only one of its kind
    std::vector<Problem> problems;
    session::Prepared prepared = session::prepare(choice.description, 1, extensions, problems);
    if (!prepared.system) return choice;
    look = look_at(written, prepared, methods, extensions);
  }
  auto found = recommend(look, methods, extensions, budget, true);
  if (!found.choice) {
    Fact none{FactCode::NoMethodServes, {}, {{"why", render(found.reasons, "; ")}}};
    if (look.step_given) none.values.emplace_back("step", look.step, "s");
    throw Error(ErrorCode::InvalidSystem, std::move(none));
  }
  const auto& candidate = look.candidates[found.choice->candidate];
  const auto options = written.method_options.find(candidate.method);
  const bool has_options = options != written.method_options.end() && !options->second.empty();
  choice.description = with_config(methods, std::move(choice.description), candidate);
  choice.description.method.where = {std::string(method::kAuto), 0, 0};
  if (!look.step_given) choice.description.step = {found.choice->step, {std::string(method::kAuto), 0, 0}};
  choice.notes = {chosen_note(candidate, choice.description.step->value, found.reasons)};
  if (has_options) choice.notes.front().values.emplace_back("options_of", candidate.method);
  for (auto& remark : found.remarks) choice.notes.push_back(std::move(remark));
  for (auto& note : patent_notes(methods, candidate.method)) choice.notes.push_back(std::move(note));
  choice.reasons = std::move(found.reasons);
  choice.calls = found.calls;
  choice.run_calls = found.choice->calls;
  choice.meets = found.choice->meets();
  return choice;
}

}  // namespace entrain::advising
