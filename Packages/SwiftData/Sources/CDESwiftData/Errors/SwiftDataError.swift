public import CDEStore

/// The error of the SwiftData layer.
///
/// Errors are equal if they have the same ``code``, so a `catch` may name a static member:
///
/// ```swift
/// do { container = try ModelContainer(for: Trip.self) } catch SwiftDataError.loadIssueModelContainer {
///   // The store can't be opened. The error's cause says why.
/// }
/// ```
public struct SwiftDataError: CDEError, Hashable {
  /// The kind of error. Later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What went wrong and what to do about it, for people.
  public var message: String
  /// The error of the layer below that caused this one, if any.
  public var cause: (any Error)?
  /// Name of the entity concerned, where known.
  public var entity: String?
  /// Name of the property concerned, where known.
  public var property: String?

  init(
    _ code: Code, _ message: String, entity: String? = nil, property: String? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.entity = entity
    self.property = property
    self.cause = cause
  }

  /// Compares the codes alone, because an error of the same kind may concern another property.
  public static func == (first: SwiftDataError, second: SwiftDataError) -> Bool { first.code == second.code }

  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// Whether any error is one of this layer with the same ``code``, for `catch` and `switch`.
  public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
    (error as? SwiftDataError)?.code == pattern.code
  }
}

// MARK: SwiftData's own errors

extension SwiftDataError {
  /// A fetch in batches was to include changes that are not saved.
  public static let includePendingChangesWithBatchSize = SwiftDataError(
    .includePendingChangesWithBatchSize,
    "A fetch in batches can't include changes that are not saved. Set includePendingChanges of the descriptor "
      + "to false, or fetch without a batch size.")
  /// A predicate has a construct that can't be translated.
  public static let unsupportedPredicate = SwiftDataError(
    .unsupportedPredicate,
    "The predicate has a construct that can't be translated for the store. Fetch with a simpler predicate, and "
      + "filter the result.")
  /// A key path names no persisted property of the model.
  public static let unsupportedKeyPath = SwiftDataError(
    .unsupportedKeyPath,
    "The key path names no persisted property of the model. Name a stored property that is not transient.")
  /// Identifiers of unsaved models can't be sorted together with those of rows.
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError(
    .sortingPendingChangesWithIdentifiers,
    "Identifiers can't be sorted while changes are not saved. Save the context first, or set "
      + "includePendingChanges to false.")
  /// A sort descriptor can't be translated.
  public static let unsupportedSortDescriptor = SwiftDataError(
    .unsupportedSortDescriptor,
    "The sort descriptor can't be translated for the store. Sort by a persisted property of the model.")
  /// Two configurations of a container name the same store or the same entities.
  public static let duplicateConfiguration = SwiftDataError(
    .duplicateConfiguration,
    "Two configurations of the container are the same. Give each a name, a URL and a schema of its own.")
  /// The name of a configuration is too long for a file.
  public static let configurationFileNameTooLong = SwiftDataError(
    .configurationFileNameTooLong,
    "The configuration's name is too long for a file. Use at most 245 bytes of UTF-8, or give a URL.")
  /// The name of a configuration has characters that a file name can't have.
  public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
    .configurationFileNameContainsInvalidCharacters,
    "The configuration's name can't be a file name: it is empty, is a relative folder, or has a slash or a zero "
      + "byte. Use another name, or give a URL.")
  /// The schema of a configuration has entities that the container's schema lacks.
  public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
    .configurationSchemaNotFoundInContainerSchema,
    "A configuration has entities that the container's schema lacks. Add their models to the container's schema."
  )
  /// A container's stores can't be opened, or its schema is no valid model; the cause says why.
  public static let loadIssueModelContainer = SwiftDataError(
    .loadIssueModelContainer, "The container's stores can't be opened. The cause says why.")
  /// A value can't be saved; the cause says why.
  public static let modelValidationFailure = SwiftDataError(
    .modelValidationFailure, "A model has a value that can't be saved. The cause says which.")
  /// A model has no context.
  public static let missingModelContext = SwiftDataError(
    .missingModelContext, "The model has no context. Insert it first, or fetch it again after its deletion.")
  /// A migration plan leads from a newer version to an older one.
  public static let backwardMigration = SwiftDataError(
    .backwardMigration,
    "A stage of the migration plan leads from a newer version to an older one. Order its schemas by version.")
  /// The store's version is none of the migration plan's.
  public static let unknownSchema = SwiftDataError(
    .unknownSchema,
    "The store was made with a schema that the migration plan does not have. Add the schema to its schemas.")
  /// Transactions after a history token were deleted.
  public static let historyTokenExpired = SwiftDataError(
    .historyTokenExpired,
    "Transactions after the history token were deleted. Read the store as a whole, and keep a newer token.")
  /// A request for transactions has a predicate or an order that history can't be asked by.
  public static let invalidTransactionFetchRequest = SwiftDataError(
    .invalidTransactionFetchRequest,
    "History can't be asked by this predicate or order. Fetch by token or date, and filter the result.")
}

extension SwiftDataError.Code {
  static let includePendingChangesWithBatchSize = Self(rawValue: "includePendingChangesWithBatchSize")
  static let unsupportedPredicate = Self(rawValue: "unsupportedPredicate")
  static let unsupportedKeyPath = Self(rawValue: "unsupportedKeyPath")
  static let sortingPendingChangesWithIdentifiers = Self(rawValue: "sortingPendingChangesWithIdentifiers")
  static let unsupportedSortDescriptor = Self(rawValue: "unsupportedSortDescriptor")
  static let duplicateConfiguration = Self(rawValue: "duplicateConfiguration")
  static let configurationFileNameTooLong = Self(rawValue: "configurationFileNameTooLong")
  static let configurationFileNameContainsInvalidCharacters = Self(
    rawValue: "configurationFileNameContainsInvalidCharacters")
  static let configurationSchemaNotFoundInContainerSchema = Self(
    rawValue: "configurationSchemaNotFoundInContainerSchema")
  static let loadIssueModelContainer = Self(rawValue: "loadIssueModelContainer")
  static let modelValidationFailure = Self(rawValue: "modelValidationFailure")
  static let missingModelContext = Self(rawValue: "missingModelContext")
  static let backwardMigration = Self(rawValue: "backwardMigration")
  static let unknownSchema = Self(rawValue: "unknownSchema")
  static let historyTokenExpired = Self(rawValue: "historyTokenExpired")
  static let invalidTransactionFetchRequest = Self(rawValue: "invalidTransactionFetchRequest")
}

// MARK: Errors that SwiftData has no name for

extension SwiftDataError.Code {
  /// The classes of a schema contradict each other: two of one name, counts that exclude each other, a property with a
  /// type that can't be stored.
  public static let invalidSchema = Self(rawValue: "invalidSchema")
  /// The inverse of a relationship can't be inferred, because several properties can be it.
  public static let ambiguousInverse = Self(rawValue: "ambiguousInverse")
  /// The inverse that a relationship names leads elsewhere, or is the inverse of another relationship.
  public static let invalidInverse = Self(rawValue: "invalidInverse")
  /// A value can't be encoded for its attribute, or stored values can't be decoded as the attribute's type.
  public static let valueCoding = Self(rawValue: "valueCoding")
  /// A file or text is no schema or identifier.
  public static let unreadable = Self(rawValue: "unreadable")
}

extension SwiftDataError {
  /// The same kind of error with a message about a certain case, and its cause.
  func about(
    _ message: String, entity: String? = nil, property: String? = nil, cause: (any Error)? = nil
  ) -> SwiftDataError {
    SwiftDataError(code, message, entity: entity, property: property, cause: cause)
  }
}
