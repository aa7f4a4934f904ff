#include "coupling/bonds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/suggest.hpp"
#include "base/units.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::coupling {
namespace {

using Exponents = decltype(UnitMeaning::exponents);  // kg, m, s, A, ...

struct Domain {
  Exponents effort;
  Exponents flow;
};
// A product alone would not do: a power and a number without a unit multiply to watts as well.
constexpr std::array<Domain, 4> kDomains{{{{1, 1, -2}, {0, 1, -1}},        // N, m/s
                                          {{1, 2, -2}, {0, 0, -1}},        // N.m, rad/s
                                          {{1, 2, -3, -1}, {0, 0, 0, 1}},  // V, A
                                          {{1, -1, -2}, {0, 3, -1}}}};     // Pa, m3/s
constexpr Exponents kWatt{1, 2, -3};

/// The unit of the values of one end of a bond.
struct Unit {
  Exponents exponents;  ///< without the radian, which torques lack and some tools leave out of speeds
  double to_si = 1.0;
  std::string text;
};

std::optional<Unit> unit_of(const Variable& variable) {
  const auto meaning = base::unit_meaning(variable);
  // Revolutions per second are no angular velocity, and what has an offset cannot be multiplied.
  if (!meaning || meaning->offset != 0.0 || variable.unit.ends_with("Hz")) return std::nullopt;
  Unit unit{meaning->exponents, meaning->factor, variable.unit};
  unit.exponents.back() = 0;
  return unit;
}

bool make_power(const Unit& effort, const Unit& flow) {
  return std::any_of(kDomains.begin(), kDomains.end(), [&](const Domain& domain) {
    return effort.exponents == domain.effort && flow.exponents == domain.flow;
  });
}

class Finder {
 public:
  Finder(const Graph& graph, std::span<const VariableTable* const> variables, std::vector<Problem>& problems)
      : graph_(graph), variables_(variables), problems_(problems) {
    for (const auto& connection : graph_.connections()) between_[ends(connection)].push_back(&connection);
  }

  /// Every pair of opposite connections whose units give a power, where nothing else can be meant.
  FoundBonds by_units() const {
    FoundBonds found;
    std::set<Ends> noted;
    std::set<std::string> names;
    for (const auto& effort : graph_.connections()) {
      const auto flows = partners(effort, [&](const Connection& flow) { return units_give_power(effort, flow); });
      if (flows.empty()) continue;
      const auto efforts =
          partners(flows[0], [&](const Connection& other) { return units_give_power(other, flows[0]); });
      if (flows.size() == 1 && efforts.size() == 1) {
        std::string name = graph_.name(effort.output);
        if (!names.insert(name).second) name = graph_.name(effort.input);  // one effort for several others
        found.bonds.push_back(bond(std::move(name), effort, flows[0]));
      } else if (noted.insert(ends(effort)).second) {
        found.notes.push_back(several_ways(efforts, flows));
      }
    }
    return found;
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
          problem_of(Fact{FactCode::BondNotOpposite,
                          {written.name},
                          {{"connections", found.size()}, {"rest", found.size() == 1 ? "" : "s that do not"}}},
                     "name for instance an output and an input of one subsystem", written.where));
      return;
    }
    // By units if they give a power; else the first is the effort. Only the correction by `jacobi` makes a difference.
    if (units_give_power(found[1], found[0])) std::swap(found[0], found[1]);
    if (can_be_bond(written, found[0], found[1])) bonds.push_back(bond(written.name, found[0], found[1]));
  }

 private:
  using Ends = std::pair<std::size_t, std::size_t>;  // sender, receiver

  Ends ends(const Connection& connection) const {
    return {graph_.owner(connection.output), graph_.owner(connection.input)};
  }
  bool opposite(const Connection& one, const Connection& other) const {
    const auto [from, to] = ends(one);
    return from != to && ends(other) == Ends(to, from);
  }

  template <class Fits>
  std::vector<Connection> partners(const Connection& one, const Fits& fits) const {
    std::vector<Connection> result;
    const auto [from, to] = ends(one);
    const auto back = between_.find({to, from});
    if (from == to || back == between_.end()) return result;
    for (const Connection* other : back->second) {
      if (fits(*other)) result.push_back(*other);
    }
    return result;
  }

  const Variable& variable(InputId input) const {
    const SubsystemId owner = graph_.owner(input);
    return variables_[owner]->inputs[input - graph_.inputs_of(owner).first];
  }
  const Variable& variable(OutputId output) const {
    const SubsystemId owner = graph_.owner(output);
    return variables_[owner]->outputs[output - graph_.outputs_of(owner).first];
  }

  /// Of one end of a connection; a connection that changes nothing lends it the unit of the other end.
  template <class Here, class There>
  std::optional<Unit> unit_at(const Connection& connection, Here here, There there) const {
    if (const auto unit = unit_of(variable(here))) return unit;
    const bool plain = connection.factor == 1.0 && connection.offset == 0.0;
    return plain && variable(here).unit.empty() ? unit_of(variable(there)) : std::nullopt;
  }
  std::optional<Unit> effort_unit(const Connection& effort) const {
    return unit_at(effort, effort.input, effort.output);
  }
  std::optional<Unit> flow_unit(const Connection& flow) const { return unit_at(flow, flow.output, flow.input); }

  bool units_give_power(const Connection& effort, const Connection& flow) const {
    const auto of_effort = effort_unit(effort);
    const auto of_flow = flow_unit(flow);
    return of_effort && of_flow && flow.factor != 0.0 && make_power(*of_effort, *of_flow);
  }

  PowerBond bond(std::string name, const Connection& effort, const Connection& flow) const {
    const auto of_effort = effort_unit(effort);
    const auto of_flow = flow_unit(flow);
    return {std::move(name), effort, flow, of_effort ? of_effort->to_si : 1.0, of_flow ? of_flow->to_si : 1.0};
  }

  Fact several_ways(std::span<const Connection> efforts, std::span<const Connection> flows) const {
    std::vector<std::string> effort_names, flow_names;
    for (const auto& effort : efforts) effort_names.push_back(graph_.name(effort.input));
    for (const auto& flow : flows) flow_names.push_back(graph_.name(flow.output));
    return {FactCode::PowerBondsAmbiguous,
            {graph_.name(graph_.owner(flows[0].output)), graph_.name(graph_.owner(flows[0].input))},
            {{"efforts", fmt::format("{}", fmt::join(effort_names, ", "))},
             {"flows", fmt::format("{}", fmt::join(flow_names, ", "))}}};
  }

  bool can_be_bond(const BondDescription& written, const Connection& effort, const Connection& flow) {
    const auto refuse = [&](Fact fact, const std::string& remedy) {
      fact.values.emplace_back("bond", written.name);
      problems_.push_back(problem_of(std::move(fact), remedy, written.where));
      return false;
    };
    for (const Connection* connection : {&effort, &flow}) {
      const auto [known, first] = bond_of_.emplace(connection->input, written.name);
      if (first) continue;
      return refuse(Fact{FactCode::BondTwice, {graph_.name(connection->input), known->second}},
                    "leave one of them out");
    }
    if (flow.factor == 0.0) {
      return refuse(Fact{FactCode::BondFactorZero, {graph_.name(flow.input)}}, "leave the bond out");
    }
    const auto of_effort = effort_unit(effort);
    const auto of_flow = flow_unit(flow);
    if (!of_effort || !of_flow) return true;
    Exponents product = of_effort->exponents;
    for (std::size_t i = 0; i < product.size(); ++i) product[i] += of_flow->exponents[i];
    return product == kWatt || refuse(Fact{FactCode::BondNoPower,
                                           {graph_.name(effort.input), graph_.name(flow.output)},
                                           {{"effort_unit", of_effort->text}, {"flow_unit", of_flow->text}}},
                                      "name a force and a velocity, a voltage and a current, ...");
  }

  /// The connection that carries this variable; nullptr after a problem with the reason.
  const Connection* connection_of(const Written<std::string>& name) {
    const auto& carriers = carriers_by_name();
    const auto found = carriers.find(name.value);
    if (found == carriers.end()) {
      std::vector<std::string> known;
      known.reserve(carriers.size());
      for (const auto& carrier : carriers) known.push_back(carrier.first);
      problems_.push_back(
          problem_of(Fact{FactCode::BondNotConnected, {name.value}}, suggestion(name.value, known), name.where));
      return nullptr;
    }
    if (found->second.size() > 1) {
      problems_.push_back(problem_of(Fact{FactCode::BondSeveralInputs, {name.value}},
                                     "name the input that is meant instead", name.where));
      return nullptr;
    }
    return found->second[0];
  }
  const std::map<std::string, std::vector<const Connection*>>& carriers_by_name() {
    if (!carriers_.empty()) return carriers_;
    for (const auto& connection : graph_.connections()) {
      carriers_[graph_.name(connection.output)].push_back(&connection);
      carriers_[graph_.name(connection.input)].push_back(&connection);
    }
    return carriers_;
  }

  const Graph& graph_;
  std::span<const VariableTable* const> variables_;
  std::vector<Problem>& problems_;
  std::map<Ends, std::vector<const Connection*>> between_;
  std::map<std::string, std::vector<const Connection*>> carriers_;  // of a variable, made at the first request
  std::map<std::size_t, std::string> bond_of_;                      // by the input of a connection
};

}  // namespace

bool units_make_power(const Variable& effort, const Variable& flow) {
  const auto of_effort = unit_of(effort);
  const auto of_flow = unit_of(flow);
  return of_effort && of_flow && make_power(*of_effort, *of_flow);
}

FoundBonds power_bonds(const std::optional<std::vector<BondDescription>>& written, const Graph& graph,
                       std::span<const VariableTable* const> variables, std::vector<Problem>& problems) {
  Finder finder(graph, variables, problems);
  if (!written) return finder.by_units();
  FoundBonds found;
  for (const auto& bond : *written) finder.add_written(bond, found.bonds);
  return found;
}

}  // namespace entrain::coupling
