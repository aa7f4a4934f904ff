#include "subsystem/fmi/live_environments.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace entrain::subsystem {
namespace {

/// Never destroyed: an FMU in a static object may log as long as the process lives.
struct KnownEnvironments {
  static KnownEnvironments& instance() {
    static auto* known = new KnownEnvironments;
    return *known;
  }
  std::shared_mutex mutex;
  std::map<const void*, const LiveEnvironment*> by_address;
};

}  // namespace

LiveEnvironment::LiveEnvironment(void* address, FmuLog& log, const FmuDescription& description)
    : address_(address), log_(log), description_(description) {
  auto& known = KnownEnvironments::instance();
  const std::unique_lock lock(known.mutex);
  known.by_address[address_] = this;
}

LiveEnvironment::~LiveEnvironment() {
  auto& known = KnownEnvironments::instance();
  const std::unique_lock lock(known.mutex);
  known.by_address.erase(address_);
}

LiveEnvironments::Use::Use(const void* address) : lock_(KnownEnvironments::instance().mutex) {
  const auto& all = KnownEnvironments::instance().by_address;
  auto place = all.find(address);
  if (place == all.end()) {
    const base::ForeignCode* inside = base::ForeignCode::current();
    place = std::find_if(all.begin(), all.end(),
                         [&](const auto& entry) { return inside != nullptr && &entry.second->log().code() == inside; });
  }
  if (place != all.end()) found_ = place->second;
}

}  // namespace entrain::subsystem
