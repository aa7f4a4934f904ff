// Requests that are not of the user get nothing, and nothing leaves the opened folder.
#include "client.hpp"

namespace entrain::studio {
namespace {

namespace fs = std::filesystem;

TEST_F(StudioTest, request_without_token_or_cookie_is_refused) {
  for (const char* path : {"/", "/api/state", "/api/events?page=a", "/?token=", "/favicon.ico"}) {
    EXPECT_EQ(get(path, "").status, 403) << path;
  }
  EXPECT_EQ(request("POST /api/save",
                    "Content-Type: application/json\r\nContent-Length: 2\r\nOrigin: http://" + host() + "\r\n", "{}")
                .status,
            403);
  EXPECT_EQ(get("/api/state", "").body.find("mechanical"), std::string::npos);
}

TEST_F(StudioTest, token_opens_the_page_alone_and_cookie_the_rest) {
  const auto page = get("/?token=" + token_, "");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.head.find("HttpOnly; SameSite=Strict"), std::string::npos) << page.head;
  EXPECT_EQ(get("/api/state?token=" + token_, "").status, 403);
  EXPECT_EQ(get("/api/state").status, 200);
  EXPECT_EQ(get("/api/state").json()["text"], kSystem);
}

TEST_F(StudioTest, token_and_cookie_of_an_earlier_start_are_refused) {
  const auto old_token = token_;
  const auto old_secret = cookie_.substr(cookie_.find('=') + 1);
  begin({});
  EXPECT_EQ(get("/?token=" + old_token, "").status, 403);
  const auto name = cookie_.substr(0, cookie_.find('='));
  EXPECT_EQ(get("/api/state", "Cookie: " + name + "=" + old_secret + "\r\n").status, 403);
  EXPECT_EQ(get("/api/state", "Cookie: " + name + "=\r\n").status, 403);
  EXPECT_EQ(get("/api/state").status, 200);
}

TEST_F(StudioTest, foreign_host_is_refused_even_with_the_cookie) {
  const std::vector<std::string> others{"evil.example", "evil.example:" + std::to_string(studio_->port()), "127.0.0.1",
                                        "127.0.0.1:1", ""};
  for (const auto& other : others) {
    const RawConnection connection(studio_->port());
    connection.send("GET /api/state HTTP/1.1\r\nHost: " + other + "\r\nCookie: " + cookie_ + "\r\n\r\n");
    EXPECT_EQ(answer_of(connection.receive()).status, 403) << other;
  }
  const RawConnection two(studio_->port());
  two.send("GET /api/state HTTP/1.1\r\nHost: " + host() + "\r\nHost: evil.example\r\nCookie: " + cookie_ + "\r\n\r\n");
  EXPECT_EQ(answer_of(two.receive()).status, 403);
  const RawConnection none(studio_->port());
  none.send("GET /api/state HTTP/1.1\r\nCookie: " + cookie_ + "\r\n\r\n");
  EXPECT_EQ(answer_of(none.receive()).status, 403);
}

TEST_F(StudioTest, foreign_origin_is_refused_even_with_the_cookie) {
  const std::string cookie = "Cookie: " + cookie_ + "\r\n";
  const std::string rest = "Content-Type: application/json\r\nContent-Length: 2\r\n";
  for (const std::string origin :
       {"http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "http://127.0.0.1"}) {
    EXPECT_EQ(request("POST /api/save", cookie + rest + "Origin: " + origin + "\r\n", "{}").status, 403) << origin;
    EXPECT_EQ(get("/api/events?page=x", cookie + "Origin: " + origin + "\r\n").status, 403) << origin;
    EXPECT_EQ(get("/api/state", cookie + "Origin: " + origin + "\r\n").status, 403) << origin;
  }
  EXPECT_EQ(request("POST /api/save", cookie + rest, "{}").status, 403);  // none at all
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_EQ(get("/api/events?page=x", cookie + "Sec-Fetch-Site: " + site + "\r\n").status, 403) << site;
  }
  EXPECT_EQ(read("open/system.toml"), kSystem);
}

TEST_F(StudioTest, simple_requests_of_forms_and_other_methods_are_refused) {
  EXPECT_EQ(post("/api/save", "a=1", "application/x-www-form-urlencoded").status, 415);
  EXPECT_EQ(post("/api/save", "{}", "text/plain").status, 415);
  for (const char* method : {"PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const auto answer = request(std::string(method) + " /api/state", own_headers());
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.head.find("Access-Control"), std::string::npos);
  }
}

TEST_F(StudioTest, every_answer_has_a_strict_policy) {
  for (const auto& answer : {get("/?token=" + token_, ""), get("/api/state"), get("/nothing"), get("/", "")}) {
    EXPECT_NE(answer.head.find("default-src 'none'"), std::string::npos);
    EXPECT_EQ(answer.head.find("unsafe"), std::string::npos);
    EXPECT_NE(answer.head.find("frame-ancestors 'none'"), std::string::npos);
    EXPECT_NE(answer.head.find("nosniff"), std::string::npos);
  }
  const auto nonce = [](const RawAnswer& answer) {
    const auto from = answer.head.find("'nonce-") + 7;
    return answer.head.substr(from, answer.head.find('\'', from) - from);
  };
  const auto first = get("/");
  EXPECT_NE(first.body.find("nonce=\"" + nonce(first) + "\""), std::string::npos);
  EXPECT_NE(nonce(first), nonce(get("/")));
}

TEST_F(StudioTest, paths_outside_of_the_folder_are_refused) {
  fs::create_symlink(root_ / "secret.toml", root_ / "open/link.toml");
  fs::create_directory_symlink(root_, root_ / "open/up");
  fs::create_symlink(root_ / "new.toml", root_ / "open/dangling.toml");
  for (const std::string name : {"../secret.toml", "a/../../secret.toml", "link.toml", "up/secret.toml",
                                 "dangling.toml", "/etc/passwd", "", "..", "open\n.toml"}) {
    EXPECT_EQ(act("save", {{"system", name}, {"text", "x = 1"}, {"digest", ""}}).status, 403) << name;
    EXPECT_EQ(act("sketch", {{"system", name}, {"text", ""}}).status, 403) << name;
    EXPECT_EQ(act("layout", {{"system", name}, {"layout", nlohmann::json::object()}}).status, 403) << name;
    EXPECT_EQ(act("start", {{"verb", "run"}, {"system", name}}).status, 403) << name;
    EXPECT_EQ(act("convert", {{"from", "system.toml"}, {"to", name}}).status, 403) << name;
    EXPECT_EQ(act("remove", {{"run", name}}).status, 403) << name;
  }
  for (const char* name : {"../secret.toml", "%2e%2e%2fsecret.toml", "..%2fsecret.toml", "link.toml", "up/secret.toml",
                           "%2fetc%2fpasswd"}) {
    const auto answer = get(std::string("/api/state?system=") + name);
    EXPECT_EQ(answer.status, 403) << name;
    EXPECT_EQ(answer.body.find("secret = 1"), std::string::npos);
  }
  for (const char* path : {"/../secret.toml", "/api/../../secret.toml", "/system.toml", "//etc/passwd"})
    EXPECT_EQ(get(path).status, 404) << path;
  EXPECT_EQ(read("secret.toml"), "secret = 1\n");
  EXPECT_FALSE(fs::exists(root_ / "new.toml"));
}

TEST_F(StudioTest, only_runs_are_removed_and_none_outside) {
  fs::create_directories(root_ / "elsewhere");
  write("elsewhere/run.json", "{}");
  fs::create_directories(root_ / "open/runs/a-1");
  write("open/runs/a-1/run.json", "{}");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "open/runs/link");
  EXPECT_EQ(act("remove", {{"run", "runs/link"}}).status, 403);
  EXPECT_EQ(act("remove", {{"run", "runs"}}).status, 404);
  EXPECT_EQ(act("remove", {{"run", "."}}).status, 404);
  EXPECT_TRUE(fs::exists(root_ / "elsewhere/run.json"));
  EXPECT_EQ(act("remove", {{"run", "runs/a-1"}}).status, 200);
  EXPECT_FALSE(fs::exists(root_ / "open/runs/a-1"));
  EXPECT_TRUE(fs::exists(root_ / "open/system.toml"));
}

TEST_F(StudioTest, uploads_replace_nothing_and_have_plain_names) {
  const std::string zip = std::string("PK\3\4", 4) + "rest";
  const std::string bytes = "application/octet-stream";
  for (const char* name :
       {"../a.fmu", "a/b.fmu", "a%2fb.fmu", ".a.fmu", "-a.fmu", "a.sh", "a.toml", "", "a%0ab.fmu", "%5ca.fmu"}) {
    EXPECT_EQ(post(std::string("/api/upload?name=") + name, zip, bytes).status, 415) << name;
  }
  EXPECT_EQ(post("/api/upload?name=a.fmu", "no archive", bytes).status, 415);
  write("outside.fmu", "outside");
  fs::create_symlink(root_ / "outside.fmu", root_ / "open/b.fmu");
  EXPECT_EQ(post("/api/upload?name=b.fmu", zip, bytes).json()["file"], "b-2.fmu");
  EXPECT_EQ(read("outside.fmu"), "outside");
  EXPECT_EQ(post("/api/upload?name=a.fmu", zip, bytes).json()["file"], "a.fmu");
  EXPECT_EQ(post("/api/upload?name=a.fmu", zip + "other", bytes).json()["file"], "a-2.fmu");
  EXPECT_EQ(read("open/a.fmu"), zip);
  for (const auto& entry : fs::directory_iterator(root_ / "open"))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".upload")) << entry.path();
}

TEST_F(StudioTest, commands_get_no_option_that_reaches_outside) {
  const auto start = [&](const std::string& verb, const std::vector<std::string>& words) {
    return act("start", {{"verb", verb}, {"system", "system.toml"}, {"arguments", words}}).status;
  };
  EXPECT_EQ(start("run", {"--out", "/tmp/x"}), 403);
  EXPECT_EQ(start("run", {"--out=/tmp/x"}), 403);
  EXPECT_EQ(start("run", {"--checkpoint", "x"}), 403);
  EXPECT_EQ(start("run", {"--learned", "../secret.toml"}), 403);
  EXPECT_EQ(start("run", {"--learned", "/etc/passwd"}), 403);
  EXPECT_EQ(start("run", {"--learned=x.json"}), 403);
  EXPECT_EQ(start("advise", {"--report", "x.html"}), 403);
  EXPECT_EQ(start("run", {"other.toml"}), 403);
  EXPECT_EQ(start("run", {"--step", "0.1", "other.toml"}), 403);
  EXPECT_EQ(start("convert", {}), 403);
  EXPECT_EQ(start("studio", {}), 403);
  EXPECT_EQ(start("--help", {}), 403);
}

TEST_F(StudioTest, too_large_requests_are_refused_before_they_are_read) {
  ServerLimits limits;
  limits.json_bytes = 10'000;
  limits.upload_bytes = 20'000;
  limits.head_bytes = 8192;
  begin(limits);
  EXPECT_EQ(
      request("POST /api/edit", own_headers() + "Content-Type: application/json\r\nContent-Length: 999999999999\r\n")
          .status,
      413);
  EXPECT_EQ(request("POST /api/upload?name=a.fmu",
                    own_headers() + "Content-Type: application/octet-stream\r\nContent-Length: 20001\r\n")
                .status,
            413);
  EXPECT_EQ(
      request("POST /api/edit", own_headers() + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
              "5\r\n{\"a\":\r\n")
          .status,
      411);
  EXPECT_EQ(
      request("POST /api/edit", own_headers() + "Content-Type: application/json\r\nContent-Length: -1\r\n").status,
      411);
  EXPECT_EQ(act("edit", {{"text", std::string(9000, '#')}, {"edits", nlohmann::json::array()}}).status, 200);
  const RawConnection many(studio_->port());
  many.send("GET /api/state HTTP/1.1\r\nHost: " + host() + "\r\nCookie: " + cookie_ + "\r\n");
  for (int i = 0; i < 10'000; ++i) {
    if (!many.send("X-" + std::to_string(i) + ": aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n")) break;
  }
  EXPECT_NE(answer_of(many.receive()).status, 200);
  EXPECT_EQ(get("/api/state").status, 200);
}

TEST_F(StudioTest, slow_requests_end_at_the_deadline_of_the_whole_and_block_no_other) {
  ServerLimits limits;
  limits.patience = std::chrono::milliseconds(400);
  limits.request_threads = 2;
  begin(limits);
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int i = 0; i < 12; ++i) {
    slow.push_back(std::make_unique<RawConnection>(studio_->port()));
    ASSERT_TRUE(slow.back()->send("GET /api/state HTTP/1.1\r\n"));
  }
  // Each byte comes long before the deadline; the request never ends.
  std::size_t open = slow.size();
  while (open > 0) {
    open = 0;
    for (const auto& connection : slow) {
      if (!connection->is_closed() && connection->send("a")) ++open;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(get("/api/state").status, 200);
}

TEST_F(StudioTest, streams_of_events_leave_threads_for_requests) {
  ServerLimits limits;
  limits.streams = 3;
  limits.request_threads = 1;
  begin(limits);
  std::vector<std::unique_ptr<RawConnection>> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(std::make_unique<RawConnection>(studio_->port()));
    streams.back()->send("GET /api/events?page=" + std::to_string(i) + " HTTP/1.1\r\nHost: " + host() + "\r\n" +
                         own_headers() + "\r\n");
    EXPECT_NE(streams.back()->receive("hello").find("text/event-stream"), std::string::npos);
  }
  EXPECT_EQ(get("/api/events?page=more").status, 503);
  EXPECT_EQ(get("/api/state").status, 200);
}

TEST_F(StudioTest, connections_beyond_the_limit_are_closed) {
  ServerLimits limits;
  limits.streams = 1;
  limits.request_threads = 1;
  limits.waiting = 2;
  limits.patience = std::chrono::milliseconds(500);
  begin(limits);
  std::vector<std::unique_ptr<RawConnection>> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(std::make_unique<RawConnection>(studio_->port()));
  // All end: those beyond at once, the others at their deadline.
  for (const auto& connection : idle) EXPECT_EQ(connection->receive().find("200 OK"), std::string::npos);
  EXPECT_EQ(get("/api/state").status, 200);
}

TEST_F(StudioTest, nonsense_is_answered_by_an_error) {
  for (const char* body : {"", "{", "[]", "null", "1", R"({"system":1})", R"({"text":1,"edits":[]})",
                           R"({"text":"","edits":[{}]})", R"({"text":"","edits":[{"op":"x"}]})"}) {
    for (const char* what :
         {"save", "edit", "sketch", "start", "control", "watch", "note", "remove", "interrupt", "layout", "convert"}) {
      const auto status = post(std::string("/api/") + what, body).status;
      EXPECT_GE(status, 400) << what << " " << body;
      EXPECT_NE(status, 500) << what << " " << body;
    }
  }
  EXPECT_EQ(get("/api/nothing").status, 404);
  EXPECT_EQ(act("nothing", nlohmann::json::object()).status, 404);
  EXPECT_EQ(
      act("edit", {{"text", "[run"}, {"edits", {{{"op", "set"}, {"path", {"run", "stop"}}, {"value", "1"}}}}}).status,
      422);
  EXPECT_EQ(read("open/system.toml"), kSystem);
}

}  // namespace
}  // namespace entrain::studio
