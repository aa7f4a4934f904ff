#include "masters/jacobi.hpp"

namespace entrain {

void Jacobi::start(CoupledSystem& system, const RunSettings& settings) {
  ExplicitMethod::start(system, settings);
  everyone_.clear();
  for (std::size_t s = 0; s < system.size(); ++s) everyone_.emplace_back(s);
}

void Jacobi::advance_subsystems(CoupledSystem& system) {
  prepare_all(system);
  commit(system, everyone_);
}

}  // namespace entrain
