#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "description/ssp_tree.hpp"

namespace entrain::description {

/// A connector in the tree: path of its element, and its name.
using SspPort = std::pair<std::string, std::string>;

/// A value that a binding gives, and how high in the tree the binding stands: higher ones win.
struct SspValue {
  OptionalStart start;
  int level = 0;
};

/// The values that parameter bindings give to ports of components and of systems. A value whose name matches nothing is
/// ignored, as the standard requires, with a warning.
std::map<SspPort, SspValue> bound_values(const SspScope& root, std::vector<Problem>& problems);

/// Applied to a value; a factor and an offset, if it is a number. False when a table does not know the value.
[[nodiscard]] bool transform(Value& value, const SspTransformation& by);

/// One input of a component and what feeds it, through all systems between.
struct SspFeed {
  SspPort target;
  SspPort source;               ///< a port of a component; or, if nothing feeds that, of the outermost system
  bool from_component = false;  ///< the source is an output
  struct Passed {
    SspPort port;
    SspTransformation transformation;  ///< from there to the target
  };
  std::vector<Passed> between;  ///< ports of systems in between, the source included if it is one
  SspTransformation transformation;
  bool convert_units = true;
  SourcePosition where;
};
/// One after the other: all together they may need more memory than there is. A circle of connectors is a problem, and
/// so is a path longer than through all levels of nesting and back.
void for_each_feed(const SspScope& root, std::vector<Problem>& problems, base::FunctionRef<void(const SspFeed&)> use);

}  // namespace entrain::description
