/// A change of all rows that a query finds, made where they are: no row is read into memory first.
public enum StoreBatch: Sendable {
  case update(StoreBatchUpdate)
  case delete(StoreBatchDelete)
}

/// New values for all rows that a query finds: the same for all, or computed from each.
public struct StoreBatchUpdate: Sendable {
  /// Finds the rows to change.
  public var query: StoreQuery
  /// For each concrete entity that the query may find, one row with the new values and the slots written.
  public var values: [RowUpdate]
  /// For each element of `values` what is computed for each row, from the row as it was before. Paths start at the row
  /// and follow no relationships. Empty when nothing is computed.
  public var computed: [[Computed]]

  /// A new value of an attribute that is kept in the row.
  public struct Computed: Hashable, Sendable {
    /// The attribute's slot in the layout of the rows' entity.
    public var slot: Int
    /// Computes the new value.
    public var expression: StoreExpression

    /// Sets an attribute to the result of an expression.
    public init(slot: Int, expression: StoreExpression) {
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

/// The deletion of all rows that a query finds, and of what their relationships' rules take along.
public struct StoreBatchDelete: Sendable {
  /// What the deletion of a row does to the rows at the other end of a relationship.
  public enum Rule: Sendable { case noAction, nullify, cascade, deny }

  /// Finds the rows to delete.
  public var query: StoreQuery
  /// For each entity index the rule of each slot that holds a relationship.
  public var rules: [[Int: Rule]]

  /// Makes a deletion; see the properties.
  public init(query: StoreQuery, rules: [[Int: Rule]]) {
    self.query = query
    self.rules = rules
  }
}

/// What a batch did.
public struct StoreBatchResult: Sendable {
  /// A row by entity and key.
  public struct Row: Hashable, Sendable {
    /// Index of the concrete entity.
    public var entity: Int
    /// The row's primary key.
    public var key: Int64

    /// Whether the row is one that a transaction is to insert: its key is then a number that the transaction gave it.
    public var isPending: Bool { key < 0 }

    /// Names a row.
    public init(entity: Int, key: Int64) {
      self.entity = entity
      self.key = key
    }
  }

  /// A property of a row that changed because another row went.
  public struct Change: Hashable, Sendable {
    /// The row that changed.
    public var row: Row
    /// Slot of the property that changed.
    public var slot: Int

    /// Names a property of a row.
    public init(row: Row, slot: Int) {
      self.row = row
      self.slot = slot
    }
  }

  /// The rows that the query found, by key.
  public var rows: [Row] = []
  /// Rows that delete rules took along.
  public var cascaded: [Row] = []
  /// To-one relationships that were cleared, in rows that stay.
  public var nullified: [Change] = []
  /// To-many relationships that lost members, by the declared entity's slot; the rows did not change.
  public var touched: [Change] = []
  /// Number of the commit, in the same order as those of ``CommitResult``.
  public var sequence: UInt64 = 0
  /// Rows whose derived attributes the store computed anew.
  public var derived: [RowBatch] = []

  /// Makes the result of a batch that found nothing.
  public init() {}
}
