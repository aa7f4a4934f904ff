#pragma once

#include <map>
#include <string>
#include <string_view>

namespace entrain::studio {

/// What decides whether a request is answered.
struct RequestHead {
  std::string method;
  std::string path;
  std::string token;  ///< of the address; empty = none
  std::string host;
  std::string origin;      ///< empty = none
  std::string fetch_site;  ///< Sec-Fetch-Site; empty = none
  std::string cookie;      ///< the whole header
  std::string content_type;
};

/// 200 = let in; else the status of the refusal and why.
struct GuardDecision {
  int status = 200;
  std::string_view why = {};
  bool gives_cookie = false;  ///< it came with the token of the printed address
};

/// Lets in requests with the token of this start of the server, and those of pages that got the cookie for it; only
/// from pages of this server itself, asked for by the name of this server: a page of another site has another Origin,
/// and a name that was bound to this address (DNS rebinding) is another Host.
class Guard {
 public:
  /// `address`: as it stands in the printed URL, "127.0.0.1".
  Guard(std::string address, int port);

  GuardDecision decide(const RequestHead& head) const;
  const std::string& token() const { return token_; }
  /// The value of Set-Cookie.
  std::string cookie() const;
  std::string origin() const;

 private:
  bool is_own_host(std::string_view host) const;
  bool has_cookie(std::string_view header) const;

  std::string address_;
  int port_;
  std::string token_;
  std::string session_;
};

/// 256 random bits as hexadecimal digits.
std::string random_secret();

/// In a time that does not depend on where the texts differ.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace entrain::studio
