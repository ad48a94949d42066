/// What gave an object other values at once, see ``NSManagedObject/awake(fromSnapshotEvents:)``. The numbers are Core Data's.
public struct NSSnapshotEventType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// An undo of an insertion.
  public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
  /// An undo of a deletion.
  public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
  /// An undo of a change.
  public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
  /// A rollback.
  public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
  /// A refresh, or a merge of another context's save.
  public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
  /// A merge policy.
  public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}
