#include "advise/choose_method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

/// Subsystems that share events need common macro steps, and these end where events are: the first explicit method, as
/// written. Short trials would tell little about it.
MethodChoice for_shared_events(MethodChoice choice, const session::Prepared& prepared,
                               const method::MethodRegistry& methods) {
  const auto& entries = methods.entries();
  const auto first = std::find_if(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.traits.family == MethodFamily::Explicit && entry.traits.recommended;
  });
  const Fact reason{FactCode::NeedsCommonInstants,
                    {choice.description.subsystems.front().name},
                    {{"method", choice.description.method.value}}};
  choice.description.method.value = first->traits.name;
  MethodConfig config;
  config.method = first->traits.name;
  choice.reasons = {reason};
  choice.notes = {chosen_note(config, prepared.settings.step, choice.reasons)};
  return choice;
}

}  // namespace

std::vector<Fact> patent_notes(const method::MethodRegistry& methods, const std::string& method) {
  if (!methods.traits(method).patent_declared) return {};
  return {{FactCode::PatentDeclared, {method}}};
}

SystemDescription to_look_at(SystemDescription description) {
  if (description.method.value == method::kAuto)
    description.method = {method::built_in_methods().undemanding().name, {std::string(method::kAuto), 0, 0}};
  return description;
}

MethodChoice choose_method(const SystemDescription& written, const Extensions& extensions, const SearchBudget& budget) {
  if (written.method.value != method::kAuto) return {written, {}, {}};
  MethodChoice choice{to_look_at(written), {}, {}};
  const method::MethodRegistry methods(extensions);
  Look look;
  {  // its subsystems are gone before runs are made: an FMU may be the only one of its kind
    std::vector<Problem> problems;
    session::Prepared prepared =
        session::prepare(choice.description, 1, extensions, problems, session::interruptible(budget.interrupt));
    if (!prepared.system) return choice;
    if (prepared.system->has_instants()) return for_shared_events(std::move(choice), prepared, methods);
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
