public import Foundation

/// Where a test's store is.
public nonisolated struct TestStorePlace: Sendable, Hashable {
  /// What a commit waits for.
  public enum Durability: String, Sendable, Hashable {
    /// Nothing: a test's store is not needed after a loss of power, and disks take their time.
    case none = "OFF"
    /// As apps have it: after a loss of power the last commits may be missing.
    case normal = "NORMAL"
    /// Until the commit is on the disk.
    case full = "FULL"
  }

  /// Nil for memory.
  let disk: Disk?

  struct Disk: Sendable, Hashable {
    var folder: URL?
    var durability: Durability
  }

  /// Memory of this process: the fastest, without log, locks and files of external values. Reads and writes take
  /// turns.
  public static let inMemory = TestStorePlace(disk: nil)

  /// A file with a write-ahead log, as apps have.
  ///
  /// - Parameters:
  ///   - folder: Where the file is; a folder in the temporary folder when nil. It is made where it does not
  ///     exist.
  ///   - durability: What a commit waits for.
  public static func onDisk(folder: URL? = nil, durability: Durability = .none) -> TestStorePlace {
    TestStorePlace(disk: Disk(folder: folder, durability: durability))
  }
}

/// How a test's store is made, and what the test has to keep to.
public nonisolated struct TestStoreOptions: Sendable, Hashable {
  /// Where the store is: in a folder of its own, or in memory.
  public var place = TestStorePlace.onDisk()
  /// A store that the test's own is a copy of, external values and what is in its log included; it stays as it
  /// is.
  public var template: URL?
  /// How often the store may be asked; nil for as often as one likes. See
  /// `withQueryBudget` for what counts.
  public var queryBudget: Int?
  /// How many faults of a kind may fire one by one; nil for as many as one likes. See
  /// `withStrictFaulting` for the rule.
  public var singleFaultLimit: Int?
  /// Whether statements are written down with the values bound to them.
  public var recordsValues = false

  /// Makes options; see the properties.
  public init(
    place: TestStorePlace = .onDisk(), template: URL? = nil, queryBudget: Int? = nil,
    singleFaultLimit: Int? = nil, recordsValues: Bool = false
  ) {
    self.place = place
    self.template = template
    self.queryBudget = queryBudget
    self.singleFaultLimit = singleFaultLimit
    self.recordsValues = recordsValues
  }
}
