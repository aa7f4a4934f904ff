#include "run/redundant_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "entrain/error.hpp"
#include "numerics/state_integrals.hpp"

namespace entrain::running {
namespace {

constexpr std::size_t kMostStates = 60;  // of a subsystem: the search costs the cube
constexpr double kSameRate = 1e-5;       // relative; linearizations by differences are not exact

/// What its equations become does not depend on events, and a linearization is all of them.
bool is_smooth(const Facets& facets) {
  if (facets.event_mode != nullptr && facets.event_mode->finds_events()) return false;
  if (facets.equations == nullptr) return true;
  return facets.equations->event_indicator_count() == 0 && !facets.equations->reads_input_derivatives();
}

bool can_be_looked_at(CoupledSystem& system, SubsystemId s) {
  const Facets facets = system.facets(s);
  const auto& can = system.capabilities(s);
  const std::size_t states = system.variables(s).states.size();
  return facets.linearizer != nullptr && facets.states != nullptr && can.state_derivatives && states > 0 &&
         states <= kMostStates && is_smooth(facets);
}

bool all_finite(const Matrix& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(), [](double value) { return std::isfinite(value); });
}

/// False where it has none that could be used.
bool look_at(CoupledSystem& system, SubsystemId s, Linearization& result) {
  if (!can_be_looked_at(system, s)) return false;
  try {
    system.facets(s).linearizer->linearize(result);
  } catch (const Error&) {  // a method that needs it reports it
    return false;
  }
  return result.A.rows == system.variables(s).states.size() && all_finite(result.A) && all_finite(result.B) &&
         all_finite(result.C) && all_finite(result.D);
}

/// Linearizations as far as they are asked for.
class Linearizations {
 public:
  explicit Linearizations(CoupledSystem& system) : system_(system) {}

  /// Null where there is none.
  const Linearization* of(SubsystemId s) {
    const auto [place, first] = known_.try_emplace(s);
    Linearization found;
    if (first && look_at(system_, s, found)) place->second = std::move(found);
    return place->second ? &*place->second : nullptr;
  }

 private:
  CoupledSystem& system_;
  std::map<std::size_t, std::optional<Linearization>> known_;
};

/// How the weighted sum of a share changes with each state, then with each input.
double rate_of(const RedundantIntegral::Share& share, const Linearization& of, std::size_t column) {
  const bool is_state = column < of.A.cols;
  const std::size_t input = is_state ? 0 : column - of.A.cols;
  double rate = is_state || input >= share.inputs.size() ? 0.0 : share.inputs[input];
  for (const auto& [output, factor] : share.outputs) {
    rate += factor * (is_state ? of.C(output, column) : of.D(output, input));
  }
  return rate;
}

/// Several shares of one subsystem are one.
void add_share(RedundantIntegral& integral, RedundantIntegral::Share share) {
  for (auto& known : integral.shares) {
    if (known.subsystem != share.subsystem) continue;
    for (std::size_t i = 0; i < share.weights.size(); ++i) known.weights[i] += share.weights[i];
    known.outputs.insert(known.outputs.end(), share.outputs.begin(), share.outputs.end());
    return;
  }
  integral.shares.push_back(std::move(share));
}

class IntegralFinder {
 public:
  explicit IntegralFinder(CoupledSystem& system) : system_(system), graph_(system.graph()), linearizations_(system) {}

  void find_in(SubsystemId s, std::vector<RedundantIntegral>& found) {
    const auto inputs = graph_.inputs_of(s);
    std::vector<unsigned char> integrable(inputs.count, 0);
    bool any = false;
    for (std::size_t i = 0; i < inputs.count; ++i) {
      if (!comes_from_linear(InputId{inputs.first + i}, s) || linearizations_.of(s) == nullptr) continue;
      integrable[i] = source_integral(graph_.source(InputId{inputs.first + i})->output) != nullptr ? 1 : 0;
      any = any || integrable[i] != 0;
    }
    if (!any) return;
    for (const auto& integral : numerics::integrals_of_inputs(*linearizations_.of(s), integrable)) {
      auto made = with_sources(s, integral);
      if (moves_as_linearized(made)) found.push_back(std::move(made));
    }
  }

 private:
  bool comes_from_linear(InputId input, SubsystemId reader) {
    const Connection* connection = graph_.source(input);
    if (connection == nullptr || connection->factor == 0.0) return false;
    const SubsystemId owner = graph_.owner(connection->output);
    return owner != reader && can_be_looked_at(system_, owner);
  }

  /// Weights of the states of its owner; null where it has no such states.
  const std::vector<double>* source_integral(OutputId output) {
    const auto [place, first] = integrals_.try_emplace(output);
    if (first) {
      const SubsystemId owner = graph_.owner(output);
      const Linearization* of = linearizations_.of(owner);
      if (of != nullptr) place->second = numerics::integral_of_output(*of, output - graph_.outputs_of(owner).first);
    }
    return place->second ? &*place->second : nullptr;
  }

  RedundantIntegral with_sources(SubsystemId s, const numerics::InputIntegral& integral) {
    RedundantIntegral result;
    result.shares.push_back({s, integral.weights, {}, integral.gains});
    for (std::size_t i = 0; i < integral.gains.size(); ++i) {
      if (integral.gains[i] == 0.0) continue;
      const Connection& connection = *graph_.source(InputId{graph_.inputs_of(s).first + i});
      const SubsystemId owner = graph_.owner(connection.output);
      const double factor = -integral.gains[i] * connection.factor;
      RedundantIntegral::Share share{owner,
                                     *source_integral(connection.output),
                                     {{connection.output - graph_.outputs_of(owner).first, factor}},
                                     {}};
      for (double& weight : share.weights) weight *= factor;
      add_share(result, std::move(share));
      result.connections.push_back(connection);
      result.gains.push_back(integral.gains[i]);
      result.slope += integral.gains[i] * connection.offset;
    }
    return result;
  }

  /// A linearization leaves out what is constant, and of a nonlinear subsystem it holds at one point: the states must
  /// change as it says, here too.
  bool moves_as_linearized(const RedundantIntegral& integral) {
    double sum = -integral.slope;
    double size = std::abs(integral.slope);
    for (const auto& share : integral.shares) {
      std::vector<double> rates(share.weights.size());
      system_.facets(share.subsystem).states->derivatives(rates);
      for (std::size_t i = 0; i < rates.size(); ++i) {
        sum += share.weights[i] * rates[i];
        size += std::abs(share.weights[i] * rates[i]);
      }
    }
    // Of consistent signals at the start.
    return std::abs(sum) <= kSameRate * size;
  }

  CoupledSystem& system_;
  const Graph& graph_;
  Linearizations linearizations_;
  std::map<std::size_t, std::optional<std::vector<double>>> integrals_;  // by output
};

bool same_rates(const RedundantIntegral::Share& share, const Linearization& of) {
  double most = 0.0;
  for (const double weight : share.weights) most = std::max(most, std::abs(weight));
  for (std::size_t j = 0; j < of.A.cols + of.B.cols; ++j) {
    const bool is_state = j < of.A.cols;
    double sum = -rate_of(share, of, j);
    double size = std::abs(sum);
    double column = 0.0;
    for (std::size_t i = 0; i < share.weights.size(); ++i) {
      const double entry = is_state ? of.A(i, j) : of.B(i, j - of.A.cols);
      sum += share.weights[i] * entry;
      size += std::abs(share.weights[i] * entry);
      column = std::max(column, std::abs(entry));
    }
    constexpr double kNoise = 1e-7;  // of differences
    if (!(std::abs(sum) <= kSameRate * size + kNoise * most * column)) return false;
  }
  return true;
}

}  // namespace

bool can_have_redundant_integrals(CoupledSystem& system) {
  const Graph& graph = system.graph();
  return std::any_of(graph.connections().begin(), graph.connections().end(), [&](const Connection& connection) {
    const SubsystemId from = graph.owner(connection.output);
    const SubsystemId to = graph.owner(connection.input);
    return from != to && can_be_looked_at(system, from) && can_be_looked_at(system, to);
  });
}

std::vector<RedundantIntegral> redundant_integrals(CoupledSystem& system) {
  std::vector<RedundantIntegral> found;
  if (!can_have_redundant_integrals(system)) return found;
  IntegralFinder finder(system);
  for (std::size_t s = 0; s < system.size(); ++s) finder.find_in(SubsystemId{s}, found);
  return found;
}

bool still_holds(const RedundantIntegral& integral, CoupledSystem& system, Linearization& scratch) {
  return std::all_of(integral.shares.begin(), integral.shares.end(), [&](const RedundantIntegral::Share& share) {
    return look_at(system, share.subsystem, scratch) && same_rates(share, scratch);
  });
}

std::vector<std::string> subjects_of(const RedundantIntegral& integral, const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& connection : integral.connections) {
    names.push_back(graph.name(connection.output) + " -> " + graph.name(connection.input));
  }
  return names;
}

}  // namespace entrain::running
