#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "description/ssp_library.hpp"

namespace entrain::description {

/// An element in its place: packages and documents that components refer to are opened up.
struct SspScope {
  std::string path;  ///< names from the root, joined by '/'; empty for the root system
  std::string name;  ///< of the element in the system around it
  const SspElement* element = nullptr;
  const SspFile* file = nullptr;  ///< that it is written in
  /// What applies to it, in this order; each with the file it is written in.
  struct Binding {
    const SspBinding* binding;
    const SspFile* file;
  };
  std::vector<Binding> bindings;
  std::vector<SspScope> children;
  std::filesystem::path fmu;   ///< of a component that is one
  int level = 0;               ///< 0 for the root
  bool is_dictionary = false;  ///< a reference to a signal dictionary: its path is that of the dictionary
};

/// Opens all files and makes the tree. Problems: what a component refers to cannot be used, or refers to itself.
class SspTreeBuilder {
 public:
  SspTreeBuilder(SspLibrary& library, std::vector<Problem>& problems) : library_(library), problems_(problems) {}

  SspScope build(const SspFile& file);

 private:
  SspScope scope_of(const SspElement& element, const SspFile& file, const SspScope& around);
  void open_component(SspScope& scope);
  void open_reference(SspScope& scope, const std::filesystem::path& path, const std::string& fragment);
  void open_same_document(SspScope& scope, const std::string& id);
  void enter(SspScope& scope, const SspElement& system, const SspFile& file, const std::string& key);
  void add_children(SspScope& scope);
  void enter_dictionary(SspScope& scope);
  std::string unique_path(const SspScope& around, const SspElement& element);

  SspLibrary& library_;
  std::vector<Problem>& problems_;
  std::vector<std::string> open_;  ///< what is being opened up, to find circles
  std::set<std::string> paths_;
  /// Signal dictionaries of the systems being opened up, innermost last: name, and the path of their signals.
  std::vector<std::pair<std::string, std::string>> dictionaries_;
  std::size_t elements_ = 0;
};

}  // namespace entrain::description
