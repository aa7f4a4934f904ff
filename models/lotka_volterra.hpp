#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain::models {

std::unique_ptr<Model> make_prey();
std::unique_ptr<Model> make_predator();
std::unique_ptr<Model> make_modulated_prey();

}  // namespace entrain::models
