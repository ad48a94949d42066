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
  /// The executor of a maker that is the main actor, and wants its changes saved.
  private var makersExecutor: ContextExecutor?
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

  /// Makes a context for one read of a caller elsewhere.
  convenience init(standIn core: ContainerCore) { self.init(core, .privateQueueConcurrencyType) }

  private init(_ core: ContainerCore, _ type: NSManagedObjectContext.ConcurrencyType) {
    self.core = core
    context = ModelObjectContext(concurrencyType: type)
    prepare()
  }

  private func prepare() {
    // Which isolation its maker has is not known, so only contexts with an executor are looked at.
    if OutsideUse.rule != .ends { context.leaveUnchecked() }
    context.serve(self)
    context.core = core
    context.persistentStoreCoordinator = core.coordinator
    // A second model with a unique value replaces the values of the row.
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.observer = observer
    beginCustom()
  }

  /// Gives the context to its executor, whose jobs merge other contexts' saves.
  func useExecutor() {
    home = .executor
    makersExecutor = nil
    context.announce(on: nil)
    if OutsideUse.rule == .answered { context.answerOutside() }
    if autosaveEnabled { AutosavingContexts.add(self, context.executor) }
    context.automaticallyMergesChangesFromParent = true
  }

  /// The container of the context's stores.
  public var container: ModelContainer {
    if let known = knownContainer ?? core.served { return known }
    let made = ModelContainer(core)
    knownContainer = made
    return made
  }

  /// Whether the context saves its changes soon after they were made. True for the main context, false for others at first.
  ///
  /// The main context, a context of a ``ModelActor()``, and one for which it is set on the main actor save in jobs of their actor, and
  /// once more before the process ends in good order. A context that other code made has no actor to save on; it saves when it
  /// is told to, and reports changes that it loses. A failure is reported, and leaves the changes unsaved.
  public var autosaveEnabled = false {
    didSet { if autosaveEnabled != oldValue { autosavingChanged() } }
  }

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
  public var editingState: EditingState { EditingState(id: stateID, author: author) }
  private let stateID = UUID()

  /// Whether the contexts are the same.
  public static func == (first: ModelContext, second: ModelContext) -> Bool { first === second }

  // MARK: Changes

  /// Whether there are unsaved changes.
  public var hasChanges: Bool { !isRefused("hasChanges") && context.hasChanges }

  /// The models that the next save inserts, in the order of their insertion.
  public var insertedModelsArray: [any PersistentModel] {
    models("insertedModelsArray") { $0.insertedObjects.sorted { $0.rowKey > $1.rowKey } }
  }

  /// Saved models with unsaved changes.
  public var changedModelsArray: [any PersistentModel] {
    models("changedModelsArray") { $0.updatedObjects.sorted { $0.rowKey < $1.rowKey } }
  }

  /// The models that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] {
    models("deletedModelsArray") { $0.deletedObjects.sorted { $0.rowKey < $1.rowKey } }
  }

  private func models(
    _ name: String, _ objects: (NSManagedObjectContext) -> [NSManagedObject]
  ) -> [any PersistentModel] {
    if isRefused(name) { return [] }
    return objects(context).compactMap { ($0 as? _ModelObject)?.instance() }
  }

  /// Inserts a model, and every model that it is related to. The next save writes them.
  ///
  /// A model that the next save would delete is kept. Otherwise does nothing for a model that the context has. A model of another
  /// context stays there.
  public func insert<T: PersistentModel>(_ model: T) {
    if isRefused("insert(_:)") { return }
    mergeOthers()
    let object = model._$object
    if let other = object.managedObjectContext {
      if other === context {
        if object.isDeleted { context.insert(object) }
      } else {
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
    if isRefused("delete(_:)") { return }
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
    if isRefused("rollback()") { return }
    mergeOthers()
    let inserted = context.insertedObjects
    for object in inserted { (object as? _ModelObject)?.letModelGo() }
    context.rollback()
    for object in inserted { object._cdBecomeFree() }
  }

  /// Applies what follows from changes, such as notifications and autosaving, at once.
  public func processPendingChanges() {
    if !isRefused("processPendingChanges()") { context.processPendingChanges() }
  }

  /// Writes all unsaved changes in one transaction.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a value that can't be saved, otherwise the error of the runtime.
  public func save() throws {
    try checkIsolation("save()")
    mergeOthers()
    guard context.hasChanges else { return }
    let changes = ModelNotifications.areUsed ? ModelNotifications.Changes(context) : nil
    if changes != nil { NotificationCenter.default.post(name: Self.willSaveName, object: self) }
    do { try writing { try context.save() } } catch { throw Self.translated(error) }
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
    if let original = CustomStore.original(error) { return original }
    guard let error = error as? ManagedObjectError else { return error }
    switch error.code {
    case .missingMandatoryProperty, .relationshipLacksMinimumCount, .relationshipExceedsMaximumCount,
      .relationshipDeniedDelete, .invalidValue, .numberTooLarge, .numberTooSmall, .dateTooLate, .dateTooSoon,
      .stringTooLong, .stringTooShort, .stringPatternMatching, .multipleValidationErrors:
      return SwiftDataError.modelValidationFailure.about(
        error.message, entity: error.entity, property: error.property, cause: error)
    case .predicate:
      // The construct is named by the store's layer, which knows its tables.
      return SwiftDataError.unsupportedPredicate.about(error.message, entity: error.entity, cause: error)
    default: return error
    }
  }

  /// Runs a fetch, whose errors become those of SwiftData.
  static func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw translated(error) }
  }

  // MARK: Other contexts

  /// Merges what other contexts saved before this call.
  func mergeOthers() {
    if home == .maker || context.executor.isCurrent { context.mergeWaiting() }
  }

  // MARK: Autosaving

  private func autosavingChanged() {
    makersExecutor = nil
    if autosaveEnabled, home == .maker {
      let main = ContextExecutor.main(name: "autosaving")
      if main.isCurrent { makersExecutor = main }
    }
    if home == .maker { context.announce(on: makersExecutor) }
    guard autosaveEnabled, let executor = autosavingExecutor else { return }
    AutosavingContexts.add(self, executor)
    if executor.isCurrent { changesWereAnnounced() }
  }

  /// The executor of the isolation that the context belongs to, as far as it is known.
  private var autosavingExecutor: ContextExecutor? { home == .executor ? context.executor : makersExecutor }

  func changesWereAnnounced() {
    guard autosaveEnabled, !isAutosaveScheduled, let executor = autosavingExecutor, context.hasChanges else {
      return
    }
    isAutosaveScheduled = true
    executor.enqueue { [context] in context.modelContext?.autosave() }
  }

  /// Saves, on the isolation of the context.
  func autosave() {
    isAutosaveScheduled = false
    guard autosaveEnabled, context.hasChanges else { return }
    do { try save() } catch {
      Diagnostics.report(
        "Autosaving failed, and the changes stay unsaved: \(error). Correct them, and save.")
    }
  }

  deinit {
    for store in core.custom { store.end(editingState) }
    // No other code has the context any more.
    guard autosaveEnabled, context.hasChanges else { return }
    Diagnostics.report(
      "A context with autosaveEnabled was freed with unsaved changes, which are lost. Keep the context until they are saved, or save "
        + "them. A context that is neither the main one, nor of a model actor, nor set to autosave on the main actor has no actor "
        + "to save on.")
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
