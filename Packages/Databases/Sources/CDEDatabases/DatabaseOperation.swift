@_spi(CDE) internal import CDEExecutors
@_spi(CDE) public import CDEModelRuntime

/// One thing to do with a context: what ``Database``'s calls are made of.
public nonisolated struct DatabaseOperation<Value: Sendable>: Sendable {
  /// What a database calls the operation: the method's name, in logs and recordings.
  public var name: String
  /// The model's name, where the operation concerns one.
  public var entity: String?
  /// Whether the operation only reads, or may change and save.
  public var access: DatabaseAccess
  /// Whether the operation may run again after a failure that took back what it did.
  public var isRepeatable: Bool
  /// Does the work and says how to get the answer, which may need the save that comes between.
  private var work: @Sendable (NSManagedObjectContext) throws -> (() throws -> Value)

  /// - Parameters:
  ///   - name: What the operation is called.
  ///   - entity: The model's name, where there is one.
  ///   - access: What the body needs.
  ///   - isRepeatable: nil for what the access says: closures over unsaved changes may not be repeated,
  ///     everything else may.
  ///   - body: What to do, on the isolation of the context that it is given. Objects must not leave it.
  public init(
    _ name: String, entity: String? = nil, access: DatabaseAccess, isRepeatable: Bool? = nil,
    _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) {
    self.init(name, entity, access, isRepeatable) { context in
      let value = try body(context)
      return { value }
    }
  }

  /// An operation whose answer is made after the save, such as the handles of new objects.
  ///
  /// The closure that `work` returns runs after the save, on the same isolation; all else is as for any operation.
  public static func answeringAfterSave(
    _ name: String, entity: String? = nil, access: DatabaseAccess, isRepeatable: Bool? = nil,
    _ work: @escaping @Sendable (NSManagedObjectContext) throws -> (() throws -> Value)
  ) -> Self {
    Self(name, entity, access, isRepeatable, work: work)
  }

  private init(
    _ name: String, _ entity: String?, _ access: DatabaseAccess, _ isRepeatable: Bool?,
    work: @escaping @Sendable (NSManagedObjectContext) throws -> (() throws -> Value)
  ) {
    self.name = name
    self.entity = entity
    self.access = access
    self.isRepeatable = isRepeatable ?? (access != .changes)
    self.work = work
  }

  /// The same operation with something done around its body, on the same isolation.
  ///
  /// - Parameter around: Calls what it is given, or throws instead; what it throws after the call fails the
  ///   operation as if its body had thrown.
  public func wrapping(
    _ around: @escaping @Sendable (_ proceed: () throws -> Void) throws -> Void
  ) -> Self {
    var copy = self
    let work = work
    copy.work = { context in
      var answer: (() throws -> Value)?
      try around { answer = try work(context) }
      guard let answer else {
        failPrecondition("What wraps a database operation calls proceed() once, or throws.")
      }
      return answer
    }
    return copy
  }

  /// Runs the operation with a context, as its access asks: what databases do with operations.
  ///
  /// To be called on the context's isolation. A transaction saves what was unsaved before, runs, saves, and
  /// takes everything back if it throws, but what its body has saved by itself. Other changes stay unsaved; if the context had none before, a body
  /// that throws leaves none.
  ///
  /// - Throws: what the body and the saves throw; ``DatabaseError``; `CancellationError` if the task was
  ///   cancelled before.
  public func run(in context: NSManagedObjectContext) throws -> Value {
    // The caller no longer waits for the answer, and nothing was done yet.
    try Task.checkCancellation()
    switch access {
    case .read: return try context.refusingWrites { try work(context)() }
    case .changes: return try change(context)
    case .transaction:
      try saveEarlierChanges(context)
      let saves = context.writeCount
      do {
        let answer = try work(context)
        try context.save()
        return try answer()
      } catch {
        context.rollback()
        // What it has read is no longer what is stored.
        if isConflict(error) { context.reset() }
        throw context.writeCount == saves ? error : partlySaved(error)
      }
    }
  }

  /// The error of a transaction whose closure has saved the context by itself. It must not run again: it would do twice what it has saved.
  private func partlySaved(_ error: any Error) -> any Error {
    guard isConflict(error) || isBusy(error) else { return error }
    return DatabaseError(
      .partlySaved,
      "The closure of \(name) called save() or executed a batch request, which is kept. What came after it is taken back, and is not "
        + "tried again. Leave the saving to \(name), whose changes are saved together when it ends.",
      cause: error, entity: entity)
  }

  private func change(_ context: NSManagedObjectContext) throws -> Value {
    let wasClean = !context.hasChanges
    do {
      return try work(context)()
    } catch {
      if wasClean, context.hasChanges { context.rollback() }
      throw error
    }
  }

  private func saveEarlierChanges(_ context: NSManagedObjectContext) throws {
    guard context.hasChanges else { return }
    do {
      try context.save()
    } catch {
      if isBusy(error) { throw error }
      throw DatabaseError(
        .unsavedChanges,
        "Changes that withContext left unsaved can't be saved, so nothing was done. Correct them and call "
          + "save(), or take them back by rollback().", cause: error)
    }
  }
}

/// What an operation needs of the context that it runs with.
public nonisolated enum DatabaseAccess: String, Sendable, Hashable {
  /// Looks only. Reads run beside each other and beside a writer, each seeing what is saved; while there
  /// are unsaved changes they run where these are.
  case read
  /// Works with the database's own context and leaves its changes unsaved.
  case changes
  /// Changes that are saved when it ends, or taken back when it throws.
  case transaction
}
