@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
public import Foundation

extension ModelContext {
  /// Fetches models. Registered instances are returned as they are, with their unsaved changes.
  ///
  /// - Throws: ``SwiftDataError`` for a predicate or an order that can't be translated, otherwise the error of the store.
  public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try beginFetch()
    if let store = customStore(of: T.self) {
      return try customObjects(descriptor, store).map { $0.instance(as: T.self) }
    }
    let request = try descriptor.request()
    let info = _ModelInfo.known(T.self)
    // Objects of a subclass may be among them.
    let hasSubclasses = core.prepared.entity(of: info)?.subentities.isEmpty != true
    return try Self.translating { try context.fetch(request) }.map {
      let object = unsafeDowncast($0, to: _ModelObject.self)
      return object._cast(object.instance(hasSubclasses ? object.info : info, in: self), to: T.self)
    }
  }

  /// The number of models that a fetch would return.
  public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try beginFetch()
    if let store = customStore(of: T.self) { return try customCount(descriptor, store) }
    let request = try descriptor.request()
    return try Self.translating { try context.count(for: request) }
  }

  /// Fetches the identifiers of models, without their values.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] {
    if let store = customStore(of: T.self) {
      try beginFetch()
      return try customIdentifiers(descriptor, store)
    }
    return try identifiers(descriptor).map(PersistentIdentifier.init)
  }

  func beginFetch() throws {
    try checkIsolation("a fetch")
    mergeOthers()
  }

  private func identifiers<T>(_ descriptor: FetchDescriptor<T>) throws -> [NSManagedObjectID] {
    try beginFetch()
    if let store = customStore(of: T.self) { return try customObjects(descriptor, store).map(\.objectID) }
    let request = NSFetchRequest<NSManagedObjectID>(entityName: Schema.entityName(for: T.self))
    try descriptor.configure(request)
    request.resultType = .managedObjectIDResultType
    return try Self.translating { try context.fetch(request) }
  }

  /// Fetches models as a collection that reads them in batches, and keeps few of them.
  ///
  /// - Throws: ``SwiftDataError/includePendingChangesWithBatchSize`` if the descriptor includes unsaved changes.
  public func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> {
    try beginFetch()
    if descriptor.includePendingChanges, context.hasChanges {
      throw SwiftDataError.includePendingChangesWithBatchSize
    }
    if let store = customStore(of: T.self) {
      let objects = try customObjects(descriptor, store)
      return FetchResultsCollection(count: objects.count) { objects[$0].instance(as: T.self) }
    }
    let request = try descriptor.request()
    let batches = try Self.translating { try context.fetch(request, batchSize: max(batchSize, 1)) }
    return FetchResultsCollection(count: batches.count) { index in
      unsafeDowncast(batches[index], to: _ModelObject.self).instance(as: T.self)
    }
  }

  /// Fetches identifiers as a collection.
  ///
  /// - Throws: ``SwiftDataError/includePendingChangesWithBatchSize`` if the descriptor includes unsaved changes.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    try beginFetch()
    if descriptor.includePendingChanges, context.hasChanges {
      throw SwiftDataError.includePendingChangesWithBatchSize
    }
    let ids = try identifiers(descriptor)
    return FetchResultsCollection(count: ids.count) { PersistentIdentifier(ids[$0]) }
  }

  /// Runs a block for each model of a fetch, in its order, and keeps the memory of one batch.
  ///
  /// - Parameters:
  ///   - descriptor: the models.
  ///   - batchSize: the number of models that are read together.
  ///   - allowEscapingMutations: whether the block may leave unsaved changes. They are kept then, and so are the models that
  ///     have them.
  ///   - block: gets each model.
  /// - Throws: the errors of the block and of the fetch, and ``SwiftDataError`` with code `escapingMutations` as soon as a batch
  ///   left changes without leave.
  public func enumerate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (T) throws -> Void
  ) throws {
    let ids = try identifiers(descriptor)
    let hadChanges = context.hasChanges
    for start in stride(from: 0, to: ids.count, by: max(batchSize, 1)) {
      let batch = NSFetchRequest<NSManagedObject>(entityName: Schema.entityName(for: T.self))
      let part = Array(ids[start..<min(start + max(batchSize, 1), ids.count)])
      batch.predicate = NSPredicate(format: "SELF IN %@", part)
      let objects = try context.fetch(batch)
      let byID = Dictionary(objects.map { ($0.objectID, $0) }) { first, _ in first }
      for id in part {
        guard let object = byID[id] as? _ModelObject, !object.isDeleted else { continue }
        try block(object.instance(as: T.self))
      }
      if !allowEscapingMutations, !hadChanges, context.hasChanges { throw SwiftDataError.escapingMutations }
      for object in objects where !object.hasChanges && !object.isDeleted {
        context.refresh(object, mergeChanges: false)
      }
    }
  }

  /// Deletes all models of a class that satisfy a predicate, by the delete rules, unsaved ones included.
  ///
  /// The next save writes it. A store of the application's own type that conforms to ``DataStoreBatching`` deletes at once.
  public func delete<T: PersistentModel>(
    model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws {
    try beginFetch()
    if let store = customStore(of: T.self) {
      return try customDelete(model, predicate, includeSubclasses, store)
    }
    let request = try FetchDescriptor<T>(predicate: predicate).request()
    request.includesSubentities = includeSubclasses
    for object in try Self.translating({ try context.fetch(request) }) {
      (object as? _ModelObject)?.letModelGo()
      context.delete(object)
    }
  }

  // MARK: Identity

  /// The model with an identifier, without reading its row. Values are read when a property is used.
  ///
  /// A row that does not exist reads as defaults. An identifier of another container's entity gives a model without a context.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    if isRefused("model(for:)") { return ModelContext(standIn: core).model(for: persistentModelID) }
    mergeOthers()
    if let id = resolved(persistentModelID), let object = context.object(with: id) as? _ModelObject {
      return object.instance()
    }
    let info = core.prepared.info(named: persistentModelID.entityName)
    checkPrecondition(
      info != nil,
      "The schema of this container has no entity \(persistentModelID.entityName). Ask the container that the identifier is of."
    )
    let object = info!.makeObject()
    object.fillWithZeros()
    return object.instance()
  }

  /// The model with an identifier, if the context has an instance of it.
  public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
    guard !isRefused("registeredModel(for:)"), let id = resolved(persistentModelID),
      let object = context.registeredObject(for: id) as? _ModelObject
    else { return nil }
    return object.instance() as? T
  }

  /// The model with an identifier, if its row exists and is of the class.
  func existingModel<T: PersistentModel>(_ id: PersistentIdentifier, as type: T.Type) -> T? {
    if isRefused("a model") { return nil }
    mergeOthers()
    guard let id = resolved(id), let object = try? context.existingObject(with: id) else { return nil }
    return (object as? _ModelObject)?.instance() as? T
  }

  private func resolved(_ id: PersistentIdentifier) -> NSManagedObjectID? {
    // A custom store may pass on the identifiers of another container.
    if !core.custom.isEmpty, let found = core.objectID(for: id) { return found }
    if let known = id.objectID { return resolved(known) }
    return id.uri.flatMap { core.coordinator.managedObjectID(forURIRepresentation: $0) }
  }

  /// The identifier of the same row for this container.
  func resolved(_ id: NSManagedObjectID) -> NSManagedObjectID? {
    if id.entity.managedObjectModel === core.prepared.model { return id }
    return core.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())
  }
}

/// The result of a fetch in batches. Use it on the context's isolation.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  /// The first position.
  public let startIndex = 0
  public let endIndex: Int
  private let element: (Int) -> Element

  init(count: Int, _ element: @escaping (Int) -> Element) {
    endIndex = count
    self.element = element
  }

  /// The element at a position. Reads its batch, unless that is among the last ones used.
  public subscript(position: Int) -> Element {
    checkPrecondition(
      position >= 0 && position < endIndex,
      "Index \(position) is out of bounds: the collection has \(endIndex) elements.")
    return element(position)
  }
}

extension SwiftDataError {
  /// The block of an enumeration left unsaved changes that would be lost with their batch.
  static let escapingMutations = SwiftDataError(
    .escapingMutations,
    "The block of enumerate(_:batchSize:allowEscapingMutations:block:) left changes that are not saved. Save in the block, or "
      + "pass allowEscapingMutations: true, which keeps the changed models.")
}

extension SwiftDataError.Code {
  /// The block of an enumeration left unsaved changes.
  public static let escapingMutations = Self(rawValue: "escapingMutations")
}
