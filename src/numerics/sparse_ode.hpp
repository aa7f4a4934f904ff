#pragma once

#include "numerics/ode.hpp"

namespace entrain::numerics {

/// Whether the sparse solver is worth while: many states, few dependencies.
bool is_sparse(const SparsityPattern& pattern);

/// KLU on the entries of OdeOptions::jacobian, for OdeOptions::linear_solver.
std::unique_ptr<OdeLinearSolver> sparse_linear_solver(const OdeLinearSetup& setup);

}  // namespace entrain::numerics
