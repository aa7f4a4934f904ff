#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "description/ssp_document.hpp"

namespace entrain::description {

/// An SSD file that has been read. Paths are as the user would name them: "system.ssp/SystemStructure.ssd".
struct SspFile {
  std::filesystem::path path;
  std::filesystem::path base;  ///< where its relative URIs lead: its folder, or the package it lies in
  bool in_package = false;
  SspDocument document;
};

/// The files of one system, each SSD read once; they live as long as the library.
class SspLibrary {
 public:
  explicit SspLibrary(std::vector<Problem>& problems) : problems_(problems) {}

  /// A package, of which `variant` is the SSD, or an SSD file. nullptr when it is no SSD, with the problems.
  /// Throws Error{FileFailed} or Error{InvalidSystem} when it cannot be read.
  const SspFile* open(const std::filesystem::path& file, const std::string& variant = {});

  /// The path that a URI of `from` means. Throws Error{InvalidSystem}, also when it leads out of a package.
  static std::filesystem::path resolved(const SspFile& from, const std::string& uri, std::string& fragment);
  /// The path that a URI means inside an FMU. Throws as `resolved`.
  static std::filesystem::path inside_fmu(const std::filesystem::path& fmu, const std::string& uri);
  /// The text of another file. Throws as `open`.
  static std::string text(const std::filesystem::path& file);

 private:
  std::vector<Problem>& problems_;
  std::deque<SspFile> files_;
  std::map<std::string, const SspFile*> known_;
};

}  // namespace entrain::description
