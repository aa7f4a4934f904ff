#pragma once

#include <vector>

#include "entrain/subsystem.hpp"
#include "subsystem/fmi/fmu_instance.hpp"

namespace entrain::subsystem {

struct FmuPorts;

/// Where the matrices A, B, C, D of an FMU come from.
enum class LinearizationSource {
  None,
  Directional,  ///< columns, from fmi2GetDirectionalDerivative or fmi3GetDirectionalDerivative
  Adjoint,      ///< rows, from fmi3GetAdjointDerivative
  Differences,  ///< columns, by setting states and inputs and going back
};

/// Time derivatives of the outputs along the motion: C f + D u'.
void slopes_along(const Linearization& at, std::span<const double> dx, std::span<const double> du,
                  std::span<double> dy);

/// Linearizes an instance at the point it has reached.
class FmuLinearizer {
 public:
  /// Borrows `ports`.
  explicit FmuLinearizer(const FmuPorts& ports);

  /// Reuses the storage of `result`. By differences the instance is restored afterwards.
  FmuResult linearize(FmuInstance& instance, LinearizationSource source, Linearization& result);

 private:
  FmuResult by_columns(FmuInstance& instance, Linearization& result);
  FmuResult by_rows(FmuInstance& instance, Linearization& result);
  FmuResult by_differences(FmuInstance& instance, Linearization& result);
  FmuResult difference(FmuInstance& instance, ValueReference known);
  void put_column(std::size_t known, Linearization& result) const;
  void put_row(std::size_t unknown, Linearization& result) const;

  const FmuPorts& ports_;
  std::vector<ValueReference> knowns_, unknowns_;  ///< as calls name them
  std::size_t known_values_ = 0, unknown_values_ = 0;
  std::vector<std::size_t> unknown_outputs_;  ///< those that are no states, in the order of the unknowns
  std::vector<double> seed_;                  ///< all but one are zero
  std::vector<double> line_;                  ///< a column or a row
  std::vector<double> below_;                 ///< the unknowns a little below the point
};

}  // namespace entrain::subsystem
