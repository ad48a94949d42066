@_spi(CDE) import CDEManagedModel
import CDEModelFiles
@_spi(CDE) import CDEModelRuntime
import CDEPredicates
import CDEStore
import Foundation

#if PostgreSQL
  import CDEPostgreSQL
  @_spi(CDE) import CDEPostgreSQLStore
#endif

/// An open store with the model that it keeps a copy of.
public final class OpenedStore: Sendable {
  public let place: StorePlace
  public let container: NSPersistentContainer
  public let context: NSManagedObjectContext
  let names = ReadableNames()

  public var model: NSManagedObjectModel { container.managedObjectModel }
  public var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }
  /// Also after it was closed, as when a program ends while it answers.
  public let store: NSPersistentStore

  /// Opens a store. For reading, neither the file nor its folder changes, and no lock stays.
  ///
  /// - Parameters:
  ///   - place: where it is.
  ///   - model: the model of the store, as a file; nil for the copy in the store.
  ///   - isReadOnly: whether it is only read.
  ///   - schema: the server's schema with the tables.
  ///   - readsOneState: whether ``context`` reads one state of a store that is only read, whatever others commit meanwhile.
  /// - Throws: ``ToolError``.
  public init(
    _ place: StorePlace, model: NSManagedObjectModel? = nil, isReadOnly: Bool = true, schema: String? = nil,
    readsOneState: Bool = true, configure: (NSPersistentStoreDescription) -> Void = { _ in }
  ) throws {
    self.place = place
    try place.check()
    do {
      switch place {
      case .file(let url):
        if let model {
          Self.dropClasses(of: model)
          container = NSPersistentContainer(name: url.lastPathComponent, managedObjectModel: model)
          let description = NSPersistentStoreDescription(url: url)
          description.shouldMigrateStoreAutomatically = false
          container.persistentStoreDescriptions = [description]
        } else {
          container = try NSPersistentContainer(
            modelCachedInStoreAt: url, timeout: StorePlace.timeout, module: "", Self.dropClasses)
        }
      case .server(let url): container = try Self.server(url, model, schema)
      }
      let description = container.persistentStoreDescriptions[0]
      description.isReadOnly = isReadOnly
      if case .file(let url) = place, !isReadOnly, try !StorePlace.inspection(of: url).files.usesLog {
        // The store would be switched to a log, which its other programs may not expect.
        description.setValue("DELETE", forPragmaNamed: "journal_mode")
      }
      description.timeout = StorePlace.timeout
      configure(description)
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      store = container.persistentStoreCoordinator.persistentStores[0]
    } catch { throw ToolError(error) }
    context = container.newBackgroundContext()
    context.transactionAuthor = "cde"
    if isReadOnly, readsOneState { try beginState() }
  }

  // MARK: States

  /// Lets ``context`` read one state of the store: that of its next read.
  func beginState() throws { try pin(.current) }

  /// Lets ``context`` read what the store has at each read.
  func endState() throws { try pin(nil) }

  private func pin(_ token: NSQueryGenerationToken?) throws {
    try context.performAndWait {
      do { try context.setQueryGenerationFrom(token) } catch { throw ToolError(error) }
    }
  }

  /// Empties a context, in its isolation. It goes on reading the same state.
  func empty(_ context: NSManagedObjectContext) throws {
    let token = context.queryGenerationToken
    context.reset()
    try context.setQueryGenerationFrom(token)
  }

  /// The classes belong to the app. Without this each command would say that it has none of them.
  private static func dropClasses(of model: NSManagedObjectModel) {
    // Several stores may be opened with one model.
    if model.isFrozen { return }
    for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
  }

  private static func server(_ url: URL, _ model: NSManagedObjectModel?, _ schema: String?) throws
    -> NSPersistentContainer
  {
    #if PostgreSQL
      var model = model
      if model == nil {
        var configuration = PostgreSQLConfiguration(url: url.absoluteString)
        if let schema { configuration.schema = schema }
        configuration.isReadOnly = true
        configuration.createsIfMissing = false
        let version = try PostgreSQLMigratableStore(configuration).version()
        guard let archive = version?.modelArchive else {
          throw ToolError(
            "The server has no store with a copy of its model there. Name the server's schema by --schema, or the "
              + "model by --model.")
        }
        model = try NSManagedObjectModel(compiledModel: Data(archive))
      }
      Self.dropClasses(of: model!)
      let container = NSPersistentContainer(name: "server", managedObjectModel: model!)
      let description = NSPersistentStoreDescription()
      description.type = CDEPostgreSQLStoreType
      description.url = url
      description.shouldMigrateStoreAutomatically = false
      if let schema { description.setOption(schema, forKey: CDEPostgreSQLSchemaOption) }
      container.persistentStoreDescriptions = [description]
      return container
    #else
      throw ToolError(
        "This program was built without PostgreSQL. Install libpq's headers and run Tools/install again.")
    #endif
  }

  /// Runs a closure with the store's context.
  public func read<Value>(_ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
    do { return try context.performAndWait { try body(context) } } catch { throw ToolError(error) }
  }

  /// Runs a closure with a context of its own, which has no value of an earlier state of the store.
  func readAnew<Value>(_ body: (NSManagedObjectContext) throws -> Value) throws -> Value {
    let context = container.newBackgroundContext()
    do { return try context.performAndWait { try body(context) } } catch let failure as StudioFailure {
      throw failure
    } catch {
      throw ToolError(error)
    }
  }

  // MARK: Names

  /// The entities that have objects of their own, sorted by name.
  public var concreteEntities: [NSEntityDescription] {
    let configuration = container.persistentStoreDescriptions[0].configuration
    let all = configuration.flatMap { model.entities(forConfigurationName: $0) } ?? model.entities
    return all.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  /// The entity of a name, whatever the case of its letters.
  ///
  /// - Throws: ``ToolError`` that lists what there is.
  public func entity(named name: String) throws(ToolError) -> NSEntityDescription {
    let all = model.entitiesByName
    if let found = all[name] ?? all.first(where: { $0.key.lowercased() == name.lowercased() })?.value {
      return found
    }
    let names = all.keys.sorted().joined(separator: ", ")
    throw ToolError("The model has no entity \(name). It has \(names.isEmpty ? "none" : names).", .usage)
  }

  /// The entity of a name, if it has objects of its own.
  ///
  /// - Throws: ``ToolError`` that lists what there is.
  func concreteEntity(named name: String) throws(ToolError) -> NSEntityDescription {
    let entity = try entity(named: name)
    guard !entity.isAbstract else {
      let subs = entity.subentities.compactMap(\.name).sorted().joined(separator: ", ")
      throw ToolError("\(name) is abstract and has no objects. Choose from \(subs).", .usage)
    }
    return entity
  }

  /// The object of an ID such as `Person/p12`, or of the URI that Core Data prints.
  public func objectID(_ text: String) throws(ToolError) -> NSManagedObjectID {
    let identifier = store.identifier
    let uri = text.hasPrefix("x-coredata://") ? text : "x-coredata://\(identifier)/\(text)"
    guard let url = URL(string: uri), let id = coordinator.managedObjectID(forURIRepresentation: url) else {
      throw ToolError(
        "\(text) is no ID of an object in this store. Write one as `cde store rows` prints it: Entity/p1.",
        .usage)
    }
    return id
  }

  // MARK: Requests

  /// A request for an entity, with what the command line says about it.
  func request(
    _ entity: NSEntityDescription, predicate: String? = nil, sort: [String] = [], limit: Int = 0,
    offset: Int = 0
  ) throws(ToolError) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.predicate = try Self.predicate(predicate)
    request.sortDescriptors = sort.isEmpty ? nil : sort.map(Self.sortDescriptor)
    request.fetchLimit = limit
    request.fetchOffset = offset
    return request
  }

  static func predicate(_ format: String?) throws(ToolError) -> NSPredicate? {
    guard let format else { return nil }
    do { return NSPredicate(try PredicateTree(format: format)) } catch {
      throw ToolError("The predicate can't be read: \(error.message)", .usage)
    }
  }

  /// A key path ascending; with a minus before it descending.
  static func sortDescriptor(_ text: String) -> NSSortDescriptor {
    text.hasPrefix("-")
      ? NSSortDescriptor(key: String(text.dropFirst()), ascending: false)
      : NSSortDescriptor(key: text, ascending: true)
  }

  /// The IDs of an entity's own objects, in the order of their keys.
  func objectIDs(of entity: NSEntityDescription, _ predicate: NSPredicate? = nil) throws
    -> [NSManagedObjectID]
  {
    let request = NSFetchRequest<NSManagedObjectID>()
    request.entity = entity
    request.includesSubentities = false
    request.resultType = .managedObjectIDResultType
    request.predicate = predicate
    return try read { try $0.fetch(request) }.sorted { ShortID.key($0) < ShortID.key($1) }
  }

  /// Calls a closure with each of an entity's own objects, in the order of their keys, 500 at a time.
  func forEach(
    _ entity: NSEntityDescription, _ predicate: NSPredicate? = nil, _ body: (NSManagedObject) throws -> Void
  ) throws {
    let all = try objectIDs(of: entity, predicate)
    for ids in all.chunks(of: 500) {
      WorkReport.tell(entity.name ?? "", ids.startIndex, of: all.count)
      try read { context in
        for object in try objects(ids, in: context) { try body(object) }
        try empty(context)
      }
    }
  }

  /// The objects of IDs of one entity, in this order, with their values and the relationships that other tables do not tell.
  ///
  /// - Throws: ``ToolError`` if an object was deleted meanwhile, which a store with a rollback journal allows.
  func objects(_ ids: some Collection<NSManagedObjectID>, in context: NSManagedObjectContext) throws
    -> [NSManagedObject]
  {
    let found = try found(ids, in: context)
    return try ids.map { id in
      guard let object = found[id] else {
        throw ToolError(
          "\(ShortID.text(id)) was deleted while the store was read, so what was read is not of one state. Run the command again."
        )
      }
      return object
    }
  }

  /// The objects of IDs of one entity that the store has, with the same values.
  func found(_ ids: some Collection<NSManagedObjectID>, in context: NSManagedObjectContext) throws
    -> [NSManagedObjectID: NSManagedObject]
  {
    guard let first = ids.first else { return [:] }
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = first.entity
    request.predicate = NSPredicate(format: "SELF IN %@", Array(ids))
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = first.entity.relationshipsByName.filter {
      !$0.value.isToMany
    }.map(\.key)
    return Dictionary(try context.fetch(request).map { ($0.objectID, $0) }) { first, _ in first }
  }
}

extension Array {
  /// Parts of the array with at most so many elements.
  func chunks(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}

extension NSEntityDescription {
  /// The stored attributes: first those of the object's name, then the others by name.
  func shownAttributes(_ names: ReadableNames) -> [NSAttributeDescription] {
    let first = names.keys(of: self)
    let all = attributesByName.values.filter { !$0.isTransient }
    return first.compactMap { attributesByName[$0] }
      + all.filter { !first.contains($0.name) }.sorted { $0.name < $1.name }
  }

  /// The relationships, those to one object first.
  var shownRelationships: [NSRelationshipDescription] {
    relationshipsByName.values.filter { !$0.isTransient }.sorted {
      ($0.isToMany ? 1 : 0, $0.name) < ($1.isToMany ? 1 : 0, $1.name)
    }
  }
}
