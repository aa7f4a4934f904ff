#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "entrain/extensions.hpp"
#include "learn/learner.hpp"
#include "session/checkpoint_file.hpp"

namespace entrain::learning {

/// Which learning a state belongs to.
struct LearningIdentity {
  session::SystemIdentity system;
  std::vector<std::pair<std::string, std::string>> options;  ///< that decide on the corrections

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(system, options);
  }
};

LearningIdentity identity_of(const SystemDescription& description, const LearnOptions& options, LearnInputs inputs,
                             const Extensions& extensions);

/// Where repeated runs are, in a file. On the disk: eight letters, the version of the program, the size of what
/// follows, then identity and position, then the SHA-256 of all before. Both throw Error; reading for whatever is no
/// whole state of this version and this learning.
void write_state(const std::filesystem::path& file, const LearningIdentity& identity, const LearningPosition& position);
LearningPosition read_state(const std::filesystem::path& file, const LearningIdentity& identity);

}  // namespace entrain::learning
