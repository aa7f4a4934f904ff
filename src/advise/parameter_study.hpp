#pragma once

#include <optional>
#include <vector>

#include "advise/interruption.hpp"
#include "analysis/forecast.hpp"
#include "analysis/stable_ranges.hpp"
#include "entrain/advice.hpp"
#include "methods/registry.hpp"
#include "session/prepare.hpp"

namespace entrain::advising {

/// What changes of parameters do to the stability of a coupling. Linear, at the start of the run.
class ParameterStudy {
 public:
  /// `prepared` is the system as it is. Throws Error naming every parameter that is not there or is no real number, and
  /// every range that holds no value. What follows throws PartInterrupted.
  ParameterStudy(const SystemDescription& description, const Extensions& extensions, const session::Prepared& prepared,
                 const AdviceSettings& settings);

  /// Each by itself.
  std::vector<ParameterLimits> limits(const MethodConfig& config, const std::vector<std::size_t>& found,
                                      Duration step) const;
  /// The structured stability radius for relative changes: the smallest factor such that, with each parameter
  /// multiplied or divided by it, some combination is unstable. Combinations where only some change are not tried. At
  /// most the factor of the search, 100. Nullopt for more than five parameters.
  std::optional<double> joint_factor(const MethodConfig& config, const std::vector<std::size_t>& found,
                                     Duration step) const;
  /// The radius over the first two of them.
  HeatMap heat(const MethodConfig& config, const std::vector<std::size_t>& found, Duration step) const;

 private:
  struct Parameter {
    std::size_t subsystem;
    std::string variable;
    double value;
    double low, high;
  };
  void add(const ParameterQuestion& question, const session::Prepared& prepared, std::vector<Problem>& problems);
  /// Around the start, with these values of the parameters; nullopt when the system cannot be made so.
  std::optional<analysis::RunPath> path_with(const std::vector<double>& values) const;
  std::vector<double> values() const;
  analysis::StabilityAt stability(const MethodConfig& config, const std::vector<std::size_t>& found, Duration step,
                                  const std::vector<double>& values) const;

  const SystemDescription& description_;
  Extensions extensions_;
  method::MethodRegistry methods_;
  Interruption interruption_;
  std::vector<Parameter> parameters_;
};

}  // namespace entrain::advising
