/// Gets the requests to a store and the statements that the store ran for them. For tests and tools.
///
/// Without an observer this costs nothing. `Docs/TestingGuide.md` contains the costs with one.
@_spi(CDE) public protocol StatementObserver: AnyObject, Sendable {
  /// Whether statements contain the bound values, which may be confidential.
  var wantsValues: Bool { get }

  /// Called when a request has ended, with or without an error. Called on the request's thread, which holds
  /// the store's connection.
  ///
  /// - Precondition: the observer does not call the store.
  func didRun(_ request: ObservedRequest)
}

/// One call of a store, and the statements of the engine for it.
@_spi(CDE) public struct ObservedRequest: Sendable, Hashable {
  /// The purpose of a request.
  public enum Kind: String, Sendable, Hashable {
    /// A fetch, a count, rows by key, a relationship's members.
    case read
    /// A context's save.
    case save
    /// A batch request.
    case batch
    /// The store's own needs: metadata, keys assigned in advance.
    case upkeep
  }

  /// The purpose of the request.
  public var kind: Kind
  /// The statements, in the order of their first run.
  public var statements: [ObservedStatement]
  /// The time with the engine: its statements, and decoding their rows.
  public var duration: Duration
  /// The time before it, in which others had the connection or the file.
  public var waiting: Duration

  /// Makes a request from its parts.
  public init(
    kind: Kind, statements: [ObservedStatement], duration: Duration = .zero, waiting: Duration = .zero
  ) {
    self.kind = kind
    self.statements = statements
    self.duration = duration
    self.waiting = waiting
  }
}

/// A statement's text, and how often it ran in succession. For example, the changes of many rows are many runs
/// of one statement.
@_spi(CDE) public struct ObservedStatement: Sendable, Hashable {
  /// The statement's text. It contains values instead of the parameters if the observer requires them.
  public var sql: String
  /// How often the statement ran in succession.
  public var runs: Int
  /// How often the engine stepped to a next row in scans of whole tables; nil if the engine does not tell.
  public var scannedRows: Int?

  /// Makes a statement from its text.
  public init(sql: String, runs: Int = 1) {
    self.sql = sql
    self.runs = runs
  }
}
