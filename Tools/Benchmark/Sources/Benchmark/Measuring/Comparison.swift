/// One way of doing a row's work.
@MainActor
package struct Contender {
  package enum Side: CaseIterable, Sendable {
    case ours, raw, rawTuned, grdb
    /// What the row names, where neither SQLite nor GRDB does the work.
    case reference
    /// What the machine takes for the least that the work needs.
    case floor
  }

  var side: Side
  /// Does the work once. Returns the nanoseconds of the part that counts.
  var run: @MainActor () async throws -> Double

  init(_ side: Side, _ run: @escaping @MainActor () async throws -> Double) {
    self.side = side
    self.run = run
  }
}

/// The figures of some contenders, one for each round.
package struct Rounds: Sendable {
  package var figures: [Contender.Side: [Double]] = [:]

  package init() {}

  func median(_ side: Contender.Side) -> Double? { figures[side]?.median }

  /// The median of the rounds' ratios: what a round suffers from the machine, both sides of its ratio do.
  func ratio(_ side: Contender.Side, to other: Contender.Side) -> Double? {
    guard let mine = figures[side], let theirs = figures[other] else { return nil }
    return zip(mine, theirs).map { $0 / $1 }.median
  }

  /// How far a side's rounds lie apart.
  func spread(_ side: Contender.Side) -> Double? { figures[side]?.spread }

  /// Runs every contender once for warming up, then in turns, each round beginning with another one.
  ///
  /// - Parameter divisor: how many objects (or calls) a run's time is spread over.
  @MainActor
  static func measure(_ contenders: [Contender], rounds: Int, per divisor: Int) async throws -> Rounds {
    var result = Rounds()
    if rounds > 1 {
      for contender in contenders { _ = try await contender.run() }
    }
    for round in 0..<rounds {
      for offset in contenders.indices {
        let contender = contenders[(offset + round) % contenders.count]
        result.figures[contender.side, default: []].append(try await contender.run() / Double(divisor))
      }
    }
    return result
  }
}
