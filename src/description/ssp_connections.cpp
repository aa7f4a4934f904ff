// Connections of nested systems, followed from each input of a component back to what feeds it.
#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "description/ssp_flat.hpp"
#include "description/unit_problem.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

/// Of systems between two ends: twice the depth of nesting that a tree may have.
constexpr std::size_t kMostPorts = 400;

/// The direction of the data at an end of a connection, seen from the system that holds the connection.
enum class Role { Source, Target, Unknown };

struct End {
  SspPort port;
  Role role = Role::Unknown;
  bool of_component = false;
  const SspConnector* connector = nullptr;  ///< nullptr when the document does not list it
};

struct Edge {
  SspPort source, target;
  bool to_component = false;
  const SspConnection* connection = nullptr;
  const SspConnector* from = nullptr;
  const SspConnector* to = nullptr;
};
/// From the target back to the source.
using EdgeChain = std::vector<const Edge*>;

std::string port_text(const SspPort& port) {
  return port.first.empty() ? port.second : fmt::format("{}.{}", port.first, port.second);
}

bool has_unit(const SspConnector* connector) {
  return connector != nullptr && !connector->unit.empty();
}

/// What the units of two connectors are compared by.
Variable as_variable(const SspConnector& connector) {
  Variable variable;
  variable.name = connector.name;
  variable.unit = connector.unit;
  variable.meaning = connector.meaning;
  return variable;
}

/// The values that `first` can give and `then` knows.
ValueTable chained(const ValueTable& first, const ValueTable& then) {
  ValueTable table;
  for (const auto& [source, between] : first) {
    const auto next = std::find_if(then.begin(), then.end(),
                                   [&, &wanted = between](const auto& entry) { return entry.first == wanted; });
    if (next != then.end()) table.push_back({source, next->second});
  }
  return table;
}

/// What comes before those already passed: f2 (f1 y + o1) + o2. Returns why that cannot be, or nothing.
std::string_view apply_before(SspTransformation& passed, const SspTransformation& by) {
  const bool has_table = !by.table.empty() || !passed.table.empty();
  if (has_table && (by.is_scaling() || passed.is_scaling())) return "a table of values and a linear transformation";
  passed.offset += passed.factor * by.offset;
  passed.factor *= by.factor;
  if (by.table.empty()) return {};
  passed.table = passed.table.empty() ? by.table : chained(by.table, passed.table);
  return passed.table.empty() ? "two tables that have no value in common" : "";
}

void apply_after(SspTransformation& sum, double factor, double offset) {
  sum.factor *= factor;
  sum.offset = factor * sum.offset + offset;
}

/// Not the same before and after a conversion of units.
bool depends_on_unit(const SspTransformation& by, const SspConnector& connector) {
  const auto meaning = base::unit_meaning(as_variable(connector));
  return by.offset != 0.0 || (by.factor != 1.0 && meaning && meaning->offset != 0.0);
}

class Tracer {
 public:
  explicit Tracer(std::vector<Problem>& problems) : problems_(problems) {}

  void run(const SspScope& root, base::FunctionRef<void(const SspFeed&)> use) {
    collect(root);
    for (const auto& edge : edges_) {
      if (!edge.to_component) continue;
      if (const auto feed = trace(edge)) use(*feed);
    }
  }

 private:
  void collect(const SspScope& scope) {
    for (const auto& connection : scope.element->connections) add(scope, connection);
    for (const auto& child : scope.children) collect(child);
  }

  static const SspConnector* find_connector(const SspElement& element, const std::string& name) {
    const auto found = std::find_if(element.connectors.begin(), element.connectors.end(),
                                    [&](const SspConnector& candidate) { return candidate.name == name; });
    return found == element.connectors.end() ? nullptr : &*found;
  }
  static SspFlow flow_of(const SspConnector* connector) {
    return connector == nullptr ? SspFlow::Unknown : connector->flow;
  }

  /// nullopt when a problem was added.
  std::optional<End> end_of(const SspScope& scope, const std::string& element, const std::string& connector,
                            const SourcePosition& where) {
    if (element.empty()) {
      // Inside, what a system takes in is a source.
      const SspConnector* listed = find_connector(*scope.element, connector);
      const SspFlow flow = flow_of(listed);
      const Role role = flow == SspFlow::In ? Role::Source : flow == SspFlow::Out ? Role::Target : Role::Unknown;
      return End{{scope.path, connector}, role, false, listed};
    }
    const auto child = std::find_if(scope.children.begin(), scope.children.end(),
                                    [&](const SspScope& candidate) { return candidate.name == element; });
    if (child == scope.children.end()) {
      std::vector<std::string> names;
      for (const auto& candidate : scope.children) names.push_back(candidate.name);
      problems_.push_back(problem_of(Fact{FactCode::UnknownElement, {element}}, suggestion(element, names), where));
      return std::nullopt;
    }
    // A signal of a dictionary is written by one and read by the others: the other end determines the direction.
    const SspConnector* listed = find_connector(*child->element, connector);
    if (child->is_dictionary) return End{{child->path, connector}, Role::Unknown, false, listed};
    const SspFlow flow = flow_of(listed);
    const Role role = flow == SspFlow::Out ? Role::Source : flow == SspFlow::In ? Role::Target : Role::Unknown;
    return End{{child->path, connector}, role, child->element->is_component, listed};
  }

  void add(const SspScope& scope, const SspConnection& connection) {
    const auto start = end_of(scope, connection.start_element, connection.start_connector, connection.where);
    const auto end = end_of(scope, connection.end_element, connection.end_connector, connection.where);
    if (!start || !end) return;
    if (start->role == end->role && start->role != Role::Unknown) {
      problems_.push_back(problem_of(Fact{FactCode::SameDirection,
                                          {port_text(start->port), port_text(end->port)},
                                          {{"both", start->role == Role::Source ? "give data" : "take data"}}},
                                     "", connection.where));
      return;
    }
    // Start and end give the direction only if nothing else does.
    const bool forward = start->role == Role::Source || end->role == Role::Target || start->role == end->role;
    const End& source = forward ? *start : *end;
    const End& target = forward ? *end : *start;
    edges_.push_back({source.port, target.port, target.of_component, &connection, source.connector, target.connector});
    sources_.insert({source.port, source.of_component});
    if (target.of_component) return;  // the assembly reports an input that is fed twice
    if (!into_system_.insert({target.port, edges_.size() - 1}).second)
      problems_.push_back(problem_of(Fact{FactCode::ConnectorFedTwice, {port_text(target.port)}},
                                     "a connector takes one source", connection.where));
  }

  /// nullopt when a problem was added.
  std::optional<SspFeed> trace(const Edge& last) {
    SspFeed feed;
    feed.target = last.target;
    feed.where = last.connection->where;
    EdgeChain chain{&last};
    while (true) {
      const Edge* edge = chain.back();
      if (feed.between.size() > kMostPorts) {
        problems_.push_back(problem_of(
            Fact{FactCode::ConnectorCircle, {port_text(feed.target)}, {{"most", kMostPorts}}}, "", feed.where));
        return std::nullopt;
      }
      const auto fault = apply_before(feed.transformation, edge->connection->transformation);
      if (!fault.empty()) {
        problems_.push_back(problem_of(Fact{FactCode::ConnectorTables, {port_text(feed.target)}, {{"fault", fault}}},
                                       "write one table for the whole chain", edge->connection->where));
        return std::nullopt;
      }
      feed.convert_units = feed.convert_units && edge->connection->convert_units;
      feed.source = edge->source;
      feed.from_component = sources_.at(edge->source);
      if (feed.from_component) break;
      feed.between.push_back({edge->source, feed.transformation});
      const auto before = into_system_.find(edge->source);
      if (before == into_system_.end()) break;
      chain.push_back(&edges_[before->second]);
    }
    if (feed.from_component && feed.transformation.table.empty()) convert_along(chain, feed);
    return feed;
  }

  /// If the document gives the units of both ends, each connection converts before it transforms. Where it does not,
  /// those of the variables count, which are not known here: the assembly converts first, and everything else follows.
  void convert_along(const EdgeChain& chain, SspFeed& feed) {
    const SspConnector* current = chain.back()->from;
    if (!has_unit(current) || !has_unit(chain.front()->to)) return require_units_of_ends(chain);
    SspTransformation sum;
    SspPort from = chain.back()->source;
    for (auto edge = chain.rbegin(); edge != chain.rend(); ++edge) {
      const SspConnection& connection = *(*edge)->connection;
      if (has_unit((*edge)->to)) {
        if (connection.convert_units) convert(from, *current, **edge, sum);
        current = (*edge)->to;
        from = (*edge)->target;
      }
      apply_after(sum, connection.transformation.factor, connection.transformation.offset);
    }
    feed.transformation = sum;
    feed.convert_units = false;
  }

  void convert(const SspPort& source, const SspConnector& from, const Edge& edge, SspTransformation& sum) {
    const Variable output = as_variable(from);
    const Variable input = as_variable(*edge.to);
    const auto [kind, conversion] = base::match_units(output, input);
    if (kind == base::UnitMatch::Kind::Fits) return apply_after(sum, conversion.factor, conversion.offset);
    problems_.push_back(
        unit_problem(kind, {port_text(source), port_text(edge.target), edge.connection->where}, output, input));
  }

  /// A system's connector with a unit between ends without: what is transformed there may be in another unit.
  void require_units_of_ends(const EdgeChain& chain) {
    for (const Edge* edge : chain) {
      for (const SspConnector* connector : {edge->from, edge->to}) {
        const bool at_end = connector == chain.back()->from || connector == chain.front()->to;
        if (at_end || !has_unit(connector) || !depends_on_unit(edge->connection->transformation, *connector)) continue;
        const bool source_lacks = !has_unit(chain.back()->from);
        const SspPort& lacking = source_lacks ? chain.back()->source : chain.front()->target;
        problems_.push_back(
            problem_of(Fact{FactCode::ConnectorUnitUnknown,
                            {port_text(chain.front()->target), connector->name, port_text(lacking)},
                            {{"unit", connector->unit}}},
                       "write the unit of its connector, so that the transformation is applied in the right one",
                       edge->connection->where));
        return;
      }
    }
  }

  std::vector<Problem>& problems_;
  std::vector<Edge> edges_;
  std::map<SspPort, bool> sources_;             ///< is it a port of a component?
  std::map<SspPort, std::size_t> into_system_;  ///< the edge that feeds a connector of a system
};

}  // namespace

void for_each_feed(const SspScope& root, std::vector<Problem>& problems, base::FunctionRef<void(const SspFeed&)> use) {
  Tracer(problems).run(root, use);
}

}  // namespace entrain::description
