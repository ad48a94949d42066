/// What is measured in contexts of different sizes.
package enum GrowthOperation: String, CaseIterable, Sendable {
  case fetch = "grow-fetch"
  case save = "grow-save"
  case merge = "grow-merge"
  case find = "grow-find"
  case results = "grow-results"

  package var name: String {
    switch self {
    case .fetch: "fetch of 100 objects by an indexed attribute"
    case .save: "save of one change"
    case .merge: "merge of a commit with 100 changes"
    case .find: "look-up of a registered object by its ID"
    case .results: "one fetched object moves among the results of a controller"
    }
  }

  /// The time at the largest size over the time at the smallest must not exceed it.
  package static let target = 1.5
}

/// How many objects a context has registered.
package enum GrowthSize: Int, CaseIterable, Comparable, Sendable {
  case tenThousand = 10_000
  case hundredThousand = 100_000
  case million = 1_000_000

  /// The last part of a row's id.
  var suffix: String {
    switch self {
    case .tenThousand: "10k"
    case .hundredThousand: "100k"
    case .million: "1m"
    }
  }

  var text: String {
    switch self {
    case .tenThousand: "10,000"
    case .hundredThousand: "100,000"
    case .million: "1,000,000"
    }
  }

  package static func < (left: GrowthSize, right: GrowthSize) -> Bool { left.rawValue < right.rawValue }
}

/// One operation at one size: a row of the growth report.
package struct GrowthID: Hashable, CaseIterable, Sendable {
  package let operation: GrowthOperation
  package let size: GrowthSize

  package var rawValue: String { "\(operation.rawValue)-\(size.suffix)" }

  package static var allCases: [GrowthID] {
    GrowthOperation.allCases.flatMap { operation in
      GrowthSize.allCases.map { GrowthID(operation: operation, size: $0) }
    }
  }
}

/// What came out for one operation: nanoseconds, one figure for each round.
package struct GrowthResult: Sendable {
  package let operation: GrowthOperation
  package let figures: [GrowthSize: [Double]]

  package init(_ operation: GrowthOperation, _ figures: [GrowthSize: [Double]]) {
    self.operation = operation
    self.figures = figures
  }

  package func median(_ size: GrowthSize) -> Double? { figures[size]?.median }

  /// The time at a size over the time at the smallest one: the median of the rounds' ratios. Nil for the smallest.
  package func ratio(at size: GrowthSize) -> Double? {
    guard let smallest = figures.keys.min(), smallest < size, let figures = figures[size],
      let least = self.figures[smallest]
    else { return nil }
    return zip(figures, least).map { $0 / $1 }.median
  }

  /// The ratio at the largest size; nil when fewer than two sizes were measured.
  package var growth: Double? { figures.keys.max().flatMap { ratio(at: $0) } }

  package var verdict: Verdict? {
    growth.map {
      Verdict($0, atMost: GrowthOperation.target, spread: figures.keys.min().flatMap { figures[$0]?.spread })
    }
  }
}
