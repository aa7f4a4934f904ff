#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain::models {

/// A ball that bounces: a model with real state events.
std::unique_ptr<Model> make_bouncing_ball();

}  // namespace entrain::models
