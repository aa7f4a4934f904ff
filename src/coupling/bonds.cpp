#include "coupling/bonds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/suggest.hpp"
#include "base/units.hpp"

namespace entrain {
namespace {

/// Units of an effort and a flow whose product is the watt. Not the temperature and the entropy flow: W/K is also the
/// unit of a conductance.
struct UnitPair {
  std::string_view effort;
  std::string_view flow;
};
constexpr std::array<UnitPair, 5> kUnitPairs{
    {{"N", "m/s"}, {"N.m", "rad/s"}, {"N.m", "1/s"}, {"V", "A"}, {"Pa", "m3/s"}}};

/// However it is written; kN is not N, because the product would be no watt.
bool has_unit(const Variable& variable, std::string_view unit) {
  const auto meaning = unit_meaning(variable);
  const auto wanted = unit_meaning(unit);
  if (!meaning || !wanted) return variable.unit == unit;
  const auto conversion = unit_conversion(*meaning, *wanted);
  return conversion && conversion->factor == 1.0 && conversion->offset == 0.0;
}

class Finder {
 public:
  Finder(const Graph& graph, std::span<const VariableTable* const> variables, std::vector<Problem>& problems)
      : graph_(graph), variables_(variables), problems_(problems) {}

  /// Every pair of opposite connections whose units tell a power. A connection serves one bond.
  std::vector<PowerBond> by_units() const {
    std::vector<PowerBond> bonds;
    std::set<std::size_t> taken;  // inputs of flow connections
    for (const auto& effort : graph_.connections()) {
      for (const auto& flow : graph_.connections()) {
        if (!opposite(effort, flow) || !multiply_to_power(effort, flow) || taken.count(flow.input) > 0) continue;
        taken.insert(flow.input);
        bonds.push_back({graph_.name(effort.output), effort, flow});
        break;
      }
    }
    return bonds;
  }

  void add_written(const BondDescription& written, std::vector<PowerBond>& bonds) {
    std::vector<Connection> found;
    for (const auto& name : written.variables) {
      const Connection* connection = connection_of(name);
      if (connection == nullptr) return;
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const Connection& other) { return other.input == connection->input; });
      if (!known) found.push_back(*connection);
    }
    if (found.size() != 2 || !opposite(found[0], found[1])) {
      problems_.push_back(
          {fmt::format("bond '{}' must name an effort and a flow that two subsystems exchange, one each "
                       "way; these are {} connection{}",
                       written.name, found.size(), found.size() == 1 ? "" : "s that do not"),
           "name for instance an output and an input of one subsystem", written.where});
      return;
    }
    // By units if they tell; else the first is the effort. Only the correction by `jacobi` makes a difference.
    if (multiply_to_power(found[1], found[0])) std::swap(found[0], found[1]);
    bonds.push_back({written.name, found[0], found[1]});
  }

 private:
  bool opposite(const Connection& one, const Connection& other) const {
    return graph_.owner(one.output) == graph_.owner(other.input) &&
           graph_.owner(one.input) == graph_.owner(other.output) && graph_.owner(one.output) != graph_.owner(one.input);
  }

  const Variable& variable(const Connection& connection) const {
    const SubsystemId owner = graph_.owner(connection.input);
    return variables_[owner]->inputs[connection.input - graph_.inputs_of(owner).first];
  }

  bool multiply_to_power(const Connection& effort, const Connection& flow) const {
    return std::any_of(kUnitPairs.begin(), kUnitPairs.end(), [&](const UnitPair& pair) {
      return has_unit(variable(effort), pair.effort) && has_unit(variable(flow), pair.flow);
    });
  }

  /// The connection that carries this variable; nullptr after telling why there is none.
  const Connection* connection_of(const Written<std::string>& name) {
    std::vector<std::string> known;
    const Connection* found = nullptr;
    bool several = false;
    for (const auto& connection : graph_.connections()) {
      const auto output = graph_.name(connection.output);
      const auto input = graph_.name(connection.input);
      known.push_back(output);
      known.push_back(input);
      if (name.value == input) return &connection;
      if (name.value != output) continue;
      several = found != nullptr;
      found = &connection;
    }
    if (several) {
      problems_.push_back({fmt::format("bond: '{}' feeds several inputs", name.value),
                           "name the input that is meant instead", name.where});
      return nullptr;
    }
    if (found == nullptr) {
      problems_.push_back(
          {fmt::format("bond: no connection carries '{}'", name.value), suggestion(name.value, known), name.where});
    }
    return found;
  }

  const Graph& graph_;
  std::span<const VariableTable* const> variables_;
  std::vector<Problem>& problems_;
};

}  // namespace

std::vector<PowerBond> power_bonds(const std::optional<std::vector<BondDescription>>& written, const Graph& graph,
                                   std::span<const VariableTable* const> variables, std::vector<Problem>& problems) {
  Finder finder(graph, variables, problems);
  if (!written) return finder.by_units();
  std::vector<PowerBond> bonds;
  for (const auto& bond : *written) finder.add_written(bond, bonds);
  return bonds;
}

}  // namespace entrain
