#pragma once

#include <memory>
#include <string_view>

#include "entrain/model.hpp"

namespace entrain::subsystem {

/// "sum.3" adds up three numbers: out = in[0] + in[1] + in[2]; "sum.3x2" three vectors of two numbers: out[j] =
/// in[0][j] + in[1][j] + in[2][j]. nullptr for every other name.
std::unique_ptr<Model> make_sum(std::string_view name);

}  // namespace entrain::subsystem
