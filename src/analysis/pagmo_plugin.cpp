#include "analysis/pagmo_plugin.hpp"

#include <string>

#include "base/plugin.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::analysis {
namespace {

constexpr const char* kLibrary = "libentrain_pagmo.so";

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::FileFailed, {FactCode::FileFailed, {kLibrary}, {{"what", "load"}, {"why", why}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Install Entrain again, with its plug-ins"});
}

const PagmoPlugin& load() {
  const auto plugin = base::load_plugin(kLibrary, kPagmoPluginEntry);
  if (plugin.entry == nullptr) refuse(plugin.why);
  using Entry = const PagmoPlugin* (*)();
  const auto* calls = reinterpret_cast<Entry>(plugin.entry)();
  if (calls->version != ENTRAIN_VERSION) refuse("it is of another version");
  return *calls;
}

}  // namespace

const PagmoPlugin& pagmo_plugin() {
  static const PagmoPlugin& loaded = load();
  return loaded;
}

}  // namespace entrain::analysis
