#include "masters/registry.hpp"

#include "masters/f3ornits.hpp"
#include "masters/gauss_seidel.hpp"
#include "masters/ifosmondi.hpp"
#include "masters/jacobi.hpp"
#include "masters/missiles.hpp"
#include "masters/monolithic.hpp"
#include "masters/nepce.hpp"

namespace entrain {
namespace {

template <class M>
std::unique_ptr<Method> make() {
  return std::make_unique<M>();
}

}  // namespace

const std::vector<MethodEntry>& methods() {
  static const std::vector<MethodEntry> kMethods{
      {"jacobi", "parallel, explicit; inputs extrapolated from the history", &make<Jacobi>},
      {"gauss-seidel", "sequential, explicit; later subsystems see earlier ones' new outputs", &make<GaussSeidel>},
      {"nepce", "gauss-seidel with an integral controller of the coupling error", &make<Nepce>},
      {"ifosmondi", "iterative; values and slopes found in trials, inputs C1", &make<Ifosmondi>},
      {"f3ornits", "explicit, each subsystem with steps of its own; for any mix of capabilities", &make<F3ornits>},
      {"missiles", "the coupling as one linear system of estimates; implicit, one step each", &make<Missiles>},
      {"monolithic", "all equations in one integrator: the reference solution", &make<Monolithic>},
  };
  return kMethods;
}

std::unique_ptr<Method> make_method(std::string_view name) {
  for (const auto& entry : methods()) {
    if (entry.name == name) return entry.make();
  }
  return nullptr;
}

}  // namespace entrain
