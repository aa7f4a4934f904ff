#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "entrain/learning.hpp"

namespace entrain::reporting {

/// learned.json: every number is written so that it reads back to the same double.
std::string learned_json(const Learned& learned);
/// How the repeated runs went; the corrections themselves are not in it.
nlohmann::ordered_json learn_result_data(const LearnResult& result);

}  // namespace entrain::reporting
