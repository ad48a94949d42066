public import CDEStore
public import Foundation

/// A save as other contexts see it: its author, its changes, and the rows as they stand after it.
///
/// Values only. The coordinator hands it to sibling contexts, which adopt the rows without asking
/// the store.
public struct CommittedTransaction: Sendable {
  /// Number of the commit in its coordinator, ascending.
  public internal(set) var sequence: UInt64 = 0
  /// Tells commits of all coordinators of the process apart.
  public let identity: UUID
  /// The ``NSManagedObjectContext/transactionAuthor`` of the context that saved; nil if it had none.
  public let author: String?
  /// The ``NSManagedObjectContext/name`` of the context that saved; nil if it had none.
  public let contextName: String?
  /// What happened to each object that the save inserted, updated or deleted.
  @_spi(CDE) public internal(set) var changes: [Change]
  /// Objects whose to-many relationships changed through the other side, without a change of their own row.
  @_spi(CDE) public let touched: [Touch]
  /// The listeners that expect the commit, and those that have received it; shared by all copies of the
  /// commit.
  @_spi(CDE) public let trace: CommitTrace
  /// The store's number of the commit; its rows have the same.
  let asOf: UInt64
  /// The model of these slots and entity indexes, and the store that was written.
  let model: ModelBinding
  let store: StoreHandle

  /// What a save did to one object.
  @_spi(CDE) public struct Change: Sendable {
    /// The ways in which a save changes an object.
    public enum Kind: Sendable { case inserted, updated, deleted }
    /// What happened to the object.
    public var kind: Kind
    /// Index of the object's concrete entity in its model.
    public var entity: Int
    /// The object's primary key, unique in its inheritance tree.
    public var key: Int64
    /// The slots of the properties that changed, derived ones and to-many relationships included; empty for
    /// deletions.
    public var properties: PropertySet
    /// The row after the commit; nil for deletions and for objects whose row did not change.
    public var row: RowReference?
    /// Properties that the save took over from another writer, whose commit other contexts may never receive.
    public var adopted = PropertySet()
  }

  /// An object one of whose to-many relationships changed although its row did not.
  @_spi(CDE) public struct Touch: Sendable, Hashable {
    /// Index of the entity that the relationship's other side leads to; the object may be of one of its
    /// sub-entities.
    public var entity: Int
    /// The object's primary key, unique in its inheritance tree.
    public var key: Int64
    /// The slot of the relationship in that entity.
    public var slot: Int
  }

  init(
    asOf: UInt64, author: String?, contextName: String?, changes: [Change], touched: [Touch],
    trace: CommitTrace, model: ModelBinding, store: StoreHandle
  ) {
    self.asOf = asOf
    self.model = model
    self.store = store
    identity = UUID()
    self.author = author
    self.contextName = contextName
    self.changes = changes
    self.touched = touched
    self.trace = trace
  }

  /// Whether nothing was written, because the saved objects had been given the values they had.
  var isEmpty: Bool { changes.isEmpty && touched.isEmpty }

  /// Under this key a didSave notification carries its ``CommittedTransaction``.
  public static let userInfoKey = "CDECommittedTransaction"
}
