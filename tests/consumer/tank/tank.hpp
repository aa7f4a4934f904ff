#pragma once

#include <entrain/model.hpp>
#include <memory>

namespace plant {

std::unique_ptr<entrain::Model> make_tank();

}  // namespace plant
