#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "studio/studio.hpp"
#include "support/places.hpp"

namespace entrain::studio {

/// A connection as an attacker makes it: bytes, not requests.
class RawConnection {
 public:
  explicit RawConnection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~RawConnection() { ::close(socket_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  bool connected() const { return connected_; }
  /// False when the other side has closed.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// Up to the end, or until `enough` stands in it.
  std::string receive(std::string_view enough = {}) const {
    std::string text;
    std::array<char, 65536> part{};
    for (;;) {
      const auto count = ::recv(socket_, part.data(), part.size(), 0);
      if (count <= 0) return text;
      text.append(part.data(), static_cast<std::size_t>(count));
      if (!enough.empty() && text.find(enough) != std::string::npos) return text;
    }
  }
  /// Whether the other side has closed, without waiting.
  bool is_closed() const {
    char byte = 0;
    const auto count = ::recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  }

 private:
  int socket_;
  bool connected_ = false;
};

struct RawAnswer {
  int status = 0;
  std::string head;
  std::string body;
  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
};

inline RawAnswer answer_of(const std::string& text) {
  RawAnswer answer;
  if (text.size() > 12) answer.status = std::atoi(text.c_str() + 9);
  const auto end = text.find("\r\n\r\n");
  answer.head = text.substr(0, end);
  if (end != std::string::npos) answer.body = text.substr(end + 4);
  return answer;
}

/// A studio in a folder of its own, and a client that has its cookie.
class StudioTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "entrain-studio-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = std::filesystem::canonical(pattern);
    std::filesystem::create_directory(root_ / "open");
    write("open/system.toml", kSystem);
    write("secret.toml", "secret = 1\n");
    begin({});
  }
  void TearDown() override {
    end();
    std::filesystem::remove_all(root_);
  }

  void begin(const ServerLimits& limits) {
    end();
    StudioOptions options;
    options.folder = root_ / "open";
    options.program = test::program();
    options.limits = limits;
    studio_ = std::make_unique<Studio>(options);
    thread_ = std::thread([this] { studio_->serve(); });
    const auto url = studio_->url();
    token_ = url.substr(url.find("token=") + 6);
    const auto head = get("/?token=" + token_, "").head;
    const auto from = head.find("Set-Cookie: ");
    ASSERT_NE(from, std::string::npos) << head;
    cookie_ = head.substr(from + 12, head.find(';', from) - from - 12);
  }
  void end() {
    if (!studio_) return;
    studio_->stop();
    thread_.join();
    studio_.reset();
  }

  std::string host() const { return "127.0.0.1:" + std::to_string(studio_->port()); }
  std::string own_headers() const { return "Cookie: " + cookie_ + "\r\nOrigin: http://" + host() + "\r\n"; }

  RawAnswer request(const std::string& line, const std::string& headers, const std::string& body = {}) const {
    const RawConnection connection(studio_->port());
    connection.send(line + " HTTP/1.1\r\nHost: " + host() + "\r\n" + headers + "\r\n" + body);
    return answer_of(connection.receive());
  }
  RawAnswer get(const std::string& path, const std::string& headers) const { return request("GET " + path, headers); }
  RawAnswer get(const std::string& path) const { return get(path, own_headers()); }
  RawAnswer post(const std::string& path, const std::string& body, const std::string& type = "application/json") const {
    return request(
        "POST " + path,
        own_headers() + "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n", body);
  }
  RawAnswer act(const std::string& what, const nlohmann::json& words) const {
    return post("/api/" + what, words.dump());
  }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(root_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  static constexpr std::string_view kSystem =
      "# a comment\n[run]\nstop = 1.0\nstep = 0.01\nmethod = \"jacobi\"\n\n[subsystems.left]\nmodel = "
      "\"mechanical.left\"\n\n"
      "[subsystems.right]\nmodel = \"mechanical.right\"\n\n[connections]\n\"left.v\" = \"right.v\"\n\"left.x\" = "
      "\"right.x\"\n\"right.F\" = \"left.F\"\n";
  std::filesystem::path root_;
  std::unique_ptr<Studio> studio_;
  std::thread thread_;
  std::string token_;
  std::string cookie_;
};

}  // namespace entrain::studio
