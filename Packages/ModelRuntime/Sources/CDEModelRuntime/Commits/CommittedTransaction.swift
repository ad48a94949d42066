@_spi(CDE) public import CDEStore
public import Foundation

/// A save in the form for other contexts: its author, its changes, and the rows after it.
///
/// Contains values only. The coordinator passes it to its other contexts, which adopt the rows without a
/// query.
public struct CommittedTransaction: Sendable {
  /// Number of the commit in its coordinator, or in the parent context that it was saved to. Numbers ascend.
  public internal(set) var sequence: UInt64 = 0
  /// The coordinator or parent context that numbered the commit; nil before it is numbered.
  var order: CommitOrder?
  /// Distinguishes commits of all coordinators of the process.
  public let identity: UUID
  /// The ``NSManagedObjectContext/transactionAuthor`` of the context that saved; nil if it had none.
  public let author: String?
  /// The ``NSManagedObjectContext/name`` of the context that saved; nil if it had none.
  public let contextName: String?
  /// The change of each object that the save inserted, updated or deleted.
  @_spi(CDE) public internal(set) var changes: [Change]
  /// Objects whose to-many relationships changed only on the other side. Their own rows did not change.
  @_spi(CDE) public let touched: [Touch]
  /// The pairs that the save added to and removed from relationships that no row stores, without those of new objects. Empty
  /// for commits of other processes.
  var links: [Link] = []
  /// The listeners that expect the commit, and those that have received it; shared by all copies of the
  /// commit.
  @_spi(CDE) public let trace: CommitTrace
  /// The store's number of the commit, which its rows have too; the greatest for commits of other processes, which the store
  /// does not number. Their rows are read when they are merged.
  let asOf: UInt64
  var isForeign: Bool { asOf == .max }
  /// Whether the changed properties were read from the history of the store.
  @_spi(CDE) public var isFromHistory: Bool { isForeign && historyNumber != nil }
  /// Whether the rows have to be read from the store: another process wrote them, or a later commit may have changed them already.
  var lacksRows = false
  /// Whether any row of the store may have changed, because another process wrote without a history.
  var isUnknown = false
  /// The number of the transaction in the store's history; nil if it was not recorded.
  var historyNumber: Int64?
  /// The model that defines these slots and entity indexes, and the store that was written.
  let model: ModelBinding
  let store: StoreHandle
  /// The other stores that the save wrote, in the order of their commits; empty for most saves.
  var others: [Part] = []

  /// What a save has written to one of several stores.
  struct Part: Sendable {
    let store: StoreHandle
    let asOf: UInt64
    var historyNumber: Int64?
  }

  /// The change of one object by a save.
  @_spi(CDE) public struct Change: Sendable {
    /// The ways in which a save changes an object.
    public enum Kind: Sendable { case inserted, updated, deleted }
    /// What happened to the object.
    public var kind: Kind
    /// Index of the object's concrete entity in its model.
    public var entity: EntityIndex
    /// The object's primary key, unique in its inheritance tree.
    public var key: Int64
    /// The slots of the properties that changed, derived ones and to-many relationships included; empty for
    /// deletions.
    public var properties: PropertySet
    /// The row after the commit; nil for deletions and for objects whose row did not change.
    public var row: RowReference?
    /// Properties that the save adopted from another writer. Other contexts may never receive that writer's
    /// commit.
    public var adopted = PropertySet()
  }

  /// An object with a changed to-many relationship but an unchanged row.
  @_spi(CDE) public struct Touch: Sendable, Hashable {
    /// Index of the entity that the relationship's other side leads to. The object may be of a sub-entity.
    public var entity: EntityIndex
    /// The object's primary key, unique in its inheritance tree.
    public var key: Int64
    /// The slot of the relationship in that entity.
    public var slot: SlotIndex

    /// The key alone, because few objects of one save differ in the rest only.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  /// A pair of two saved objects.
  struct Link: Sendable {
    var isAdded: Bool
    /// Index of the owner's entity, and the relationship's slot in that entity.
    var entity: EntityIndex
    var slot: SlotIndex
    var owner: Int64
    var member: Int64

    init(_ change: LinkChange) {
      isAdded = change.kind == .add
      (entity, slot, owner, member) = (change.entity, change.slot, change.owner, change.member)
    }
  }

  init(
    asOf: UInt64, author: String?, contextName: String?, changes: [Change], touched: [Touch],
    trace: CommitTrace, model: ModelBinding, store: StoreHandle
  ) {
    self.asOf = asOf
    self.model = model
    self.store = store
    identity = .makeRandom()
    self.author = author
    self.contextName = contextName
    self.changes = changes
    self.touched = touched
    self.trace = trace
  }

  /// One commit of what a save wrote to two stores.
  init(uniting one: CommittedTransaction, _ other: CommittedTransaction) {
    self.init(
      asOf: one.asOf, author: one.author, contextName: one.contextName, changes: one.changes + other.changes,
      touched: one.touched + other.touched, trace: one.trace, model: one.model, store: one.store)
    historyNumber = one.historyNumber
    links = one.links + other.links
    others =
      one.others
      + [Part(store: other.store, asOf: other.asOf, historyNumber: other.historyNumber)]
  }

  /// Numbers the commit.
  mutating func enter(_ order: CommitOrder) {
    self.order = order
    sequence = order.next()
  }

  /// A later commit, which no context gets, may have changed the same rows. What a merge finds changed in them is announced with this one.
  mutating func beOvertaken() {
    lacksRows = true
    for index in changes.indices where changes[index].kind == .updated {
      changes[index].adopted = PropertySet(
        allBelow: model.entities[changes[index].entity].layout.properties.count)
    }
  }

  /// The stores that were written.
  var stores: [StoreHandle] { [store] + others.map(\.store) }

  /// The store of a row.
  func store(of key: Int64) -> StoreHandle {
    if others.isEmpty || store.holds(key) { return store }
    return others.first { $0.store.holds(key) }?.store ?? store
  }

  /// The number of the commit in the store of a row.
  func asOf(_ key: Int64) -> UInt64 {
    if others.isEmpty || store.holds(key) { return asOf }
    return others.first { $0.store.holds(key) }?.asOf ?? asOf
  }

  /// Whether nothing was written, because the new values of the saved objects equal the stored ones.
  var isEmpty: Bool { changes.isEmpty && touched.isEmpty }

  /// The key of the ``CommittedTransaction`` in the `userInfo` of a didSave notification.
  public static let userInfoKey = "CDECommittedTransaction"
}
