// The signs of an object's state. NSManagedObject+State.swift gives the states their names.
extension NSManagedObject {
  @usableFromInline
  struct Flags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt32
    @inlinable init(rawValue: UInt32) { self.rawValue = rawValue }

    // The standard library's version uses witnesses of the raw type. They cost measurable time in each read
    // and write.
    @inlinable static func == (one: Flags, other: Flags) -> Bool { one.rawValue == other.rawValue }
    @inlinable func isDisjoint(with other: Flags) -> Bool { rawValue & other.rawValue == 0 }
    @inlinable func isSuperset(of other: Flags) -> Bool { rawValue & other.rawValue == other.rawValue }
    @inlinable func contains(_ other: Flags) -> Bool { isSuperset(of: other) }
    @inlinable func intersection(_ other: Flags) -> Flags { Flags(rawValue: rawValue & other.rawValue) }
    @inlinable @discardableResult
    mutating func insert(_ other: Flags) -> (inserted: Bool, memberAfterInsert: Flags) {
      let isNew = !isSuperset(of: other)
      self = Flags(rawValue: rawValue | other.rawValue)
      return (isNew, other)
    }
    @inlinable @discardableResult
    mutating func remove(_ other: Flags) -> Flags? {
      let removed = Flags(rawValue: rawValue & other.rawValue)
      self = Flags(rawValue: rawValue & ~other.rawValue)
      return removed.rawValue == 0 ? nil : removed
    }

    /// The row has not been read.
    @usableFromInline static let fault = Flags(rawValue: 1)
    @usableFromInline static let inserted = Flags(rawValue: 2)
    /// Has unsaved changes (and is not new).
    @usableFromInline static let updated = Flags(rawValue: 4)
    @usableFromInline static let deleted = Flags(rawValue: 8)
    /// Deleted and saved, or its row has vanished.
    @usableFromInline static let gone = Flags(rawValue: 16)
    @usableFromInline static let hasOverlay = Flags(rawValue: 32)
    /// Every access is checked against the executor.
    @usableFromInline static let checked = Flags(rawValue: 64)
    /// The object itself keeps its binding alive, because it is in no registry.
    @usableFromInline static let ownsBinding = Flags(rawValue: 128)
    /// Listed for the next "objects did change" notification.
    @usableFromInline static let pending = Flags(rawValue: 256)
    /// In the context's list of changed objects.
    @usableFromInline static let listed = Flags(rawValue: 512)
    /// New, and named as inserted by a notification.
    @usableFromInline static let announced = Flags(rawValue: 1024)
    /// Has values that were refused, or could not be read.
    @usableFromInline static let hasProblems = Flags(rawValue: 2048)
    /// Gone because its own context saved its deletion.
    @usableFromInline static let deletionSaved = Flags(rawValue: 4096)
    /// Changed since the last announcement. Unlike `pending`, the hooks of a save do not clear it.
    @usableFromInline static let inEvent = Flags(rawValue: 8192)
    /// Other code observes keys of the object.
    @usableFromInline static let keyObserved = Flags(rawValue: 1 << 20)
    /// The context's index of unsaved values has the object's values.
    @usableFromInline static let indexed = Flags(rawValue: 1 << 21)
    /// What a write looks at to see whether the context knows of the change already.
    static let known = Flags(rawValue: 256 | 512)
    /// What a write looks at to see whether older unsaved values have to be kept for the event that it begins.
    static let listedOrInEvent = Flags(rawValue: 512 | 8192)
    static let knownOrObserved = Flags(rawValue: 256 | 512 | 1 << 20 | 1 << 21)
    /// A write needs more than an overlay: `fault`, `checked` and `hasProblems`.
    @usableFromInline static let slowWrite = Flags(rawValue: 1 | 64 | 2048)
    /// A read can't use the row directly: `fault`, `hasOverlay` and `checked`. A number, so that accessors in
    /// other modules can inline it.
    @inlinable static var slowRead: Flags { Flags(rawValue: 1 | 32 | 64) }
  }
}
