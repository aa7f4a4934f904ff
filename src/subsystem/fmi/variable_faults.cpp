#include "subsystem/fmi/variable_faults.hpp"

#include <map>
#include <utility>

#include "entrain/fact_codes.hpp"

namespace entrain::subsystem {
namespace {

/// With structural parameters as in the file. More than `most` are not counted: they can be too many to count.
std::size_t element_count(const FmuVariable& variable, const std::vector<FmuVariable>& variables, std::size_t most) {
  std::size_t count = 1;
  for (const auto& dimension : variable.dimensions) {
    std::uint64_t size = dimension.size.value_or(0);
    if (!dimension.size) {
      const auto& start = variables[dimension.variable].start;
      if (start && std::holds_alternative<std::uint64_t>(*start)) size = std::get<std::uint64_t>(*start);
    }
    if (size > most / count) return most + 1;
    count *= static_cast<std::size_t>(size);
    if (count == 0) return 0;
  }
  return count;
}

/// One value fills all elements (FMI 3.0, section 2.4.7.5.1); any other number must be theirs, as long as no
/// structural parameter is changed.
std::optional<Fact> fault_of_starts(const std::vector<FmuVariable>& variables) {
  for (const auto& variable : variables) {
    const std::size_t written = variable.array_start.size();
    if (written < 2 || element_count(variable, variables, written) == written) continue;
    return Fact{FactCode::DescriptionArrayStarts, {variable.name}, {{"starts", written}}};
  }
  return {};
}

/// In FMI 2 each type counts its own references, and variables that are always equal share one; but no two inputs can.
std::optional<Fact> fault_of_inputs(const std::vector<FmuVariable>& variables) {
  std::map<std::pair<FmuType, ValueReference>, const FmuVariable*> inputs;
  for (const auto& variable : variables) {
    if (variable.causality != FmuCausality::Input) continue;
    const auto [other, is_new] = inputs.insert({{variable.type, variable.reference}, &variable});
    if (is_new) continue;
    return Fact{
        FactCode::DescriptionReferenceTwice, {other->second->name, variable.name}, {{"reference", variable.reference}}};
  }
  return {};
}

}  // namespace

std::optional<Fact> fault_of_variables(const std::vector<FmuVariable>& variables) {
  auto fault = fault_of_starts(variables);
  return fault ? fault : fault_of_inputs(variables);
}

}  // namespace entrain::subsystem
