internal import Foundation

/// Every order in which the steps of several scripts can mingle, or a sample of them.
///
/// A collection of ``TestSchedule``s, to be used as the arguments of a test or in a loop. Each schedule has to
/// start from the same state: make a store for each.
///
/// ```swift
/// @Test("No update is lost", .store(Note.self), arguments: try Interleavings(["A": 3, "B": 3]))
/// func update(schedule: TestSchedule) async throws {
///   try await schedule.run(["A": […], "B": […]])
/// }
/// ```
///
/// Their number is a multinomial coefficient and grows fast: two scripts of three steps have 20 interleavings,
/// three have 1,680, four 369,600.
public struct Interleavings: Sendable {
  private let schedules: [TestSchedule]
  /// What the sample was drawn with; nil when the collection has every interleaving.
  public let seed: UInt64?

  /// All interleavings, in the order of the scripts' names.
  ///
  /// - Parameters:
  ///   - steps: How many steps each script has, 10,000 at most, by its name. A name has at least one character,
  ///     no space, and no digit at its end. No scripts have one interleaving, in which nothing happens.
  ///   - limit: How many there may be at most.
  /// - Throws: ``TestSupportError`` with code `.tooManyInterleavings` or `.invalidScripts`.
  public init(_ steps: [String: Int], limit: Int = 5_000) throws {
    try Self.check(steps)
    let count = Self.count(of: steps)
    guard let count, count <= limit else {
      throw TestSupportError(
        .tooManyInterleavings,
        "\(Self.list(steps)) can mingle in \(count.map { "\($0)" } ?? "more than \(Int.max)") ways, and the limit "
          + "is \(limit). Draw a sample with Interleavings(_:drawing:), take fewer steps, or raise the limit."
      )
    }
    schedules = Self.all(steps)
    seed = nil
  }

  /// A sample of the interleavings, all different and each as likely as any other; all of them if there are no
  /// more.
  ///
  /// A seed that is not given is printed.
  ///
  /// - Parameters:
  ///   - steps: As in ``init(_:limit:)``.
  ///   - sample: How many to draw at most; one at least.
  ///   - seed: What decides the draw. Without one, the environment's `CDE_SEED`, else a new one.
  /// - Throws: ``TestSupportError`` with code `.invalidScripts`.
  public init(_ steps: [String: Int], drawing sample: Int, seed: UInt64? = nil) throws {
    try Self.check(steps)
    guard sample > 0 else {
      throw TestSupportError(
        .invalidScripts, "A sample of \(sample) would test nothing. Draw at least one.")
    }
    let count = Self.count(of: steps)
    if let count, count <= sample {
      schedules = Self.all(steps)
      self.seed = nil
      return
    }
    let drawn = seed ?? Self.newSeed(for: sample, of: count)
    schedules = Self.draw(sample, of: steps, drawn)
    self.seed = drawn
  }

  /// How many interleavings there are: the multinomial coefficient of the numbers of steps.
  ///
  /// - Returns: nil when an `Int` can't hold the number.
  public static func count(of steps: [String: Int]) -> Int? {
    let numbers = steps.values.map { UInt(clamping: $0) }.sorted(by: >)
    var count: UInt = 1
    var placed = numbers.first ?? 0
    for number in numbers.dropFirst() {
      for step in stride(from: 1, through: number, by: 1) {
        // A product of binomial coefficients: every division is exact, and the product never shrinks.
        placed += 1
        let product = count.multipliedFullWidth(by: placed)
        guard product.high < step else { return nil }
        count = step.dividingFullWidth(product).quotient
      }
    }
    return Int(exactly: count)
  }

  private static func newSeed(for sample: Int, of count: Int?) -> UInt64 {
    let asked = ProcessInfo.processInfo.environment["CDE_SEED"].flatMap { UInt64($0) }
    let seed = asked ?? .random(in: 0 ... .max)
    print("interleavings: \(sample) of \(count.map { "\($0)" } ?? "very many") drawn with CDE_SEED=\(seed)")
    return seed
  }

  /// What no test written by hand comes near, and memory allows.
  private static let longestScript = 10_000

  private static func check(_ steps: [String: Int]) throws {
    for (name, count) in steps.sorted(by: { $0.key < $1.key }) {
      if name.last?.isASCIIDigit ?? true || name.contains(where: \.isWhitespace) {
        throw TestSupportError(
          .invalidScripts,
          "\"\(name)\" can't name a script, because its steps would be \"\(name)1\" and so on. Use a name with "
            + "at least one character, without spaces, that does not end with a digit.")
      }
      guard (0...longestScript).contains(count) else {
        throw TestSupportError(
          .invalidScripts, "Script \(name) can't have \(count) steps. Give it 0 to \(longestScript).")
      }
    }
  }

  private static func list(_ steps: [String: Int]) -> String {
    steps.sorted { $0.key < $1.key }.map { "\($0.value) steps of \($0.key)" }.joined(separator: ", ")
  }
}

extension Interleavings: RandomAccessCollection {
  public var startIndex: Int { schedules.startIndex }
  public var endIndex: Int { schedules.endIndex }
  public subscript(position: Int) -> TestSchedule { schedules[position] }
}

extension Interleavings {
  /// Runs a body once for each schedule, one after the other, until one throws.
  ///
  /// The body makes what the steps work on anew, runs the schedule, and checks what came of it. While it does,
  /// ``TestSchedule/current`` is its schedule.
  ///
  /// - Throws: ``TestSupportError`` with the schedule: what `TestSchedule.run(_:)` threw, or `.checkFailed`
  ///   for any other error of the body. `CancellationError` when the task is cancelled, at the next schedule.
  public nonisolated(nonsending) func run(
    _ body: nonisolated(nonsending) (TestSchedule) async throws -> Void
  ) async throws {
    for schedule in schedules {
      try Task.checkCancellation()
      do {
        try await TestSchedule.$current.withValue(schedule) { try await body(schedule) }
      } catch let error as TestSupportError where error.schedule == schedule {
        throw error
      } catch is CancellationError where Task.isCancelled {
        throw CancellationError()
      } catch {
        throw TestSupportError(
          .checkFailed, "The schedule \"\(schedule)\" failed: \(error)", cause: error, schedule: schedule)
      }
    }
  }
}

extension Interleavings {
  /// Whose turn it is, step by step, as a number for each script: one arrangement of the steps.
  private struct Deck {
    let names: [String]
    var turns: [Int]

    init(_ steps: [String: Int]) {
      let names = steps.keys.sorted()
      self.names = names
      turns = names.indices.flatMap { Array(repeating: $0, count: steps[names[$0], default: 0]) }
    }

    var schedule: TestSchedule {
      var done = Array(repeating: 0, count: names.count)
      return TestSchedule(
        steps: turns.map { turn in
          done[turn] += 1
          return "\(names[turn])\(done[turn])"
        })
    }

    /// The next arrangement in lexicographic order; false after the last.
    mutating func advance() -> Bool {
      guard let pivot = turns.indices.dropLast().last(where: { turns[$0] < turns[$0 + 1] }),
        let larger = turns.lastIndex(where: { $0 > turns[pivot] })
      else { return false }
      turns.swapAt(pivot, larger)
      turns[(pivot + 1)...].reverse()
      return true
    }
  }

  private static func all(_ steps: [String: Int]) -> [TestSchedule] {
    var deck = Deck(steps)
    var schedules = [deck.schedule]
    while deck.advance() { schedules.append(deck.schedule) }
    return schedules
  }

  /// - Precondition: there are more than `sample`, so drawing again and again finds as many.
  private static func draw(_ sample: Int, of steps: [String: Int], _ seed: UInt64) -> [TestSchedule] {
    var random = SplitMix(state: seed)
    var deck = Deck(steps)
    var seen: Set<TestSchedule> = []
    var schedules: [TestSchedule] = []
    while schedules.count < sample {
      // Every arrangement comes from equally many shuffles.
      deck.turns.shuffle(using: &random)
      let schedule = deck.schedule
      if seen.insert(schedule).inserted { schedules.append(schedule) }
    }
    return schedules
  }
}

/// Steele, Lea and Flood's generator: the same numbers for the same seed, everywhere.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
