#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "studio/bounded_server.hpp"

namespace entrain::studio {

struct StudioOptions {
  std::filesystem::path folder;
  std::string system = "system.toml";  ///< relative to the folder; it need not exist
  std::filesystem::path program;       ///< the program entrain, which does all the work
  std::string address = "127.0.0.1";
  int port = 0;          ///< 0 = any that is free
  bool sandbox = false;  ///< FMUs are looked at and run in sandboxes
  ServerLimits limits = {};
};

/// The server of the studio: the page, the edits of the system file, and processes of the program. It holds no truth of
/// its own: that is in the files of the folder, and what runs goes on without it.
class Studio {
 public:
  /// Binds the address. Throws std::runtime_error when that is not possible.
  explicit Studio(const StudioOptions& options);
  ~Studio();
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  int port() const;
  /// With the token, which is all that a browser needs.
  std::string url() const;
  /// Answers until `stop`.
  void serve();
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain::studio
