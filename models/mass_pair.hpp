#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain::models {

// Two masses with a spring and a damper between them, cut so that one side outputs its motion and the other side, which
// contains the coupling spring, outputs the force.

std::unique_ptr<Model> make_mechanical_left();
std::unique_ptr<Model> make_mechanical_right();
std::unique_ptr<Model> make_two_mass_left();
std::unique_ptr<Model> make_two_mass_right();
std::unique_ptr<Model> make_oscillator_force_side();
std::unique_ptr<Model> make_oscillator_motion_side();

}  // namespace entrain::models
