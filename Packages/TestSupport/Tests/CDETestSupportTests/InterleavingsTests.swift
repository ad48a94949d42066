import CDETestSupport
import CDETesting
import Foundation
import Testing

@Suite("Interleavings of scripts")
struct InterleavingsTests {
  @Test(
    "All orders are there, once each, and their number is the multinomial coefficient",
    arguments: [
      ([:], 1), (["A": 0], 1), (["A": 3], 1), (["A": 1, "B": 1], 2), (["A": 2, "B": 2], 6),
      (["A": 3, "B": 3], 20), (["A": 1, "B": 1, "C": 1, "D": 1], 24), (["A": 2, "B": 2, "C": 2], 90),
      (["A": 3, "B": 3, "C": 3], 1_680), (["A": 1, "B": 0, "C": 4], 5),
    ] as [([String: Int], Int)])
  func counts(steps: [String: Int], expected: Int) throws {
    let all = try Interleavings(steps)
    #expect(all.count == expected)
    #expect(Interleavings.count(of: steps) == expected)
    #expect(Set(all).count == expected)
    #expect(all.seed == nil)
    for schedule in all {
      #expect(schedule.steps.count == steps.values.reduce(0, +))
      for (name, count) in steps {
        #expect(schedule.steps.filter { $0.hasPrefix(name) } == (0..<count).map { "\(name)\($0 + 1)" })
      }
    }
  }

  @Test("They come in the order of the scripts' names")
  func order() throws {
    let all = try Interleavings(["B": 2, "A": 1]).map(\.description)
    #expect(all == ["A1 B1 B2", "B1 A1 B2", "B1 B2 A1"])
  }

  @Test("Numbers that an Int can't hold are none")
  func overflow() {
    // 67! / (33! 34!) is above 2^63, 66! / (33! 33!) below.
    #expect(Interleavings.count(of: ["A": 33, "B": 33]) == 7_219_428_434_016_265_740)
    #expect(Interleavings.count(of: ["A": 33, "B": 34]) == nil)
    #expect(Interleavings.count(of: ["A": .max, "B": 1]) == nil)
    #expect(Interleavings.count(of: ["A": .max]) == 1)
    #expect(Interleavings.count(of: ["A": 200, "B": 200, "C": 200]) == nil)
  }

  @Test("Too many are an error that says how many, and what to do")
  func tooMany() throws {
    let error = #expect(throws: TestSupportError.self) {
      try Interleavings(["A": 3, "B": 3, "C": 3], limit: 1_679)
    }
    #expect(error?.code == .tooManyInterleavings)
    #expect(error?.message.contains("1680") == true)
    #expect(error?.message.contains("Draw a sample") == true)
    #expect(try Interleavings(["A": 3, "B": 3, "C": 3], limit: 1_680).count == 1_680)
    #expect(throws: TestSupportError.self) { try Interleavings(["A": 200, "B": 200]) }
  }

  @Test("A sample is decided by its seed, holds no schedule twice, and is everything if it can be")
  func sample() throws {
    let steps = ["A": 4, "B": 4, "C": 4]
    let one = try Interleavings(steps, drawing: 100, seed: 7)
    #expect(one.count == 100 && Set(one).count == 100)
    #expect(one.seed == 7)
    #expect(Array(one) == Array(try Interleavings(steps, drawing: 100, seed: 7)))
    #expect(Array(one) != Array(try Interleavings(steps, drawing: 100, seed: 8)))
    // Drawn again by the seed that a drawing without one tells.
    let free = try Interleavings(steps, drawing: 10)
    let seed = try #require(free.seed)
    #expect(Array(free) == Array(try Interleavings(steps, drawing: 10, seed: seed)))
    let whole = try Interleavings(["A": 2, "B": 2], drawing: 6)
    #expect(Array(whole) == Array(try Interleavings(["A": 2, "B": 2])))
    #expect(whole.seed == nil)
    // One fewer than there are: the last ones are found as well.
    #expect(Set(try Interleavings(["A": 2, "B": 2], drawing: 5, seed: 1)).count == 5)
    #expect(try Interleavings(["A": 60, "B": 60], drawing: 3, seed: 1).count == 3)
    // A test of no schedules would pass whatever it says.
    for none in [0, -1] {
      let error = #expect(throws: TestSupportError.self) { try Interleavings(steps, drawing: none) }
      #expect(error?.code == .invalidScripts)
    }
  }

  @Test("A drawing without a seed prints one, which the environment brings back")
  func environment() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      setenv("CDE_SEED", "12345", 1)
      let steps = ["A": 3, "B": 3]
      guard
        Array(try Interleavings(steps, drawing: 5))
          == Array(try Interleavings(steps, drawing: 5, seed: 12_345))
      else { fatalError("Another sample was drawn.") }
      // An exit test's process ends without a look at what stands in the buffer.
      fflush(nil)
    }
    let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(text.contains("interleavings: 5 of 20 drawn with CDE_SEED=12345\n"))
  }

  @Test("Every schedule is as likely as any other in a sample")
  func uniform() throws {
    var counts: [TestSchedule: Int] = [:]
    for seed in 0..<3_000 {
      for schedule in try Interleavings(["A": 3, "B": 1], drawing: 1, seed: UInt64(seed)) {
        counts[schedule, default: 0] += 1
      }
    }
    // 750 each on average; the seeds are fixed, so this holds or does not.
    #expect(counts.count == 4)
    #expect(counts.values.allSatisfy { (650...850).contains($0) }, "\(counts)")
  }

  @Test(
    "Names and numbers that no schedule could write are errors",
    arguments: [["": 1], ["A1": 1], ["A B": 1], ["A\n": 1], ["A": -1], ["A": 10_001], ["A": .max]])
  func names(steps: [String: Int]) {
    for make in [{ try Interleavings(steps) }, { try Interleavings(steps, drawing: 3) }] {
      #expect(throws: TestSupportError.self) { try make() }.map { #expect($0.code == .invalidScripts) }
    }
  }

  @Test("A body that fails ends the run with the schedule's name")
  func check() async throws {
    struct Wrong: Error {}
    var seen: [String] = []
    let error = await #expect(throws: TestSupportError.self) {
      try await Interleavings(["A": 1, "B": 1, "C": 1]).run { schedule in
        seen.append("\(schedule)")
        #expect(TestSchedule.current == schedule)
        if seen.count == 2 { throw Wrong() }
      }
    }
    #expect(seen == ["A1 B1 C1", "A1 C1 B1"])
    #expect(error?.code == .checkFailed && error?.cause is Wrong && error?.step == nil)
    #expect(error?.schedule == "A1 C1 B1")
    #expect(error?.description.contains("\"A1 C1 B1\"") == true)
    #expect(TestSchedule.current == nil)
  }

  @Test("A cancelled task ends the run at the next schedule")
  func cancelling() async throws {
    let task = Task {
      var runs = 0
      do {
        try await Interleavings(["A": 2, "B": 2]).run { schedule in
          runs += 1
          try await schedule.run(["A": [{}, {}], "B": [{}, {}]])
          if runs == 3 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        Issue.record("It was not cancelled.")
      } catch {
        #expect(error is CancellationError)
      }
      return runs
    }
    #expect(await task.value == 3)
  }

  @Test("The trait names the schedule in each issue")
  func trait() async throws {
    let collected = Recorded<[String]>()
    let collector = IssueHandlingTrait.compactMapIssues { issue in
      collected.add(issue.comments.map(\.rawValue))
      return nil
    }
    let test = try #require(Test.current)
    try await collector.provideScope(for: test, testCase: nil) {
      try await ScheduleTrait.schedules.provideScope(for: test, testCase: nil) {
        Issue.record("outside")
        try await Interleavings(["A": 1, "B": 1]).run { schedule in
          Issue.record("before")
          try await schedule.run(["A": [{ Issue.record("inside") }], "B": [{}]])
        }
      }
    }
    #expect(
      collected.all == [
        ["outside"], ["before", "Schedule: A1 B1"], ["inside", "Schedule: A1 B1"],
        ["before", "Schedule: B1 A1"], ["inside", "Schedule: B1 A1"],
      ])
  }
}
