/// The error of the store layer.
///
/// ```swift
/// do { try store.commit(transaction) } catch let error as StoreError where error.code == .busy {
///   // another process holds the write lock: try again later
/// }
/// ```
public struct StoreError: CDEError {
  /// The kind of error. Later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's name.
    public let rawValue: String
    /// Makes a code from a name, one of the static members' or another.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The schema given to the store contradicts itself.
    public static let invalidSchema = Code(rawValue: "invalidSchema")
    /// The file is no store, is damaged, or was written by a newer version.
    public static let unreadable = Code(rawValue: "unreadable")
    /// The store's entities differ from the schema's.
    public static let incompatibleSchema = Code(rawValue: "incompatibleSchema")
    /// The store's rows can't be migrated to the schema; ``StoreError/obstacles`` lists the reasons.
    public static let migration = Code(rawValue: "migration")
    /// The file or its folder can't be opened or created.
    public static let cannotOpen = Code(rawValue: "cannotOpen")
    /// The store's file was deleted, renamed or replaced while the store was open.
    public static let fileMoved = Code(rawValue: "fileMoved")
    /// Another program changed the file of a store that is opened for reading only.
    public static let fileChanged = Code(rawValue: "fileChanged")
    /// The process, or the system, has reached its limit of open files.
    public static let tooManyOpenFiles = Code(rawValue: "tooManyOpenFiles")
    /// The store was opened before a `fork()`, by the parent process.
    public static let forked = Code(rawValue: "forked")
    /// The store, its file or its folder only allows reading.
    public static let readOnly = Code(rawValue: "readOnly")
    /// Another connection held the lock for longer than the busy timeout.
    public static let busy = Code(rawValue: "busy")
    /// The disk is full.
    public static let full = Code(rawValue: "full")
    /// The operating system reported a read or write failure.
    public static let io = Code(rawValue: "io")
    /// A row names a file of external storage that is gone.
    public static let externalValueMissing = Code(rawValue: "externalValueMissing")
    /// A uniqueness constraint was violated.
    public static let uniqueness = Code(rawValue: "uniqueness")
    /// Another constraint was violated.
    public static let constraint = Code(rawValue: "constraint")
    /// The engine can't store a value, such as text with a zero byte. ``StoreError/properties`` names the attribute.
    public static let invalidValue = Code(rawValue: "invalidValue")
    /// Rows changed or were deleted after they were read.
    public static let conflict = Code(rawValue: "conflict")
    /// A reference would lead to no row; ``StoreError/references`` lists such references.
    public static let danglingReference = Code(rawValue: "danglingReference")
    /// A value or statement exceeds a limit of the engine.
    public static let tooBig = Code(rawValue: "tooBig")
    /// The work was cancelled.
    public static let cancelled = Code(rawValue: "cancelled")
    /// The transaction would change a derived value whose expression is not understood.
    public static let unknownDerivation = Code(rawValue: "unknownDerivation")
    /// This engine does not support the query.
    public static let unsupportedQuery = Code(rawValue: "unsupportedQuery")
    /// The store was closed before.
    public static let closed = Code(rawValue: "closed")
    /// The engine failed in a way without its own code; `engineCode` contains the engine's code.
    public static let engine = Code(rawValue: "engine")
  }

  /// A row whose version differs from the version that the transaction had read.
  public struct RowConflict: Hashable, Sendable {
    /// Index of the row's entity in the schema.
    public var entity: EntityIndex
    /// The row's primary key.
    public var key: Int64
    /// The version the transaction expected.
    public var expectedVersion: Int64
    /// The version found, `nil` when the row no longer exists.
    public var foundVersion: Int64?

    /// Makes a conflict from its parts.
    public init(entity: EntityIndex, key: Int64, expectedVersion: Int64, foundVersion: Int64?) {
      self.entity = entity
      self.key = key
      self.expectedVersion = expectedVersion
      self.foundVersion = foundVersion
    }
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What went wrong and what to do about it. Contains no values of rows or queries.
  public var message: String
  /// The underlying error, such as one of Foundation's; `nil` if there is none.
  public var cause: (any Error)?
  /// The engine's own (extended) result code, if there is one.
  public var engineCode: Int32?
  /// Name of the entity concerned, where known.
  public var entity: String?
  /// Names of the properties concerned, where known.
  public var properties: [String]
  /// The rows in conflict, for `.conflict`.
  public var conflicts: [RowConflict]
  /// The references, for `.danglingReference`.
  public var references: [ReferenceConflict]
  /// The reasons why rows can't be migrated, for `.migration`.
  public var obstacles: [MigrationObstacle]

  /// Makes an error from its parts; see the properties.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, engineCode: Int32? = nil,
    entity: String? = nil, properties: [String] = [], conflicts: [RowConflict] = [],
    references: [ReferenceConflict] = [], obstacles: [MigrationObstacle] = []
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.engineCode = engineCode
    self.entity = entity
    self.properties = properties
    self.conflicts = conflicts
    self.references = references
    self.obstacles = obstacles
  }
}
