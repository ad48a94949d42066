import CoreDataEvolution
import Dispatch
import Metrics
import Synchronization
import Testing

@testable import ServiceKit

@Suite("Admission: what runs, waits and is refused")
struct AdmissionTests {
  @Test("As many pieces of work run as may, then as many wait as may, and the next one is refused")
  func bounds() {
    var state = AdmissionState(limit: 2, queueLimit: 1)
    #expect((1...4).map { state.enter($0) } == [.runs, .runs, .waits, .isRefused(.queueIsFull)])
    #expect(state.leave() == 3)
    #expect(state.running == 2)
    #expect(state.waiting == [])
    #expect(state.leave() == nil)
    #expect(state.leave() == nil)
    #expect(state.isIdle)
  }

  @Test("Work that waits runs in the order in which it came, without what gave up")
  func order() {
    var state = AdmissionState(limit: 1, queueLimit: 3)
    for ticket: AdmissionState.Ticket in 1...4 { _ = state.enter(ticket) }
    let gaveUp = [state.giveUp(3), state.giveUp(3), state.giveUp(1)]
    #expect(gaveUp == [true, false, false])
    #expect([state.leave(), state.leave(), state.leave()] == [2, 4, nil])
  }

  @Test("After the end no work begins, and what runs or waits goes on")
  func closing() {
    var state = AdmissionState(limit: 1, queueLimit: 1)
    _ = state.enter(1)
    _ = state.enter(2)
    state.close()
    #expect(state.enter(3) == .isRefused(.isClosed))
    #expect(state.leave() == 2)
    #expect(!state.isIdle)
    #expect(state.leave() == nil)
    #expect(state.isIdle)
  }

  @Test(
    "Random work: never more runs than may, and all that was admitted or refused is told so",
    arguments: 0..<20)
  func random(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let (limit, queueLimit) = (Int.random(in: 1...3, using: &random), Int.random(in: 0...3, using: &random))
    var state = AdmissionState(limit: limit, queueLimit: queueLimit)
    // The plain model: two lists.
    var running: [UInt64] = []
    var waiting: [UInt64] = []
    for ticket: UInt64 in 1...500 {
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        let refusal = state.refusal
        let entry = state.enter(ticket)
        #expect((entry == .isRefused(.queueIsFull)) == (refusal != nil))
        if running.count < limit {
          #expect(entry == .runs)
          running.append(ticket)
        } else if waiting.count < queueLimit {
          #expect(entry == .waits)
          waiting.append(ticket)
        } else {
          #expect(entry == .isRefused(.queueIsFull))
        }
      case 1 where !running.isEmpty:
        running.removeFirst()
        let next = waiting.isEmpty ? nil : waiting.removeFirst()
        #expect(state.leave() == next)
        if let next { running.append(next) }
      default:
        guard let ticket = waiting.randomElement(using: &random) else { continue }
        waiting.removeAll { $0 == ticket }
        let gaveUp = state.giveUp(ticket)
        #expect(gaveUp)
      }
      #expect(state.running == running.count)
      #expect(state.waiting == waiting)
    }
  }

  @Test("Work that waits longer than it may is refused, and work before it is not disturbed")
  func patience() async throws {
    let admission = Admission(
      "test", limit: 1, queueLimit: 1, patience: .milliseconds(1), metrics: PrometheusMetrics())
    try await admission.enter()
    await #expect(throws: AdmissionState.Refusal.waitedTooLong) { try await admission.enter() }
    admission.leave()
    try await admission.enter()
    admission.leave()
    await admission.close()
    await #expect(throws: AdmissionState.Refusal.isClosed) { try await admission.enter() }
  }

  @Test("A thousand tasks pass three at a time, and the end comes after the last")
  func crowd() async throws {
    let admission = Admission(
      "test", limit: 3, queueLimit: 1_000, patience: .seconds(60), metrics: PrometheusMetrics())
    let inside = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<1_000 {
        group.addTask {
          try await admission.enter()
          defer { admission.leave() }
          #expect(await inside.enter() <= 3)
          await inside.leave()
        }
      }
      try await group.waitForAll()
    }
    await admission.close()
    #expect(await inside.total == 1_000)
  }

  @Test("Work runs on as many threads as may, and its errors are those of the call")
  func work() async throws {
    struct Failure: Error {}
    let admission = Admission(
      "test", limit: 2, queueLimit: 100, patience: .seconds(60), metrics: PrometheusMetrics())
    let count = Count()
    let results = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<100 {
        group.addTask {
          try? await admission.run {
            count.enter()
            defer { count.leave() }
            if number.isMultiple(of: 10) { throw Failure() }
            return number
          }
        }
      }
      return await group.reduce(into: [Int?]()) { $0.append($1) }
    }
    #expect(Set(results.compactMap(\.self)) == Set((0..<100).filter { !$0.isMultiple(of: 10) }))
    #expect(results.count { $0 == nil } == 10)
    #expect((1...2).contains(count.most.load(ordering: .relaxed)))
    await #expect(throws: Failure.self) { try await admission.run { throw Failure() } }
    await admission.close()
    await #expect(throws: AdmissionState.Refusal.isClosed) { try await admission.run {} }
  }

  @Test("Work whose time is over ends for the caller, and keeps its place", arguments: [true, false])
  func limit(_ isSlow: Bool) async throws {
    let admission = Admission(
      "test", limit: 1, queueLimit: 0, patience: .seconds(60), metrics: PrometheusMetrics())
    let limit = Timeouts(after: isSlow ? .milliseconds(1) : .seconds(60))
    let gate = DispatchSemaphore(value: 0)
    if isSlow {
      await #expect(throws: TimedOut.self) { try await admission.run(within: limit) { gate.wait() } }
      await #expect(throws: AdmissionState.Refusal.queueIsFull) { try await admission.run {} }
      gate.signal()
    } else {
      gate.signal()
      try await admission.run(within: limit) { gate.wait() }
    }
    await admission.close()
  }

  @Test("Time-outs are called once each, in their order, unless they were removed")
  func timeouts() async {
    let timeouts = Timeouts(after: .milliseconds(5))
    for _ in 0..<2 {
      let called = Mutex<[Int]>([])
      await withCheckedContinuation { continuation in
        for number in 0..<2_000 {
          let id = timeouts.add {
            called.withLock { $0.append(number) }
            if number == 1_999 { continuation.resume() }
          }
          if number.isMultiple(of: 3), number < 1_999 { timeouts.remove(id) }
        }
      }
      // A removal comes too late for what was due before it.
      let numbers = called.withLock { $0 }
      #expect(numbers == numbers.sorted())
      #expect(Set(numbers).count == numbers.count)
      #expect(numbers.filter { !$0.isMultiple(of: 3) } == (0..<2_000).filter { !$0.isMultiple(of: 3) })
    }
  }

  private final class Count: Sendable {
    let now = Atomic<Int>(0)
    let most = Atomic<Int>(0)

    func enter() { most.max(now.add(1, ordering: .sequentiallyConsistent).newValue, ordering: .relaxed) }
    func leave() { now.subtract(1, ordering: .sequentiallyConsistent) }
  }

  private actor Counter {
    private var now = 0
    private(set) var total = 0

    func enter() -> Int {
      now += 1
      total += 1
      return now
    }

    func leave() { now -= 1 }
  }
}

/// SplitMix64.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
