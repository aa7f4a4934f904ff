// Parts outside: over UDP and shared memory a rig that is played gives the same bits as its model in the process, and
// what goes wrong on the way is counted, never guessed.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "description/subsystem_keys.hpp"
#include "entrain/report.hpp"
#include "entrain/run.hpp"
#include "outside/datagram.hpp"
#include "outside/link.hpp"
#include "support/bench.hpp"
#include "support/facts.hpp"
#include "support/json_schema.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace outside_test {

using outside::DatagramKind;
using test::bench_text;
using test::kPatient;

struct Rows : Observer {
  void communicated(const Sample& sample, const RunSummary&) override {
    auto& row = values.emplace_back(sample.values.begin(), sample.values.end());
    for (double& value : row) value = std::isnan(value) ? -1e300 : value;  // what is not known is equal to itself
  }
  std::vector<std::vector<double>> values;
};

/// Of a run to its end: the course of one signal.
std::vector<double> course_of(const SystemDescription& description, const std::string& name) {
  Simulation simulation(description);
  Rows rows;
  simulation.observe(rows);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  const auto& signals = simulation.signals();
  const auto place = std::find_if(signals.begin(), signals.end(), [&](const auto& of) { return of.name == name; });
  std::vector<double> course;
  for (const auto& row : rows.values) course.push_back(row[static_cast<std::size_t>(place - signals.begin())]);
  return course;
}

/// As bits: what is not read is NaN, which equals nothing.
std::vector<std::vector<std::uint64_t>> rows_of(const SystemDescription& description, RunSummary* summary = nullptr) {
  Rows rows;
  {
    Simulation simulation(description);
    simulation.observe(rows);
    const auto& ended = simulation.run();
    EXPECT_EQ(ended.termination, Termination::Completed) << ended.message;
    if (summary != nullptr) *summary = ended;
  }
  std::vector<std::vector<std::uint64_t>> bits;
  for (const auto& row : rows.values) {
    std::transform(row.begin(), row.end(), std::back_inserter(bits.emplace_back()),
                   [](double value) { return std::bit_cast<std::uint64_t>(value); });
  }
  return bits;
}

class PartOutsideOver : public testing::TestWithParam<std::string (*)(const std::string&)> {};

TEST_P(PartOutsideOver, gives_the_bits_of_its_model_in_the_process) {
  const auto description = test::system_from(bench_text(GetParam()(kPatient)));
  test::RigInThread rig(description);
  RunSummary summary;
  const auto outside = rows_of(description, &summary);
  EXPECT_EQ(outside, rows_of(with_stand_ins(description)));
  EXPECT_EQ(outside.size(), 101U);
  const auto& counted = *summary.subsystems[1].datagrams;
  EXPECT_EQ(counted.lost + counted.late + counted.held + counted.invalid, 0U);
  const auto report = rig.report();
  EXPECT_EQ(report.runs, 1U);
  EXPECT_EQ(report.sent, counted.received);
  EXPECT_EQ(report.received, counted.sent + 1);  // and the end, sent when the subsystem is destroyed
  EXPECT_EQ(report.gaps, 0U);
}

TEST_P(PartOutsideOver, serves_one_run_after_the_other) {
  const auto description = test::system_from(bench_text(GetParam()(kPatient)));
  RigOptions options;
  options.runs = 2;
  test::RigInThread rig(description, options);
  const auto first = rows_of(description);
  EXPECT_EQ(rows_of(description), first);
  EXPECT_EQ(rig.report().runs, 2U);
}

INSTANTIATE_TEST_SUITE_P(Links, PartOutsideOver, testing::Values(test::udp_link, test::shm_link),
                         [](const auto& link) { return std::string(link.index == 0 ? "udp" : "shm"); });

TEST(PartOutside, counts_every_answer_that_the_rig_withholds_or_doubles) {
  auto description =
      test::system_from(bench_text(test::udp_link("timeout = 30.0, wait = 0.02"), "stop = 2.0\nstep = 0.01"));
  RigOptions options;
  options.loss = 0.1;
  options.doubled = 0.1;
  test::RigInThread rig(description, options);
  RunSummary summary;
  rows_of(description, &summary);
  const auto& counted = *summary.subsystems[1].datagrams;
  const auto report = rig.report();
  EXPECT_GT(report.withheld, 5U);
  EXPECT_GT(counted.doubled, 5U);
  // All that the rig sent arrived, and what it did not send is missing, but for losses behind the last arrival.
  EXPECT_LE(counted.received, report.sent);
  EXPECT_GE(counted.received + 3, report.sent);
  EXPECT_LE(counted.lost, report.withheld);
  EXPECT_GE(counted.lost + 3, report.withheld);
  EXPECT_GT(counted.held, 0U);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::RigDisturbed, "lost", "right"),
            static_cast<double>(counted.lost));
}

TEST(PartOutside, is_graded_unknown_and_counted_in_run_json) {
  const test::TemporaryFolder folder;
  const auto description = test::system_from(bench_text(test::udp_link(kPatient)));
  test::RigInThread rig(description);
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = run(description, options);
  ASSERT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
  EXPECT_EQ(result.verdict.grade, Grade::Unknown);
  EXPECT_TRUE(test::has_fact(result.verdict.reasons, FactCode::EstimatePartOutside, "right"));
  const auto json = nlohmann::json::parse(test::text_of(folder / "out/run.json"));
  EXPECT_EQ(json["subsystems"]["right"]["datagrams"]["lost"], 0);
  const test::JsonSchema schema(
      nlohmann::json::parse(test::text_of(test::examples_folder() + "/../docs/run.schema.json")));
  EXPECT_EQ(schema.faults(json), std::vector<std::string>{});
}

TEST(PartOutside, is_never_run_again_by_verbs_that_make_several_runs) {
  const auto description = test::system_from(bench_text(test::udp_link()));
  const auto code = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.fact().code;
    }
    return FactCode::Custom;
  };
  EXPECT_EQ(code([&] { verify(description); }), FactCode::PartOutsideRepeated);
  EXPECT_EQ(code([&] { advise(description); }), FactCode::PartOutsideRepeated);
}

TEST(PartOutside, that_is_silent_ends_the_run) {
  const auto description = test::system_from(bench_text(test::udp_link("timeout = 0.2")));
  Simulation simulation(description);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(summary.failure->fact().code, FactCode::RigSilent);
  EXPECT_EQ(summary.failure->context().subsystem, "right");
}

/// The other side as a script: what it answers to the k-th step datagram.
class ScriptedRig {
 public:
  using Answer = std::function<void(ScriptedRig&, const outside::DatagramHead&, std::size_t step)>;
  ScriptedRig(const SystemDescription& description, Answer answer)
      : link_(outside::open_link(description::outside_of(description.subsystems[1]).value, outside::LinkEnd::Rig)),
        thread_([this, answer = std::move(answer)] { work(answer); }) {}
  ~ScriptedRig() {
    over_ = true;
    thread_.join();
  }
  ScriptedRig(const ScriptedRig&) = delete;
  ScriptedRig& operator=(const ScriptedRig&) = delete;

  void send(const outside::DatagramHead& to, std::uint64_t sequence, double x, Time time) {
    outside::DatagramHead head;
    head.kind = to.kind == DatagramKind::Begin ? DatagramKind::Ready : DatagramKind::Outputs;
    head.sequence = begins_ - 1 + sequence;
    head.answers = to.sequence;
    head.run = to.run;
    head.time = time;
    const std::vector<double> values{x, 0.0};
    std::vector<std::byte> bytes(sizeof(head) + values.size() * sizeof(double));
    link_->send(outside::write_datagram(head, values, bytes));
  }
  void send_bytes(const std::string& text) { link_->send(std::as_bytes(std::span(text))); }
  std::vector<outside::DatagramHead> asked;  ///< of the steps

 private:
  void work(const Answer& answer) {
    while (!over_) {
      const auto bytes = link_->receive(outside::instant_after(outside::instant_now(), 0.01));
      if (bytes.empty()) continue;
      const auto datagram = outside::parse_datagram(bytes);
      if (!datagram) continue;
      if (datagram->head.kind == DatagramKind::Begin) {  // more than one, where the start is solved for
        ++begins_;
        send(datagram->head, 1, 0.0, datagram->head.time);
      }
      if (datagram->head.kind != DatagramKind::Step) continue;
      asked.push_back(datagram->head);
      answer(*this, datagram->head, asked.size() - 1);
    }
  }

  std::unique_ptr<outside::Link> link_;
  std::uint64_t begins_ = 0;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// right.x of every row, and what was counted.
struct Scripted {
  std::vector<double> x;
  DatagramCounters counted;
};
Scripted scripted_run(const std::string& link, const ScriptedRig::Answer& answer) {
  const auto description = test::system_from(bench_text(link, "stop = 0.05\nstep = 0.01"));
  ScriptedRig rig(description, answer);
  Simulation simulation(description);
  Rows rows;
  simulation.observe(rows);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  const auto& signals = simulation.signals();
  const auto place = std::find_if(signals.begin(), signals.end(), [](const auto& of) { return of.name == "right.x"; });
  Scripted result;
  for (const auto& row : rows.values) result.x.push_back(row[static_cast<std::size_t>(place - signals.begin())]);
  result.counted = *summary.subsystems[1].datagrams;
  return result;
}

TEST(PartOutside, holds_its_outputs_where_an_answer_is_lost) {
  const auto result =
      scripted_run(test::udp_link("timeout = 30.0, wait = 1.0"), [](auto& rig, const auto& head, auto k) {
        if (k != 2) rig.send(head, k + 2, static_cast<double>(k + 1), head.time + head.step);
      });
  EXPECT_EQ(result.x, (std::vector<double>{0, 1, 2, 2, 4, 5}));
  EXPECT_EQ(result.counted.held, 1U);
  EXPECT_EQ(result.counted.lost, 1U);
  EXPECT_EQ(result.counted.late, 0U);
}

TEST(PartOutside, is_extrapolated_where_that_is_asked_for) {
  const auto result = scripted_run(test::udp_link("timeout = 30.0, wait = 1.0, missing = \"extrapolate\""),
                                   [](auto& rig, const auto& head, auto k) {
                                     if (k != 2)
                                       rig.send(head, k + 2, 2.0 * static_cast<double>(k + 1), head.time + head.step);
                                   });
  ASSERT_EQ(result.x.size(), 6U);
  EXPECT_NEAR(result.x[3], 6.0, 1e-12);
  EXPECT_EQ(result.counted.held, 1U);
}

TEST(PartOutside, counts_late_doubled_reordered_and_strange_datagrams) {
  const auto result = scripted_run(test::udp_link("timeout = 30.0, wait = 1.0"), [](auto& rig, const auto& head,
                                                                                    auto k) {
    const Time end = head.time + head.step;
    if (k == 0) rig.send_bytes("what is this?");
    if (k == 1) {
      rig.send(head, 3, 2.0, end);
      rig.send(head, 3, 2.0, end);  // doubled: seen in the next step
      return;
    }
    if (k == 2) return;  // answered with the next step: late, and it overtook
    if (k == 3) {
      rig.send(rig.asked[2], 5, 99.0, rig.asked[2].time + head.step);
      rig.send(rig.asked[1], 4, 98.0, rig.asked[1].time);  // sent before it: reordered, late, older than what is known
    }
    rig.send(head, k == 0 ? 2 : k + 3, static_cast<double>(k + 1), end);
  });
  EXPECT_EQ(result.x, (std::vector<double>{0, 1, 2, 2, 4, 5}));
  EXPECT_EQ(result.counted.invalid, 1U);
  EXPECT_EQ(result.counted.doubled, 1U);
  EXPECT_EQ(result.counted.late, 2U);
  EXPECT_EQ(result.counted.reordered, 1U);
  EXPECT_EQ(result.counted.lost, 0U);
  EXPECT_EQ(result.counted.held, 1U);
}

TEST(PartOutside, with_other_ports_is_refused_by_their_numbers) {
  const auto description = test::system_from(bench_text(test::udp_link(kPatient)));
  auto other = description;
  other.subsystems[1].udp->value.outputs = {{{"x [m]", {}}}};
  other.connections.pop_back();
  other.subsystems[0].start["v"] = {Value(0.0), {}};
  test::RigInThread rig(description);
  Simulation simulation(other);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(summary.failure->fact().code, FactCode::RigRefused);
}

TEST(PartOutside, is_not_disturbed_by_datagrams_from_elsewhere) {
  const auto description = test::system_from(bench_text(test::udp_link(kPatient), "stop = 20.0\nstep = 0.01"));
  test::RigInThread rig(description);
  const auto expected = rows_of(with_stand_ins(description));
  const auto target = description.subsystems[1].udp->value.local.value.substr(1);
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> sent{0};
  std::thread flood([&] {
    const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(target)));
    // Such as would be believed, if it came from the rig.
    outside::DatagramHead head;
    head.kind = DatagramKind::Outputs;
    head.sequence = 1'000'000;
    const std::vector<double> values{1e9, 1e9};
    std::vector<std::byte> bytes(sizeof(head) + 2 * sizeof(double));
    outside::write_datagram(head, values, bytes);
    while (!over) {
      if (::sendto(descriptor, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&address),
                   sizeof(address)) > 0)
        ++sent;
    }
    ::close(descriptor);
  });
  while (sent == 0) std::this_thread::yield();
  RunSummary summary;
  const auto rows = rows_of(description, &summary);
  over = true;
  flood.join();
  EXPECT_EQ(rows, expected);
  const auto& counted = *summary.subsystems[1].datagrams;
  EXPECT_GT(counted.foreign, 0U);
  EXPECT_LE(counted.foreign, sent);
  EXPECT_EQ(counted.invalid, 0U);
}

TEST(PartOutside, whose_address_is_taken_fails_with_the_reason) {
  const auto description = test::system_from(bench_text(test::udp_link(kPatient)));
  const auto taken = outside::open_link(description.subsystems[1].udp->value, outside::LinkEnd::Run);
  Simulation simulation(description);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(summary.failure->fact().code, FactCode::RigLinkFailed);
  const auto shared = test::system_from(bench_text(test::shm_link(kPatient)));
  const auto first = outside::open_link(shared.subsystems[1].shm->value, outside::LinkEnd::Run);
  EXPECT_THROW(outside::open_link(shared.subsystems[1].shm->value, outside::LinkEnd::Run), Error);
  const auto rig = outside::open_link(shared.subsystems[1].shm->value, outside::LinkEnd::Rig);  // removes it at its end
}

TEST(Rig, answers_like_a_physical_one_with_the_outputs_at_the_beginning) {
  const auto description = test::system_from(bench_text(test::udp_link(kPatient)));
  RigOptions options;
  options.answer = RigAnswer::Begin;
  test::RigInThread rig(description, options);
  const auto x = course_of(description, "right.x");
  // The output of a step is that of its beginning: the first step shows the start again.
  EXPECT_EQ(x[1], x[0]);
  EXPECT_NE(x[2], x[1]);
}

TEST(Rig, lets_inputs_act_later_by_its_actuator) {
  // A force of 1 N from t = 0 on, a mass of 2 kg without springs: x = (t - delay)^2 / 4.
  const auto text = [](const std::string& link) {
    return fmt::format(R"(
[run]
stop = 1.0
step = 0.01
[subsystems.right]
model = "oscillator.motion_side"
{}
start = {{ m2 = 2.0, c2 = 0.0, d2 = 0.0, x = 0.0, v = 0.0 }}
[subsystems.force]
csv = "force.csv"
[connections]
"force.F" = "right.F"
)",
                       link);
  };
  const test::TemporaryFolder folder;
  test::write_text(folder / "force.csv", "time,F [N]\n0,0\n0.1,1\n2,1\n");
  const auto end = [&](const RigOptions& options) {
    const auto description = test::system_in(folder, text(test::udp_link(kPatient)));
    test::RigInThread rig(description, options);
    Simulation simulation(description);
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    return simulation.value("right.x");
  };
  RigOptions late;
  late.actuator_delay = 0.105;  // inside a step
  const double direct = end({});
  const double delayed = end(late);
  // Held inputs of Jacobi: the force acts from the step after its change on, at 0.1 s or one step later.
  const double begins = 1.0 - 2.0 * std::sqrt(direct);
  EXPECT_NEAR(begins, 0.1, 0.011);
  EXPECT_NEAR(1.0 - 2.0 * std::sqrt(delayed), begins + 0.105, 1e-9);
  RigOptions slow;
  slow.actuator_lag = 0.05;
  // x'' = (1 - e^(-s/T)) / 2: x = s^2/4 - T s/2 + T^2/2 (1 - e^(-s/T)).
  const double s = 1.0 - begins;
  const double exact = s * s / 4 - 0.05 * s / 2 + 0.05 * 0.05 / 2 * (1 - std::exp(-s / 0.05));
  EXPECT_NEAR(end(slow), exact, 2e-5);  // the mean over steps of 0.01 s
}

TEST(Rig, that_cannot_be_played_is_refused) {
  const auto code = [](const SystemDescription& description, const std::string& name) {
    try {
      play_rig(description, name);
    } catch (const Error& error) {
      return error.fact().code;
    }
    return FactCode::Custom;
  };
  auto description =
      test::system_from(bench_text(test::udp_link("inputs = [\"F [N]\"], outputs = [\"x [m]\", \"v [m/s]\"]")));
  EXPECT_EQ(code(description, "left"), FactCode::RigNotOutside);
  EXPECT_EQ(code(description, "rigth"), FactCode::UnknownSubsystem);
  description.subsystems[1].model.clear();
  EXPECT_EQ(code(description, "right"), FactCode::RigNoStandIn);
  EXPECT_THROW(with_stand_ins(description), Error);
}

TEST(OutsideKeys, are_read_written_and_read_back) {
  const auto text = bench_text(
      "udp = { local = \"9001\", remote = \"[::1]:9002\", inputs = [\"F [N]\"], outputs = [\"x [m]\", \"v\"], step = "
      "0.01, "
      "timeout = 2.0, wait = 0.0, missing = \"extrapolate\" }");
  const auto description = test::system_from(text);
  const auto again = test::system_from(system_text(description));
  EXPECT_EQ(system_text(again), system_text(description));
  const auto& udp = again.subsystems[1].udp->value;
  EXPECT_EQ(udp.remote.value, "[::1]:9002");
  EXPECT_EQ(udp.outputs->at(1).value, "v");
  EXPECT_EQ(udp.wait->value, 0.0);
  EXPECT_EQ(udp.missing->value, MissingOutputs::Extrapolate);
}

TEST(OutsideKeys, that_are_wrong_are_all_reported) {
  const auto problems = [](const std::string& link, const std::string& model = "") {
    std::vector<Problem> found;
    description::parse_system("[run]\nstop = 1.0\n[subsystems.s]\n" + model + link + "\n", "test.toml", found);
    std::vector<FactCode> codes;
    for (const auto& problem : found) codes.push_back(problem.fact.code);
    return codes;
  };
  using Codes = std::vector<FactCode>;
  const std::string ends = "local = \"1\", remote = \"2\", step = 0.1";
  const std::string ports = ", inputs = [\"u\"]";
  EXPECT_EQ(problems("udp = { " + ends + ports + " }"), Codes{});
  EXPECT_EQ(problems("udp = { " + ends + " }"), Codes{FactCode::RigPortsMissing});
  EXPECT_EQ(problems("udp = { " + ends + " }", "model = \"chain.mass\"\n"), Codes{});
  EXPECT_EQ(problems("udp = { local = \"rig.example.org:1\", remote = \"0\", step = 0.1" + ports + " }"),
            (Codes{FactCode::AddressWrong, FactCode::AddressWrong}));
  EXPECT_EQ(problems("udp = { local = \"1\", remote = \"2\"" + ports + " }"), Codes{FactCode::RigStepMissing});
  EXPECT_EQ(problems("udp = { " + ends + ", inputs = [\"F [N\", \"\", \"a\", \"a [m]\"] }"),
            (Codes{FactCode::RigPortWrong, FactCode::RigPortWrong, FactCode::RigPortWrong}));
  EXPECT_EQ(problems("udp = { " + ends + ports + ", timeout = 0.0, wait = -1.0 }"),
            (Codes{FactCode::OutOfRange, FactCode::OutOfRange}));
  EXPECT_EQ(problems("udp = { " + ends + ports + ", name = \"x\" }"), Codes{FactCode::UnknownKey});
  EXPECT_EQ(problems("udp = \"127.0.0.1:9001\""), Codes{FactCode::WrongType});
  EXPECT_EQ(problems("shm = { name = \"../x\", step = 0.1" + ports + " }"), Codes{FactCode::AddressWrong});
  EXPECT_EQ(problems("shm = { step = 0.1" + ports + " }"), Codes{FactCode::AddressWrong});
  EXPECT_EQ(problems("udp = { " + ends + ports + " }\nshm = { name = \"x\", step = 0.1" + ports + " }"),
            Codes{FactCode::TwoPartsOutside});
  EXPECT_EQ(problems("isolate = true\nudp = { " + ends + ports + " }"), Codes{FactCode::RigKeyWrong});
}

}  // namespace outside_test
}  // namespace entrain
