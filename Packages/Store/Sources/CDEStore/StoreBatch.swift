/// A change of all rows that a query finds. It is made in the store, without reading rows into memory.
public enum StoreBatch: Sendable {
  case update(StoreBatchUpdate)
  case delete(StoreBatchDelete)

  /// Finds the rows to change or delete.
  public var query: StoreQuery {
    switch self {
    case .update(let update): update.query
    case .delete(let delete): delete.query
    }
  }
}

/// New values for all rows that a query finds. They are the same for all rows, or computed for each.
public struct StoreBatchUpdate: Sendable {
  /// Finds the rows to change.
  public var query: StoreQuery
  /// For each concrete entity that the query may find, one row with the new values and the written slots.
  public var values: [RowUpdate]
  /// For each element of `values` the attributes computed for each row, from the row before the change. Paths
  /// start at the row and follow no relationships. Empty when nothing is computed.
  public var computed: [[Computed]]
  /// The author of the transaction, for the history.
  public var author: String?
  /// The name of the context that makes the request, for the history.
  public var contextName: String?

  /// A new value of an attribute with a column.
  public struct Computed: Hashable, Sendable {
    /// The attribute's slot in the layout of the rows' entity.
    public var slot: SlotIndex
    /// Computes the new value.
    public var expression: StoreExpression

    /// Sets an attribute to the result of an expression.
    public init(slot: SlotIndex, expression: StoreExpression) {
      self.slot = slot
      self.expression = expression
    }
  }

  /// Makes an update; see the properties.
  public init(query: StoreQuery, values: [RowUpdate], computed: [[Computed]] = []) {
    self.query = query
    self.values = values
    self.computed = computed
  }
}

/// The deletion of all rows that a query finds, and of the rows that delete rules add.
public struct StoreBatchDelete: Sendable {
  /// The effect of a deletion on the rows at the other end of a relationship.
  public enum Rule: Sendable { case noAction, nullify, cascade, deny }

  /// Finds the rows to delete.
  public var query: StoreQuery
  /// For each entity index the rule of each relationship, by slot.
  public var rules: IndexedArray<EntityIndex, [SlotIndex: Rule]>
  /// The author of the transaction, for the history.
  public var author: String?
  /// The name of the context that makes the request, for the history.
  public var contextName: String?

  /// Makes a deletion; see the properties.
  public init(query: StoreQuery, rules: IndexedArray<EntityIndex, [SlotIndex: Rule]>) {
    self.query = query
    self.rules = rules
  }
}

/// The result of a batch.
public struct StoreBatchResult: Sendable {
  /// A row by entity and key.
  public struct Row: Hashable, Sendable {
    /// Index of the concrete entity.
    public var entity: EntityIndex
    /// The row's primary key.
    public var key: Int64

    /// Whether a transaction is to insert the row. Its key is then the row's number in the transaction.
    public var isPending: Bool { key < 0 }

    /// Names a row.
    public init(entity: EntityIndex, key: Int64) {
      self.entity = entity
      self.key = key
    }
  }

  /// A property of a row that changed because another row was deleted.
  public struct Change: Hashable, Sendable {
    /// The row that changed.
    public var row: Row
    /// Slot of the property that changed.
    public var slot: SlotIndex

    /// Names a property of a row.
    public init(row: Row, slot: SlotIndex) {
      self.row = row
      self.slot = slot
    }
  }

  /// The rows that the query found, by key.
  public var rows: [Row] = []
  /// Rows that delete rules deleted.
  public var cascaded: [Row] = []
  /// To-one relationships that were cleared, in rows that remain.
  public var nullified: [Change] = []
  /// To-many relationships that lost members, by the slot in the declared entity. The rows did not change.
  public var touched: [Change] = []
  /// Number of the commit. The numbers of ``CommitResult`` are the same count.
  public var number: UInt64 = 0
  /// Rows whose derived attributes the store computed again.
  public var derived: [RowBatch] = []
  /// The number of the transaction in the store's history; `nil` if it was not recorded.
  public var historyNumber: Int64?

  /// Makes the result of a batch that found nothing.
  public init() {}
}
