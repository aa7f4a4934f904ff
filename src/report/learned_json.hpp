#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

#include "entrain/learning.hpp"

namespace entrain {

/// learned.json: every number is written so that it reads back to the same double.
std::string learned_json(const Learned& learned);
/// `path`: the file, or the folder that holds learned.json. Throws Error{FileFailed} when there is no such file,
/// Error{InvalidSystem} when it holds something else.
Learned read_learned(const std::filesystem::path& path);

/// How the repeated runs went; the corrections themselves are not in it.
nlohmann::ordered_json learn_result_data(const LearnResult& result);
std::string learn_result_json(const LearnResult& result);

}  // namespace entrain
