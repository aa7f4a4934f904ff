#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "entrain/extensions.hpp"
#include "entrain/simulation.hpp"

namespace entrain::session {

/// Which system a checkpoint belongs to: a run of another one is refused.
struct SystemIdentity {
  std::string text;                                        ///< the system file as it is run, without places on the disk
  std::vector<std::pair<std::string, std::string>> files;  ///< what is read besides: "prey.fmu of 'prey'", its SHA-256

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(text, files);
  }
};

/// Reads every FMU and table to hash it. `learned`: null = no correction.
SystemIdentity identity_of(const SystemDescription& description, const Extensions& extensions, const Learned* learned);

/// "'[run] step = 0.01' then, '[run] step = 0.02' now", ...; empty when both are the same.
std::string difference(const SystemIdentity& then, const SystemIdentity& now);

/// The content of a checkpoint file. On the disk: eight letters, the version of the format, the size of what follows,
/// then this, then the SHA-256 of all before.
struct CheckpointContent {
  CheckpointInfo info;
  SystemIdentity identity;
  base::Bytes changes;
  base::Bytes run;
};

/// Both throw Error{FileFailed}; reading for whatever is no whole checkpoint of this version.
void write_checkpoint(const std::filesystem::path& file, const CheckpointContent& content);
CheckpointContent read_checkpoint(const std::filesystem::path& file);

}  // namespace entrain::session
