#pragma once

#include <memory>

#include "entrain/model.hpp"

/// An electric vehicle on a driving cycle, in the parts that suppliers would deliver (examples/drivetrain).
namespace entrain::models {

std::unique_ptr<Model> make_drivetrain_driver();
std::unique_ptr<Model> make_drivetrain_controller();
std::unique_ptr<Model> make_drivetrain_motor();
std::unique_ptr<Model> make_drivetrain_battery();
std::unique_ptr<Model> make_drivetrain_gearbox();
std::unique_ptr<Model> make_drivetrain_vehicle();
std::unique_ptr<Model> make_drivetrain_cooling();

}  // namespace entrain::models
