#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain::models {

// The two-mass oscillator of the learning control example with springs that harden: the force of a spring is
// c x + e x^3. Undamped and coupled late it gains energy faster the more it has.

/// m x'' = -c1 x - e1 x^3 - d1 v - F, F = c_k r + e_k r^3 + d_k (v - u_v), r = x - u_x; outputs F.
std::unique_ptr<Model> make_cubic_force_side();
/// m x'' = -c2 x - e2 x^3 - d2 v + F; outputs x and v.
std::unique_ptr<Model> make_cubic_motion_side();

}  // namespace entrain::models
