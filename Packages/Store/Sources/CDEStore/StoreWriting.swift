/// A store whose write lock is held, so that its commit can be one of several.
///
/// Used within the body of ``Store/writing(_:)``, on its thread. States: waiting -> written (``write(_:)``, everything is
/// executed, and no other connection sees it) -> committed, or rolled back at the end of the body.
public protocol StoreWriting: AnyObject {
  /// Executes a transaction without its commit.
  ///
  /// - Throws: the errors of ``Store/commit(_:committed:)``. Nothing is written then.
  func write(_ transaction: StoreTransaction) throws(StoreError)

  /// The transaction that was written, with its permanent keys, in a form that ``repeatWriting(_:mark:)`` takes.
  func archive() throws(StoreError) -> [UInt8]

  /// Executes a transaction of ``archive()`` again, with all its checks.
  ///
  /// - Parameters:
  ///   - archive: the transaction.
  ///   - mark: the mark that is written with it.
  /// - Throws: `.incompatibleSchema` if the entities have changed since, `.unreadable` for other bytes; `.conflict`,
  ///   `.uniqueness` and so on if rows have changed since. Nothing is written then.
  func repeatWriting(_ archive: [UInt8], mark: PendingSave) throws(StoreError)

  /// Commits what was written, and waits until it is on the disk.
  func commit() throws(StoreError) -> CommitResult

  /// Called when the whole save was handed on. Later commits of this store may be, from now on.
  func didHandOn()

  /// What the store has of saves over several stores.
  func pendingSaves() throws(StoreError) -> [PendingSave]

  /// Removes a record or a mark, and commits.
  func forget(_ save: PendingSave) throws(StoreError)
}

extension StoreWriting {
  /// Later commits wait for the end of the body in any case.
  public func didHandOn() {}
}

/// What a store keeps of a save over several stores, until all of them have it.
public struct PendingSave: Hashable, Sendable {
  /// The save's UUID.
  public var save: String
  /// The UUID of the other store: the one that may lack its part, or the one that has the record.
  public var store: String
  /// The part of the other store; nil for the mark of a store that has its part.
  public var archive: [UInt8]?

  /// Whether this is the mark of a store that has its part.
  public var isMark: Bool { archive == nil }

  /// Makes a record, or a mark without an archive.
  public init(save: String, store: String, archive: [UInt8]?) {
    self.save = save
    self.store = store
    self.archive = archive
  }
}
