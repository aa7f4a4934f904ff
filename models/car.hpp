#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain::models {

std::unique_ptr<Model> make_car_body();
std::unique_ptr<Model> make_car_controller();

}  // namespace entrain::models
