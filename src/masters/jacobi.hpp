#pragma once

#include "masters/explicit_method.hpp"

namespace entrain {

/// All subsystems at once, each with inputs from the past (docs/theory/jacobi.md).
class Jacobi final : public ExplicitMethod {
 public:
  std::string_view name() const noexcept override { return "jacobi"; }
  void start(CoupledSystem& system, const RunSettings& settings) override;

 protected:
  void advance_subsystems(CoupledSystem& system) override;

 private:
  std::vector<SubsystemId> everyone_;
};

}  // namespace entrain
