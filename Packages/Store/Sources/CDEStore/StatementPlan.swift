/// How an engine answers one statement: its steps, from the outer one to the inner ones.
public struct StatementPlan: Sendable, Hashable {
  /// How a step finds its rows.
  public enum Access: String, Sendable, Hashable {
    /// All rows of a table.
    case scan
    /// All entries of an index, in its order.
    case orderedScan
    /// Rows or entries that a key or a range leads to.
    case search
    /// No rows of a table: sorting, joining, values of the query itself.
    case other
  }

  /// One line of a plan.
  public struct Step: Sendable, Hashable {
    /// How many steps this one is a part of.
    public let depth: Int
    /// The engine's own words.
    public let detail: String
    /// How the step finds its rows.
    public let access: Access
    /// The name of the index; nil without one, and for a table's own key.
    public let index: String?

    /// Makes a step of its parts.
    public init(depth: Int, detail: String, access: Access, index: String?) {
      self.depth = depth
      self.detail = detail
      self.access = access
      self.index = index
    }
  }

  /// The statement, with its parameters.
  public let sql: String
  /// The steps in the order in which the engine lists them.
  public let steps: [Step]

  /// Makes a plan of its parts.
  public init(sql: String, steps: [Step]) {
    self.sql = sql
    self.steps = steps
  }

  /// The steps that read all rows of a table.
  public var scans: [Step] { steps.filter { $0.access == .scan } }
}

extension Store {
  /// No plans: the engine has none.
  public func plans(of query: StoreQuery, prefersIndexes: Bool) throws(StoreError) -> [StatementPlan] { [] }
}
