#include "api/proposals.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/units.hpp"
#include "base/values.hpp"
#include "coupling/discrete_signals.hpp"

namespace entrain::api {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

/// The words of a name in small letters, without those that only name a direction: "SpeedIn" and "speed_out" are alike.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool word_goes_on = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool part = is_letter(c) || (c >= '0' && c <= '9') || (static_cast<unsigned char>(c) & 0x80U) != 0;
    const bool hump = i > 0 && is_upper(c) && !is_upper(name[i - 1]);
    if (part && (!word_goes_on || hump)) words.emplace_back();
    if (part) words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    word_goes_on = part;
  }
  constexpr std::array<std::string_view, 8> kDirections{"in", "input", "inp", "out", "output", "outp", "u", "y"};
  std::erase_if(words, [&](const std::string& word) {
    return words.size() > 1 && std::find(kDirections.begin(), kDirections.end(), word) != kDirections.end();
  });
  return words;
}

bool units_fit(const Variable& output, const Variable& input) {
  return base::match_units(output, input).kind == base::UnitMatch::Kind::Fits;
}

constexpr std::string_view kSameUnit = "same unit";
constexpr std::string_view kTypeFits = "the type fits";  // a guess, unless it is the only wiring
constexpr std::string_view kOnlyWiring = "the only wiring that fits";

struct OfferedOutput {
  std::string name;  ///< "subsystem.variable"
  const Part* part;
  const Variable* variable;
};

class Proposer {
 public:
  explicit Proposer(const std::vector<Part>& parts) {
    for (const auto& part : parts)
      for (const auto* outputs : {&part.variables.outputs, &part.variables.discrete_outputs})
        for (const auto& output : *outputs) outputs_.push_back({part.name + "." + output.name, &part, &output});
  }

  Proposal proposal(const Part& part, const Variable& input) const {
    Proposal result{part.name + "." + input.name, {}, {}, false};
    const auto words = words_of(input.name);
    const auto try_match = [&](std::string_view reason, const auto& matches) {
      if (!result.outputs.empty()) return;
      for (const auto& output : outputs_) {
        const bool fits = output.part != &part && coupling::can_feed(output.variable->type, input.type) &&
                          units_fit(*output.variable, input) && matches(output);
        if (fits) result.outputs.push_back(output.name);
      }
      result.reason = reason;
    };
    try_match("same name", [&](const OfferedOutput& output) { return output.variable->name == input.name; });
    try_match("similar name", [&](const OfferedOutput& output) {
      if (words_of(output.variable->name) == words) return true;
      auto with_owner = words_of(output.part->name);
      const auto own = words_of(output.variable->name);
      with_owner.insert(with_owner.end(), own.begin(), own.end());
      return with_owner == words;
    });
    result.sure = result.outputs.size() == 1;
    // What has neither name nor unit in common is a guess, and one of another type would be a bad one.
    const auto same_type = [&](const OfferedOutput& output) {
      return base::type_name(*output.variable) == base::type_name(input);
    };
    try_match(kSameUnit, [&](const OfferedOutput& output) {
      return !input.unit.empty() && output.variable->unit == input.unit && same_type(output);
    });
    try_match(kTypeFits, same_type);
    return result;
  }

 private:
  std::vector<OfferedOutput> outputs_;
};

/// A system whose types, units and directions leave a single wiring, in which every output and every input takes part:
/// a controller and its plant. A single connection is a guess all the same.
void take_only_wiring(std::vector<Proposal>& proposals, const std::vector<Part>& parts) {
  std::size_t outputs = 0;
  for (const auto& part : parts) outputs += part.variables.outputs.size() + part.variables.discrete_outputs.size();
  std::set<std::string_view> used;
  for (const auto& proposal : proposals) {
    if (proposal.outputs.size() != 1 || !used.insert(proposal.outputs.front()).second) return;
  }
  if (proposals.size() < 2 || used.size() != outputs) return;
  for (auto& proposal : proposals) {
    if (!std::exchange(proposal.sure, true)) proposal.reason = kOnlyWiring;
  }
}

}  // namespace

std::vector<Proposal> propose_connections(const std::vector<Part>& parts) {
  const Proposer proposer(parts);
  std::vector<Proposal> proposals;
  for (const auto& part : parts) {
    const auto first = static_cast<std::ptrdiff_t>(proposals.size());
    for (const auto* inputs : {&part.variables.inputs, &part.variables.discrete_inputs})
      for (const auto& input : *inputs) proposals.push_back(proposer.proposal(part, input));
    for (auto each = proposals.begin() + first; each != proposals.end(); ++each) {
      const auto rivals = std::count_if(proposals.begin() + first, proposals.end(),
                                        [&](const Proposal& other) { return other.outputs == each->outputs; });
      each->sure = each->sure || (each->outputs.size() == 1 && rivals == 1 && each->reason == kSameUnit);
    }
  }
  take_only_wiring(proposals, parts);
  return proposals;
}

}  // namespace entrain::api
