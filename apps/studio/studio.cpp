#include "studio/studio.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "studio/events.hpp"
#include "studio/guard.hpp"
#include "studio/jobs.hpp"
#include "studio/page.hpp"
#include "studio/workshop.hpp"

namespace entrain::studio {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr auto kHeartbeat = 10s;     // of a stream of events without events
constexpr auto kFilePeriod = 500ms;  // between two looks at the system file

std::string dumped_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void answer(httplib::Response& response, const Json& json) {
  response.set_content(dumped_text(json), "application/json");
}

void refuse(httplib::Response& response, int status, std::string_view why) {
  response.status = status;
  answer(response, {{"error", why}});
}

RequestHead head_of(const httplib::Request& request) {
  const auto several = request.get_header_value_count("Host") > 1;
  return {request.method,
          request.path,
          request.has_param("token") ? request.get_param_value("token") : "",
          several ? "" : request.get_header_value("Host"),
          request.get_header_value("Origin"),
          request.get_header_value("Sec-Fetch-Site"),
          request.get_header_value("Cookie"),
          request.get_header_value("Content-Type")};
}

std::string policy(std::string_view nonce) {
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src data:; font-src data:; connect-src "
      "'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      nonce);
}

}  // namespace

class Studio::Impl {
 public:
  explicit Impl(const StudioOptions& options)
      : folder_(options.folder),
        events_(options.limits.streams),
        jobs_(folder_, options.program, events_),
        workshop_(folder_, {options.program, options.sandbox, options.system}, jobs_, events_),
        server_(options.limits) {
    server_.set_address_family(AF_INET);
    if (options.port == 0) {
      port_ = server_.bind_to_any_port(options.address);
    } else {
      port_ = server_.bind_to_port(options.address, options.port) ? options.port : -1;
    }
    if (port_ <= 0) throw std::runtime_error(fmt::format("cannot listen at {}:{}", options.address, options.port));
    guard_.emplace(options.address, port_);
    add_guard();
    add_routes();
    watcher_ = std::thread([this] { watch_files(); });
  }

  ~Impl() {
    end();
    watcher_.join();
  }

  int port() const { return port_; }
  std::string url() const { return fmt::format("{}/?token={}", guard_->origin(), guard_->token()); }
  void serve() {
    if (!ending_) server_.listen_after_bind();
  }
  void end() {
    ending_ = true;
    events_.end();
    server_.stop();
  }

 private:
  /// Before anything of the body is read.
  void add_guard() {
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      using Result = httplib::Server::HandlerResponse;
      response.set_header("Content-Security-Policy", policy("none"));
      response.set_header("X-Content-Type-Options", "nosniff");
      response.set_header("Referrer-Policy", "no-referrer");
      response.set_header("Cross-Origin-Resource-Policy", "same-origin");
      response.set_header("Cross-Origin-Opener-Policy", "same-origin");
      response.set_header("Cache-Control", "no-store");
      const auto decision = guard_->decide(head_of(request));
      if (decision.status != 200) {
        refuse(response, decision.status, decision.why);
        return Result::Handled;
      }
      if (decision.gives_cookie) response.set_header("Set-Cookie", guard_->cookie());
      if (request.method == "POST" && !is_bounded(request, response)) return Result::Handled;
      return Result::Unhandled;
    });
    server_.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr thrown) {
      try {
        std::rethrow_exception(std::move(thrown));
      } catch (const Refusal& refusal) {
        response.status = refusal.status;
        answer(response, refusal.answer);
      } catch (const Json::exception&) {
        refuse(response, 400, "the request is not what the page sends");
      } catch (const std::exception& error) {
        refuse(response, 500, error.what());
      } catch (...) {
        refuse(response, 500, "an exception without a message");
      }
    });
  }

  bool is_bounded(const httplib::Request& request, httplib::Response& response) const {
    const auto length = request.get_header_value("Content-Length");
    const bool is_number =
        !length.empty() && length.size() < 19 && length.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || request.has_header("Transfer-Encoding") || request.has_header("Content-Encoding")) {
      refuse(response, 411, "the length of the content is missing");
      return false;
    }
    const bool is_upload = request.path == "/api/upload";
    const auto& limits = server_.limits();
    if (std::stoull(length) <= (is_upload ? limits.upload_bytes : limits.json_bytes)) return true;
    refuse(response, 413, "the content is too large");
    return false;
  }

  void add_routes() {
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      const auto nonce = random_secret();
      response.headers.erase("Content-Security-Policy");
      response.set_header("Content-Security-Policy", policy(nonce));
      response.set_content(page_with_nonce(nonce), "text/html; charset=utf-8");
    });
    server_.Get("/api/events", [this](const httplib::Request& request, httplib::Response& response) {
      stream_events(request, response);
    });
    server_.Get("/api/(\\w+)", [this](const httplib::Request& request, httplib::Response& response) {
      Json words = Json::object();
      for (const auto& [name, value] : request.params) words[name] = value;
      respond(response, workshop_.look(request.matches[1].str(), words));
    });
    server_.Post("/api/upload", [this](const httplib::Request& request, httplib::Response& response,
                                       const httplib::ContentReader& read) {
      Upload upload = workshop_.upload(request.has_param("name") ? request.get_param_value("name") : "");
      const bool whole = read([&](const char* bytes, std::size_t size) { return upload.add(bytes, size); });
      if (!whole) throw Refusal{400, {{"error", "the file did not arrive whole, or the disk is full"}}};
      answer(response, {{"file", upload.finish()}});
    });
    server_.Post("/api/(\\w+)", [this](const httplib::Request& request, httplib::Response& response) {
      respond(response, workshop_.act(request.matches[1].str(), Json::parse(request.body)));
    });
  }

  static void respond(httplib::Response& response, const std::string& json) {
    response.set_content(json, "application/json");
  }

  /// One thread as long as the page is open.
  void stream_events(const httplib::Request& request, httplib::Response& response) {
    const std::string page = request.has_param("page") ? request.get_param_value("page").substr(0, 64) : "";
    auto queue = events_.open(page);
    if (!queue) return refuse(response, 503, "too many pages are open");
    queue->add(dumped_text({{"event", "hello"}}));
    response.set_chunked_content_provider(
        "text/event-stream",
        [queue](std::size_t, httplib::DataSink& sink) {
          const auto event = queue->next(std::chrono::duration_cast<std::chrono::milliseconds>(kHeartbeat));
          if (queue->has_ended()) {
            sink.done();
            return true;
          }
          const std::string text = event ? "data: " + *event + "\n\n" : std::string(": alive\n\n");
          return sink.write(text.data(), text.size());
        },
        [this, page, queue](bool) { events_.close(page, queue); });
  }

  void watch_files() {
    std::string known = workshop_.fingerprint();
    while (!ending_) {
      std::this_thread::sleep_for(kFilePeriod / 5);
      if (++looks_ % 5 != 0) continue;
      auto now = workshop_.fingerprint();
      if (now == known) continue;
      known = std::move(now);
      events_.send_all(dumped_text({{"event", "files"}}));
    }
  }

  Folder folder_;
  PageEvents events_;
  Jobs jobs_;
  Workshop workshop_;
  BoundedServer server_;
  std::optional<Guard> guard_;
  int port_ = -1;
  unsigned looks_ = 0;
  std::atomic<bool> ending_{false};
  std::thread watcher_;
};

Studio::Studio(const StudioOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Studio::~Studio() = default;
int Studio::port() const {
  return impl_->port();
}
std::string Studio::url() const {
  return impl_->url();
}
void Studio::serve() {
  impl_->serve();
}
void Studio::stop() {
  impl_->end();
}

}  // namespace entrain::studio
