import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import Foundation

/// Changes the store for the pages. Each change is validated and saved at once, and can be undone.
///
/// The context never has unsaved changes between two calls. Its objects keep the rows of their last read, so that a save finds the
/// commits of other programs in between.
final class StudioEditor: Sendable {
  let store: OpenedStore
  let context: NSManagedObjectContext
  let steps = Steps()

  final class Steps: @unchecked Sendable {
    // Guard: used on the isolation of the editor's context only.
    let manager = UndoManager()
    /// How many steps on the manager's stack may be redone. Changes that failed are below them.
    var redoCount = 0
  }

  init(_ store: OpenedStore) {
    self.store = store
    context = store.container.newBackgroundContext()
    context.transactionAuthor = "cde"
    context.performAndWait {
      steps.manager.groupsByEvent = false
      steps.manager.levelsOfUndo = 100
      context.undoManager = steps.manager
    }
  }

  /// Carries out a change.
  ///
  /// - Returns: the IDs of the objects that it is about, and what can be undone.
  /// - Throws: ``StudioFailure``. The store is as before, and so are the steps of undo, unless another program changed the objects.
  func apply(_ edit: StudioEdit) throws -> JSONValue {
    try context.performAndWait {
      let change = try prepared(edit)
      steps.manager.beginUndoGrouping()
      do {
        let objects = try change.body()
        try context.save()
        steps.manager.setActionName(change.name)
        steps.manager.endUndoGrouping()
        steps.redoCount = 0
        return answer(objects.map(\.objectID))
      } catch {
        let failure = Self.failure(error, change.fields)
        takeBack()
        if (error as? ManagedObjectError)?.code == .saveConflict { forgetAll() }
        throw failure
      }
    }
  }

  /// Undoes the last change, and saves that.
  func undo() throws -> JSONValue { try step(isUndo: true) }

  /// Repeats the change that was undone last, and saves that.
  func redo() throws -> JSONValue { try step(isUndo: false) }

  /// What can be undone.
  var state: JSONValue { context.performAndWait { answer([]) } }

  // MARK: Steps

  private func step(isUndo: Bool) throws -> JSONValue {
    try context.performAndWait {
      let manager = steps.manager
      guard isUndo ? manager.canUndo : steps.redoCount > 0 else {
        throw StudioFailure(.wrong, "There is nothing to \(isUndo ? "undo" : "redo").")
      }
      if isUndo { manager.undo() } else { manager.redo() }
      context.processPendingChanges()
      let objects = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
      do {
        // What the store had before may break rules that the model got later.
        if isUndo { try context.saveRestored() } else { try context.save() }
      } catch {
        var failure = Self.failure(error, nil)
        // The commit of another program is newer than the values that would come back.
        let isOutdated = (error as? ManagedObjectError)?.code == .saveConflict
        if !isOutdated {
          // A later attempt may succeed, for example when another program no longer has the file locked.
          if isUndo { manager.redo() } else { manager.undo() }
          context.processPendingChanges()
        }
        if isOutdated || context.hasChanges {
          context.rollback()
          forgetAll()
          failure.message += " Earlier changes can't be undone any more."
        }
        throw failure
      }
      steps.redoCount += isUndo ? 1 : -1
      return answer(objects.map(\.objectID).sorted { ShortID.text($0) < ShortID.text($1) })
    }
  }

  /// Drops all steps and all values: another program has changed what they are about.
  private func forgetAll() {
    context.reset()
    steps.manager.removeAllActions()
    steps.redoCount = 0
  }

  /// Takes back a change that could not be saved. A rollback would drop the steps before it.
  private func takeBack() {
    let count = steps.manager.undoCount
    steps.manager.endUndoGrouping()
    steps.redoCount = 0
    if steps.manager.undoCount > count { steps.manager.undo() }
    context.processPendingChanges()
    if context.hasChanges { context.rollback() }
  }

  private func answer(_ ids: [NSManagedObjectID]) -> JSONValue {
    let manager = steps.manager
    func name(_ isThere: Bool, _ text: String) -> JSONValue { isThere ? .string(text) : .null }
    return .object([
      .init("ids", .array(ids.map { .string(ShortID.text($0)) })),
      .init("undo", name(manager.canUndo, manager.undoActionName)),
      .init("redo", name(steps.redoCount > 0, manager.redoActionName)),
    ])
  }

  // MARK: Failures

  /// What a save refused, by property where a page has a field for it.
  private static func failure(_ error: any Error, _ fields: Set<String>?) -> StudioFailure {
    guard let known = error as? ManagedObjectError else { return StudioFailure(error) }
    let message = ToolError(error).message
    switch known.code {
    case .saveConflict:
      return StudioFailure(
        .conflict, "Another program changed the object meanwhile. Nothing was saved. \(message)")
    case .uniquenessConflict:
      let names = known.constraintConflicts.flatMap(\.constraint)
      let concerned = names.isEmpty ? [known.property].compactMap { $0 } : names
      return StudioFailure(
        .invalid, message,
        fields: concerned.map { .init($0, "Another object has this value, which has to be unique.") })
    default:
      let failures = known.failures.isEmpty ? [known] : known.failures
      let found = failures.compactMap { failure -> StudioFailure.Field? in
        guard let property = failure.property, fields?.contains(property) != false else { return nil }
        // The page is that of the object, so its URI says nothing.
        return .init(property, failure.message.replacing(#/ \(x-coredata:[^)]*\)/#, with: ""))
      }
      let isOfValues = !found.isEmpty || known.code == .relationshipDeniedDelete
      return StudioFailure(isOfValues ? .invalid : .failed, message, fields: found)
    }
  }
}

extension Studio {
  /// Changes the store.
  ///
  /// - Returns: `ids` of the objects concerned; `undo` and `redo`, the names of what can be undone and redone, or null.
  /// - Throws: ``StudioFailure``, with the fields concerned. The store is as before then.
  public func edit(_ edit: StudioEdit) throws -> JSONValue { try committing { try $0.apply(edit) } }

  /// Undoes the last change of the pages.
  public func undo() throws -> JSONValue { try committing { try $0.undo() } }

  /// Repeats the change that was undone last.
  public func redo() throws -> JSONValue { try committing { try $0.redo() } }

  /// The names of what can be undone and redone.
  public func undoState() throws -> JSONValue { try editor().state }

  private func committing(_ body: (StudioEditor) throws -> JSONValue) throws -> JSONValue {
    let answer: JSONValue
    do { answer = try body(try editor()) } catch { throw StudioFailure(error) }
    noteCommit()
    return answer
  }
}
