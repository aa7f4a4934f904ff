#pragma once

#include <map>
#include <string>

#include "methods/explicit/gauss_seidel.hpp"

namespace entrain {

/// gauss-seidel with an integral controller of the coupling error on chosen inputs (docs/theory/nepce.md).
class Nepce final : public GaussSeidel {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;

 protected:
  std::vector<double> gains(const Graph& graph) const override;

 private:
  std::map<std::string, double> written_gains_;  // by "subsystem.input"
};

}  // namespace entrain
