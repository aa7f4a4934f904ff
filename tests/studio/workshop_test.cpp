// What the page asks for: the text stays the truth, and another's change is never overwritten.
#include <signal.h>
#include <sys/resource.h>

#include "client.hpp"

namespace entrain::studio {
namespace {

namespace fs = std::filesystem;

TEST_F(StudioTest, sketch_has_ports_units_connections_and_problems_with_lines) {
  const auto text = std::string(kSystem) + "\"left.nothing\" = \"right.x\"\n";
  const auto sketch = act("sketch", {{"system", "system.toml"}, {"text", text}}).json();
  ASSERT_TRUE(sketch.is_object());
  EXPECT_EQ(sketch["subsystems"][0]["name"], "left");
  EXPECT_EQ(sketch["subsystems"][0]["variables"]["inputs"][0]["name"], "F");
  EXPECT_EQ(sketch["connections"].size(), 4U);
  bool found = false;
  for (const auto& problem : sketch["problems"])
    found = found || (problem["line"] == 17 && problem["severity"] == "error");
  EXPECT_TRUE(found) << sketch["problems"].dump(1);
  EXPECT_EQ(read("open/system.toml"), kSystem);
}

TEST_F(StudioTest, subsystem_with_an_open_input_has_its_ports) {
  auto text = std::string(kSystem);
  text.erase(text.find("\"right.F\" = \"left.F\"\n"));
  const auto sketch = act("sketch", {{"system", "system.toml"}, {"text", text}}).json();
  EXPECT_FALSE(sketch["problems"].empty());
  EXPECT_EQ(sketch["subsystems"][0]["variables"]["inputs"][0]["name"], "F");
  EXPECT_EQ(sketch["subsystems"][1]["variables"]["outputs"][0]["name"], "F");
}

TEST_F(StudioTest, broken_text_is_shown_with_its_problem) {
  const auto sketch = act("sketch", {{"system", "system.toml"}, {"text", "[run]\nstop = \n"}}).json();
  EXPECT_EQ(sketch["understood"], false);
  EXPECT_EQ(sketch["problems"][0]["line"], 2);
  write("open/system.toml", "[run]\nstop = \n");
  EXPECT_EQ(get("/api/state").json()["text"], "[run]\nstop = \n");
}

TEST_F(StudioTest, edit_changes_its_line_alone_and_nothing_on_disk) {
  const auto answer = act("edit", {{"text", kSystem},
                                   {"edits",
                                    {{{"op", "connect"}, {"output", "left.v"}, {"input", "b.u"}},
                                     {{"op", "set"}, {"path", {"run", "step"}}, {"value", "0.5"}}}}})
                          .json();
  auto expected = std::string(kSystem);
  expected.replace(expected.find("step = 0.01"), 11, "step = 0.5");
  expected.replace(expected.find("\"right.v\""), 9, "[\"right.v\", \"b.u\"]");
  EXPECT_EQ(answer["text"], expected);
  EXPECT_EQ(read("open/system.toml"), kSystem);
}

TEST_F(StudioTest, save_of_an_old_text_is_refused_with_the_new_one) {
  const auto digest = get("/api/state").json()["digest"].get<std::string>();
  EXPECT_EQ(act("save", {{"system", "system.toml"}, {"text", "# one\n"}, {"digest", digest}}).status, 200);
  const auto refused = act("save", {{"system", "system.toml"}, {"text", "# two\n"}, {"digest", digest}});
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.json()["text"], "# one\n");
  EXPECT_EQ(read("open/system.toml"), "# one\n");
  const auto now = refused.json()["digest"].get<std::string>();
  EXPECT_EQ(act("save", {{"system", "system.toml"}, {"text", "# two\n"}, {"digest", now}}).status, 200);
  EXPECT_EQ(read("open/system.toml"), "# two\n");
}

TEST_F(StudioTest, layout_lies_beside_the_system) {
  EXPECT_EQ(
      act("layout", {{"system", "system.toml"}, {"layout", {{"boxes", {{"left", {{"x", 1}, {"y", 2}}}}}}}}).status,
      200);
  EXPECT_EQ(get("/api/state").json()["layout"]["boxes"]["left"]["y"], 2);
  EXPECT_TRUE(fs::exists(root_ / "open/system.layout.json"));
}

TEST_F(StudioTest, run_is_started_as_a_command_that_could_be_typed_and_leaves_its_folder) {
  const auto started = act("start", {{"verb", "run"}, {"system", "system.toml"}, {"arguments", {"--stop", "0.1"}}});
  ASSERT_EQ(started.status, 200) << started.body;
  EXPECT_EQ(started.json()["command"], "entrain run system.toml --stop 0.1");
  const auto run = started.json()["run"].get<std::string>();
  nlohmann::json state;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    state = get("/api/state").json();
  } while (!state["jobs"][0]["ended"].get<bool>());
  EXPECT_EQ(state["runs"][0]["run"], run);
  EXPECT_EQ(state["runs"][0]["termination"], "completed");
  const auto report = get("/api/report?run=" + run).json();
  EXPECT_EQ(report["kind"], "run");
  EXPECT_TRUE(report["verdict"].contains("grade"));
  EXPECT_EQ(act("note", {{"run", run}, {"text", "<b>good</b>"}}).status, 200);
  EXPECT_EQ(get("/api/state").json()["runs"][0]["note"], "<b>good</b>");
}

TEST_F(StudioTest, run_that_goes_on_is_paused_stepped_and_stopped_and_survives_the_server) {
  const auto started = act("start", {{"verb", "run"},
                                     {"system", "system.toml"},
                                     {"arguments", {"--stop", "100000", "--real-time", "1", "--no-estimate"}}});
  ASSERT_EQ(started.status, 200) << started.body;
  const auto run = started.json()["run"].get<std::string>();
  while (!fs::exists(root_ / "open" / run / "control.socket"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const RawConnection stream(studio_->port());
  stream.send("GET /api/events?page=p HTTP/1.1\r\nHost: " + host() + "\r\n" + own_headers() + "\r\n");
  EXPECT_EQ(act("watch", {{"page", "p"}, {"run", run}, {"signals", {"left.x"}}}).status, 200);
  EXPECT_NE(stream.receive("\"event\":\"sample\"").find("\"event\":\"sample\""), std::string::npos);
  const auto paused = act("control", {{"run", run}, {"command", "pause"}}).json();
  EXPECT_EQ(paused["state"], "paused");
  const auto stepped = act("control", {{"run", run}, {"command", "step"}, {"steps", 3}}).json();
  EXPECT_EQ(stepped["macro_steps"].get<int>(), paused["macro_steps"].get<int>() + 3);
  EXPECT_EQ(act("control", {{"run", run}, {"command", "set"}, {"variable", "left.nothing"}, {"value", 1}}).status, 409);
  EXPECT_EQ(act("remove", {{"run", run}}).status, 409);
  begin({});  // another server on the same folder
  EXPECT_EQ(act("control", {{"run", run}, {"command", "status"}}).json()["state"], "paused");
  EXPECT_EQ(act("control", {{"run", run}, {"command", "stop"}}).status, 200);
  while (fs::exists(root_ / "open" / run / "control.socket"))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST_F(StudioTest, advice_leaves_a_page_that_the_studio_shows) {
  const auto started = act("start", {{"verb", "advise"}, {"system", "system.toml"}});
  ASSERT_EQ(started.status, 200) << started.body;
  EXPECT_EQ(started.json()["command"], "entrain advise system.toml");
  const auto number = std::to_string(started.json()["number"].get<int>());
  EXPECT_EQ(get("/api/page?number=" + number).status, 404) << "not yet";
  nlohmann::json job;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    job = get("/api/state").json()["jobs"][0];
  } while (!job["ended"].get<bool>());
  EXPECT_EQ(job["page"], true) << job.dump(1);
  const auto page = get("/api/page?number=" + number).json();
  EXPECT_EQ(page["kind"], "advice");
  EXPECT_TRUE(page["recommendation"].contains("method"));
  EXPECT_EQ(get("/api/page?number=999").status, 404);
  EXPECT_EQ(get("/api/page?number=../1").status, 400);
}

TEST_F(StudioTest, full_disk_is_reported_and_the_old_text_stays) {
  const auto digest = get("/api/state").json()["digest"].get<std::string>();
  const auto text = std::string(kSystem) + std::string(100'000, '#') + "\n";
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{50'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto refused = act("save", {{"system", "system.toml"}, {"text", text}, {"digest", digest}});
  const auto table = post("/api/upload?name=t.csv", std::string(100'000, '1'), "application/octet-stream");
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_GE(refused.status, 500);
  EXPECT_NE(refused.json()["error"].get<std::string>().find("cannot write system.toml"), std::string::npos)
      << refused.body;
  EXPECT_EQ(read("open/system.toml"), kSystem);
  EXPECT_NE(table.status, 200) << "the connection may be closed before all was sent";
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(root_ / "open")) files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 1U) << "nothing is left of either";
  EXPECT_EQ(act("save", {{"system", "system.toml"}, {"text", text}, {"digest", digest}}).status, 200);
}

}  // namespace
}  // namespace entrain::studio
