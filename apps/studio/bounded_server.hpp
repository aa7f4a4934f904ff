#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>

namespace entrain::studio {

/// What a client may take up. Defaults fit one person with a few pages.
struct ServerLimits {
  std::size_t streams = 16;                          ///< of events, one per page; each holds a thread
  std::size_t request_threads = 8;                   ///< beside those of the streams
  std::size_t waiting = 64;                          ///< connections; more are closed at once
  std::size_t head_bytes = 32U << 10U;               ///< of the request line and all headers
  std::size_t json_bytes = 16U << 20U;               ///< of a body that is kept in memory
  std::size_t upload_bytes = std::size_t{2} << 30U;  ///< of a body that goes to the disk
  std::chrono::milliseconds patience{15'000};        ///< for a whole request, and for each write
  std::size_t slowest_rate = 100'000;                ///< bytes/s by which a long body prolongs it
};

/// A server of cpp-httplib with limits that it does not have itself: a deadline for the whole request rather than for
/// each read, a size for all headers together, a number of connections. One request per connection.
class BoundedServer : public httplib::Server {
 public:
  explicit BoundedServer(const ServerLimits& limits);

  const ServerLimits& limits() const { return limits_; }

 private:
  bool process_and_close_socket(socket_t socket) override;

  ServerLimits limits_;
};

}  // namespace entrain::studio
