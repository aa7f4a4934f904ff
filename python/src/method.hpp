#pragma once

#include "common.hpp"
#include "entrain/method.hpp"

namespace entrain::python {

/// `maker` makes an object of a class derived from entrain.Method.
std::unique_ptr<Method> make_method(const Held& maker, const std::shared_ptr<Thrown>& thrown);

}  // namespace entrain::python
