#include "record/hdf5_plugin.hpp"

#include "base/plugin.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::recording {
namespace {

constexpr const char* kLibrary = "libentrain_hdf5.so";

struct Loaded {
  const Hdf5Plugin* calls = nullptr;
  std::string why;
};

Loaded load() {
  const auto plugin = base::load_plugin(kLibrary, kHdf5PluginEntry);
  if (plugin.entry == nullptr) return {nullptr, plugin.why};
  using Entry = const Hdf5Plugin* (*)();
  const auto* calls = reinterpret_cast<Entry>(plugin.entry)();
  if (calls->version != ENTRAIN_VERSION) return {nullptr, std::string(kLibrary) + " is of another version"};
  return {calls, {}};
}

}  // namespace

const Hdf5Plugin& hdf5_plugin(const std::filesystem::path& file) {
  static const Loaded loaded = load();
  if (loaded.calls != nullptr) return *loaded.calls;
  throw Error(ErrorCode::FileFailed,
              {FactCode::FileFailed, {file.string()}, {{"what", "use HDF5 for"}, {"why", loaded.why}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Record as csv or mat (record.format)"});
}

}  // namespace entrain::recording
