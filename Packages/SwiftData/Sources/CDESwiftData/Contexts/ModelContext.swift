@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) public import CDEModelRuntime
public import Foundation

/// The models of a container that a part of the program works with, and their unsaved changes.
///
/// A context belongs to the isolation of the code that made it: to the main actor for ``ModelContainer/mainContext``, to the actor for
/// a ``ModelActor()``, to its maker otherwise. It is not `Sendable`. There is one instance for each row and context.
public class ModelContext: Equatable {
  /// Whose jobs may use the context.
  private enum Home {
    /// Code of its maker alone. What other contexts saved is merged at each call.
    case maker
    /// The executor of the runtime's context. What other contexts saved is merged soon, and at each call.
    case executor
  }

  let core: ContainerCore
  let context: ModelObjectContext
  private var home = Home.maker
  private let observer = ModelObserver()
  private var isAutosaveScheduled = false
  private weak var knownContainer: ModelContainer?

  /// Makes a context that its maker's isolation uses.
  public convenience init(_ container: ModelContainer) {
    self.init(container.core, .privateQueueConcurrencyType)
    knownContainer = container
    context.acceptCommitsUntilAsked()
  }

  /// Makes a context of the main actor.
  init(mainOf core: ContainerCore) {
    self.core = core
    context = ModelObjectContext(concurrencyType: .mainQueueConcurrencyType)
    autosaveEnabled = true
    prepare()
    useExecutor()
  }

  private init(_ core: ContainerCore, _ type: NSManagedObjectContext.ConcurrencyType) {
    self.core = core
    context = ModelObjectContext(concurrencyType: type)
    prepare()
  }

  private func prepare() {
    if !ContainerCore.checksIsolation { context.leaveUnchecked() }
    context.modelContext = self
    context.persistentStoreCoordinator = core.coordinator
    // A second model with a unique value replaces the values of the row.
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.observer = observer
  }

  /// Gives the context to its executor, whose jobs merge other contexts' saves.
  func useExecutor() {
    home = .executor
    context.automaticallyMergesChangesFromParent = true
  }

  /// The container of the context's stores.
  public var container: ModelContainer {
    if let knownContainer { return knownContainer }
    let made = ModelContainer(core)
    knownContainer = made
    return made
  }

  /// Whether the context saves its changes soon after they were made. True for the main context, false for others at first.
  ///
  /// A context that its maker uses has no job of its own; it saves when it is told to.
  public var autosaveEnabled = false

  /// The name of the code that the saves of this context come from, for readers of the history.
  public var author: String? {
    get { context.transactionAuthor }
    set { context.transactionAuthor = newValue }
  }

  /// Records changes for an undo; nil for none.
  public var undoManager: UndoManager? {
    get { context.undoManager }
    set { context.undoManager = newValue }
  }

  /// The identity of this context for stores.
  public private(set) lazy var editingState = EditingState(id: UUID(), author: author)

  /// Whether the contexts are the same.
  public static func == (first: ModelContext, second: ModelContext) -> Bool { first === second }

  // MARK: Changes

  /// Whether there are unsaved changes.
  public var hasChanges: Bool { context.hasChanges }

  /// The models that the next save inserts, in the order of their insertion.
  public var insertedModelsArray: [any PersistentModel] {
    models(context.insertedObjects.sorted { $0.rowKey > $1.rowKey })
  }

  /// Saved models with unsaved changes.
  public var changedModelsArray: [any PersistentModel] {
    models(context.updatedObjects.sorted { $0.rowKey < $1.rowKey })
  }

  /// The models that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] {
    models(context.deletedObjects.sorted { $0.rowKey < $1.rowKey })
  }

  private func models(_ objects: [NSManagedObject]) -> [any PersistentModel] {
    objects.compactMap { ($0 as? _ModelObject)?.instance() }
  }

  /// Inserts a model, and every model that it is related to. The next save writes them.
  ///
  /// Does nothing for a model that the context has. A model of another context stays there.
  public func insert<T: PersistentModel>(_ model: T) {
    mergeOthers()
    let object = model._$object
    if let other = object.managedObjectContext {
      if other !== context {
        Diagnostics.report(
          "\(T.self) is in another context already, so it was not inserted. Save that context, and use the model here by its "
            + "persistentModelID.")
      }
      return
    }
    checkSchema(of: object)
    context.insert(object)
    object.holdModel()
  }

  private func checkSchema(of object: _ModelObject) {
    checkPrecondition(
      core.prepared.entity(of: object.info) != nil,
      "The schema of this container has no \(object.info.type). Add the class to the types of the container.")
  }

  /// Deletes a model at the next save, by the delete rules of its relationships.
  ///
  /// A model that no context has is left as it is. For a model of another context of the container, this context deletes its own
  /// instance of the same row.
  public func delete<T: PersistentModel>(_ model: T) {
    mergeOthers()
    let object = model._$object
    guard let other = object.managedObjectContext else { return }
    if other === context {
      object.letModelGo()
      return context.delete(object)
    }
    let id = object.objectID
    guard !id.isTemporaryID, let mine = resolved(id) else {
      Diagnostics.report(
        "\(T.self) is in another context and was never saved, so this context can't delete it. Save that context first."
      )
      return
    }
    context.delete(context.object(with: mine))
  }

  /// Drops all unsaved changes: values and relationships are as they were saved, and new models have no context.
  public func rollback() {
    mergeOthers()
    for object in context.insertedObjects { (object as? _ModelObject)?.letModelGo() }
    context.rollback()
  }

  /// Applies what follows from changes, such as notifications and autosaving, at once.
  public func processPendingChanges() { context.processPendingChanges() }

  /// Writes all unsaved changes in one transaction.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a value that can't be saved, otherwise the error of the runtime.
  public func save() throws {
    mergeOthers()
    guard context.hasChanges else { return }
    let changes = ModelNotifications.areUsed ? ModelNotifications.Changes(context) : nil
    if changes != nil { NotificationCenter.default.post(name: Self.willSaveName, object: self) }
    do { try context.save() } catch { throw Self.translated(error) }
    changes?.post(self)
  }

  /// Runs a block, and saves.
  ///
  /// - Throws: the errors of the block, which leave the changes unsaved, and those of ``save()``.
  public func transaction(block: () throws -> Void) throws {
    try block()
    try save()
  }

  static func translated(_ error: any Error) -> any Error {
    guard let error = error as? ManagedObjectError else { return error }
    switch error.code {
    case .missingMandatoryProperty, .relationshipLacksMinimumCount, .relationshipExceedsMaximumCount,
      .relationshipDeniedDelete, .invalidValue, .numberTooLarge, .numberTooSmall, .dateTooLate, .dateTooSoon,
      .stringTooLong, .stringTooShort, .stringPatternMatching, .multipleValidationErrors:
      return SwiftDataError.modelValidationFailure.about(
        error.message, entity: error.entity, property: error.property, cause: error)
    default: return error
    }
  }

  // MARK: Other contexts

  /// Merges what other contexts saved before this call.
  func mergeOthers() {
    if home == .maker || context.executor.isCurrent { context.mergeWaiting() }
  }

  // MARK: Autosaving

  func changesWereAnnounced() {
    guard autosaveEnabled, home == .executor, !isAutosaveScheduled, context.hasChanges else { return }
    isAutosaveScheduled = true
    let carried = Weak(self)
    context.executor.enqueue { carried.context?.autosave() }
  }

  private struct Weak: @unchecked Sendable {
    // Guard: used on the context's executor alone.
    weak var context: ModelContext?
    init(_ context: ModelContext) { self.context = context }
  }

  private func autosave() {
    isAutosaveScheduled = false
    guard autosaveEnabled, context.hasChanges else { return }
    do { try save() } catch {
      Diagnostics.report(
        "Autosaving failed, and the changes stay unsaved: \(error). Correct them, and save.")
    }
  }
}

@available(
  *, unavailable, message: "A context belongs to one isolation. Pass its container, or a model actor."
)
extension ModelContext: Sendable {}

/// Which context a store works for.
public struct EditingState: Hashable, Sendable {
  /// Differs for each context.
  public let id: UUID
  /// The author of the context's saves.
  public let author: String?
}
