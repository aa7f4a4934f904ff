#pragma once

#include <memory>
#include <string>

#include "entrain/model.hpp"

namespace entrain::models {

/// A parameter under the name it has in its paper.
struct Named {
  std::string name;
  double value;
};

/// A mass held to the ground by a spring and a damper, the part both sides have.
struct MassSettings {
  Named mass, spring, damper;
  Named position, velocity;     ///< states and their starts
  bool velocity_first = false;  ///< order of the coupling variables v, x
  bool choose_integrator = false;
  double force_sign = 1.0;  ///< 1: F > 0 pushes the motion side to the right; -1: to the left
};

struct ForceSettings {
  MassSettings mass;
  Named coupling_spring, coupling_damper;
};

/// m x'' = -c x - d v + sign F; outputs x and v.
std::unique_ptr<Model> make_motion_side(const MassSettings& settings);
/// m x'' = -c x - d v - sign F, sign F = c_k (x - u_x) + d_k (v - u_v); outputs F.
std::unique_ptr<Model> make_force_side(const ForceSettings& settings);
/// The same, but from change_time on, that time included, its output is a constant force; its motion is unchanged.
std::unique_ptr<Model> make_changing_force_side(const ForceSettings& settings);

}  // namespace entrain::models
