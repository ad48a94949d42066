/// Is told what a store was asked, and by which statements it answered; for tests and tools.
///
/// A store without an observer does nothing for this; see `Docs/TestingGuide.md` for what it costs with one.
@_spi(CDE) public protocol StatementObserver: AnyObject, Sendable {
  /// Whether statements come with the values that were bound to them, which may be confidential.
  var wantsValues: Bool { get }

  /// A request has ended, well or with an error. On the thread that made it, which holds the store's
  /// connection meanwhile: the observer must not call the store.
  func didRun(_ request: ObservedRequest)
}

/// One call of a store, and what the engine ran for it.
@_spi(CDE) public struct ObservedRequest: Sendable, Hashable {
  /// What a request was for.
  public enum Kind: String, Sendable, Hashable {
    /// A fetch, a count, rows looked up by key, a relationship's members.
    case read
    /// What a context saves.
    case save
    /// A batch request.
    case batch
    /// What the store needs for itself: metadata, keys handed out ahead.
    case upkeep
  }

  /// What the request was for.
  public var kind: Kind
  /// In the order of their first run.
  public var statements: [ObservedStatement]

  /// Makes a request from its parts.
  public init(kind: Kind, statements: [ObservedStatement]) {
    self.kind = kind
    self.statements = statements
  }
}

/// A statement's text, and how often it ran in a row: many keys are looked up by many runs of one statement.
@_spi(CDE) public struct ObservedStatement: Sendable, Hashable {
  /// The statement's text, with values in place of the parameters if the observer asked for them.
  public var sql: String
  /// How often the statement ran in a row.
  public var runs: Int

  /// Makes a statement from its text.
  public init(sql: String, runs: Int = 1) {
    self.sql = sql
    self.runs = runs
  }
}
