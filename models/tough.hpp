#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain::models {

std::unique_ptr<Model> make_tough();

}  // namespace entrain::models
