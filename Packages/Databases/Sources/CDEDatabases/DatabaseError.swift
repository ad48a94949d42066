public import CDEStore
internal import CDEModelRuntime

/// What goes wrong in a database itself; what goes wrong in saving and fetching is the runtime's own error.
public nonisolated struct DatabaseError: CDEError {
  /// What went wrong. Open: later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's name.
    public let rawValue: String
    /// Makes a code from a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The time that a policy allows was over. The message says whether the operation has run.
    public static let timedOut = Code(rawValue: "timedOut")
    /// A read changed objects. Nothing of it was kept.
    public static let changesInRead = Code(rawValue: "changesInRead")
    /// Changes that `withContext` left unsaved can't be saved, so the transaction did not start.
    public static let unsavedChanges = Code(rawValue: "unsavedChanges")
    /// The closure of a transaction saved the context, and the rest failed because of another writer. What it saved is kept.
    public static let partlySaved = Code(rawValue: "partlySaved")
    /// Two values, or two objects, have the same key.
    public static let duplicateKey = Code(rawValue: "duplicateKey")
    /// A key path is none of a persisted property.
    public static let unknownKey = Code(rawValue: "unknownKey")
  }

  /// What went wrong, for programs.
  public var code: Code
  /// What went wrong and what to do about it.
  public var message: String
  /// The error underneath; `nil` if there is none.
  public var cause: (any Error)?
  /// The model's name, where the error concerns one.
  public var entity: String?

  /// Makes an error from its parts; see the properties.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil, entity: String? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
    self.entity = entity
  }
}

/// What ``DefaultDatabase`` throws: no database was set.
public nonisolated struct NotImplementedError: CDEError {
  /// What went wrong. There is one thing.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No database was set where the operation ran.
    public static let noDatabase = Code(rawValue: "noDatabase")
  }

  /// Always `.noDatabase`.
  public var code: Code { .noDatabase }
  /// The operation that was asked for.
  public let operation: String
  /// Always `nil`.
  public var cause: (any Error)? { nil }
  /// Names the operation and says how to set a database.
  public var message: String {
    "No database was set, so \(operation) can't run. Run the code inside withDatabase(_:)."
  }

  /// Makes the error for an operation.
  public init(operation: String) { self.operation = operation }
}

nonisolated func isBusy(_ error: any Error) -> Bool {
  if let error = error as? StoreError { return error.code == .busy }
  if let error = error as? ManagedObjectError, error.code == .store, let cause = error.cause {
    return isBusy(cause)
  }
  return false
}

nonisolated func isConflict(_ error: any Error) -> Bool {
  guard let error = error as? ManagedObjectError else { return false }
  return error.code == .saveConflict
}
