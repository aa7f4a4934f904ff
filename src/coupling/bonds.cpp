#include "coupling/bonds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/suggest.hpp"

namespace entrain {
namespace {

/// Units whose product is the watt, in the spellings that models use.
struct UnitPair {
  std::array<std::string_view, 4> effort;
  std::array<std::string_view, 4> flow;
};
constexpr std::array<UnitPair, 4> kUnitPairs{{{{"N", "kg.m/s2", "", ""}, {"m/s", "m.s-1", "m s-1", "m*s-1"}},
                                              {{"N.m", "N*m", "Nm", "N m"}, {"rad/s", "rad.s-1", "1/s", ""}},
                                              {{"V", "", "", ""}, {"A", "", "", ""}},
                                              {{"Pa", "N/m2", "", ""}, {"m3/s", "m3.s-1", "m^3/s", ""}}}};

bool is_one_of(std::string_view unit, const std::array<std::string_view, 4>& units) {
  return !unit.empty() && std::find(units.begin(), units.end(), unit) != units.end();
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

  const std::string& unit(const Connection& connection) const {
    const SubsystemId owner = graph_.owner(connection.input);
    return variables_[owner]->inputs[connection.input - graph_.inputs_of(owner).first].unit;
  }

  bool multiply_to_power(const Connection& effort, const Connection& flow) const {
    return std::any_of(kUnitPairs.begin(), kUnitPairs.end(), [&](const UnitPair& pair) {
      return is_one_of(unit(effort), pair.effort) && is_one_of(unit(flow), pair.flow);
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
