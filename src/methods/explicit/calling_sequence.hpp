#pragma once

#include <span>
#include <string>
#include <vector>

#include "entrain/graph.hpp"
#include "entrain/options.hpp"

namespace entrain::method {

/// The entries of a calling sequence, each the names of those that are called at once: "a + b" = a and b.
std::vector<std::vector<std::string>> stages_of(const std::vector<std::string>& sequence);

/// The order in which sequential methods call the subsystems: as written, or found from the graph.
class CallingSequence {
 public:
  void bind(OptionBinder& binder);
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const;
  void start(const Graph& graph);

  using Stage = std::vector<SubsystemId>;  ///< called at once
  std::span<const Stage> stages() const { return stages_; }
  Fact note(const Graph& graph) const;

 private:
  std::vector<std::string> written_;
  std::vector<Stage> stages_;
};

}  // namespace entrain::method
