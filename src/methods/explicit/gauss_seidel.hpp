#pragma once

#include <string>
#include <vector>

#include "methods/explicit/explicit_method.hpp"

namespace entrain {

/// The entries of a calling sequence, each the names of those that are called at once: "a + b" = a and b.
std::vector<std::vector<std::string>> stages_of(const std::vector<std::string>& sequence);

/// One subsystem after the other; each sees the outputs of those called before it in the same macro step
/// (docs/theory/gauss_seidel.md).
class GaussSeidel : public ExplicitMethod {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;

 protected:
  void advance_subsystems(CoupledSystem& system) override;

 private:
  std::vector<std::string> written_sequence_;
  std::vector<std::vector<SubsystemId>> stages_;  // the subsystems of one are called at once
};

}  // namespace entrain
