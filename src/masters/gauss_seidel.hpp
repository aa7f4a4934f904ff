#pragma once

#include <string>
#include <vector>

#include "masters/explicit_method.hpp"

namespace entrain {

/// One subsystem after the other; each sees the outputs of those called before it in the same macro step
/// (docs/theory/gauss_seidel.md).
class GaussSeidel : public ExplicitMethod {
 public:
  std::string_view name() const noexcept override { return "gauss-seidel"; }
  void bind(OptionBinder& binder) override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  std::vector<std::string> notes(const CoupledSystem& system) const override;

 protected:
  void advance_subsystems(CoupledSystem& system) override;

 private:
  std::vector<std::string> written_sequence_;
  std::vector<SubsystemId> sequence_;
};

}  // namespace entrain
