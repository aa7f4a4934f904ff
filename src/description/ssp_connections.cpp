// Connections of nested systems, followed from each input of a component back to what feeds it.
#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "description/ssp_flat.hpp"

namespace entrain {
namespace {

/// Twice the depth of nesting that a tree may have.
constexpr std::size_t kLongestWay = 400;

/// Which way data flow on an end of a connection, seen from the system that holds the connection.
enum class Role { Source, Target, Unknown };

struct End {
  SspPort port;
  Role role = Role::Unknown;
  bool of_component = false;
};

struct Edge {
  SspPort source, target;
  bool to_component = false;
  const SspConnection* connection = nullptr;
};

std::string text_of(const SspPort& port) {
  return port.first.empty() ? port.second : fmt::format("{}.{}", port.first, port.second);
}

class Tracer {
 public:
  explicit Tracer(std::vector<Problem>& problems) : problems_(problems) {}

  void run(const SspScope& root, FunctionRef<void(const SspFeed&)> use) {
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

  static SspFlow flow_of(const SspElement& element, const std::string& connector) {
    const auto found = std::find_if(element.connectors.begin(), element.connectors.end(),
                                    [&](const SspConnector& candidate) { return candidate.name == connector; });
    return found == element.connectors.end() ? SspFlow::Unknown : found->flow;
  }

  /// nullopt when a problem was added.
  std::optional<End> end_of(const SspScope& scope, const std::string& element, const std::string& connector,
                            const SourcePosition& where) {
    if (element.empty()) {
      // Inside, what a system takes in is a source.
      const SspFlow flow = flow_of(*scope.element, connector);
      const Role role = flow == SspFlow::In ? Role::Source : flow == SspFlow::Out ? Role::Target : Role::Unknown;
      return End{{scope.path, connector}, role, false};
    }
    const auto child = std::find_if(scope.children.begin(), scope.children.end(),
                                    [&](const SspScope& candidate) { return candidate.name == element; });
    if (child == scope.children.end()) {
      std::vector<std::string> names;
      for (const auto& candidate : scope.children) names.push_back(candidate.name);
      problems_.push_back({fmt::format("a connection names the element '{}', which is not there", element),
                           suggestion(element, names), where});
      return std::nullopt;
    }
    // A signal of a dictionary is written by one and read by the others: the other end tells which.
    if (child->is_dictionary) return End{{child->path, connector}, Role::Unknown, false};
    const SspFlow flow = flow_of(*child->element, connector);
    const Role role = flow == SspFlow::Out ? Role::Source : flow == SspFlow::In ? Role::Target : Role::Unknown;
    return End{{child->path, connector}, role, child->element->is_component};
  }

  void add(const SspScope& scope, const SspConnection& connection) {
    const auto start = end_of(scope, connection.start_element, connection.start_connector, connection.where);
    const auto end = end_of(scope, connection.end_element, connection.end_connector, connection.where);
    if (!start || !end) return;
    if (start->role == end->role && start->role != Role::Unknown) {
      problems_.push_back({fmt::format("'{}' and '{}' cannot be connected: both {}", text_of(start->port),
                                       text_of(end->port), start->role == Role::Source ? "give data" : "take data"),
                           "", connection.where});
      return;
    }
    // Start and end tell no direction, unless nothing else does.
    const bool forward = start->role == Role::Source || end->role == Role::Target || start->role == end->role;
    const End& source = forward ? *start : *end;
    const End& target = forward ? *end : *start;
    edges_.push_back({source.port, target.port, target.of_component, &connection});
    sources_.insert({source.port, source.of_component});
    if (target.of_component) return;  // fed twice is told by the assembly
    if (!into_system_.insert({target.port, edges_.size() - 1}).second)
      problems_.push_back(
          {fmt::format("'{}' is fed twice", text_of(target.port)), "a connector takes one source", connection.where});
  }

  /// nullopt when a problem was added.
  std::optional<SspFeed> trace(const Edge& last) {
    SspFeed feed;
    feed.target = last.target;
    feed.where = last.connection->where;
    const Edge* edge = &last;
    while (true) {
      if (feed.between.size() > kLongestWay) {
        problems_.push_back({fmt::format("'{}' is fed by a circle of connectors, or through more than {}",
                                         text_of(feed.target), kLongestWay),
                             "", feed.where});
        return std::nullopt;
      }
      // This edge comes before those already passed: f2 (f1 y + o1) + o2.
      const SspTransformation& by = edge->connection->transformation;
      feed.transformation.offset += feed.transformation.factor * by.offset;
      feed.transformation.factor *= by.factor;
      feed.convert_units = feed.convert_units && edge->connection->convert_units;
      feed.source = edge->source;
      feed.from_component = sources_.at(edge->source);
      if (feed.from_component) break;
      feed.between.push_back({edge->source, feed.transformation});
      const auto before = into_system_.find(edge->source);
      if (before == into_system_.end()) break;
      edge = &edges_[before->second];
    }
    return feed;
  }

  std::vector<Problem>& problems_;
  std::vector<Edge> edges_;
  std::map<SspPort, bool> sources_;             ///< is it a port of a component?
  std::map<SspPort, std::size_t> into_system_;  ///< the edge that feeds a connector of a system
};

}  // namespace

void for_each_feed(const SspScope& root, std::vector<Problem>& problems, FunctionRef<void(const SspFeed&)> use) {
  Tracer(problems).run(root, use);
}

}  // namespace entrain
