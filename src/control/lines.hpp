#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace entrain::control {

/// Cuts a stream of bytes into lines.
class LineBuffer {
 public:
  static constexpr std::size_t kLongest = 65536;

  void add(std::string_view bytes) { text_.append(bytes); }
  /// Without its end.
  std::optional<std::string> take() {
    const auto end = text_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }
  bool has_line() const { return text_.find('\n') != std::string::npos; }
  /// No line is as long: the other side does not keep to the protocol.
  bool is_too_long() const { return text_.size() > kLongest && text_.find('\n') == std::string::npos; }

 private:
  std::string text_;
};

}  // namespace entrain::control
