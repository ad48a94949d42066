@_spi(CDE) internal import CDEExecutors
public import CDEManagedModel
public import Foundation

/// A model, its stores and the contexts over them.
///
/// Safe from any isolation; ``viewContext`` belongs to the main actor.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
/// container.loadPersistentStores { _, error in
///   if let error { print("The store could not be opened: \(error)") }
/// }
/// ```
nonisolated open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // Guard: immutable but for the descriptions, which `descriptions`' mutex guards.
  public let name: String
  public let managedObjectModel: NSManagedObjectModel
  public let persistentStoreCoordinator: NSPersistentStoreCoordinator
  /// The main actor's context: one for the container's life.
  public let viewContext: NSManagedObjectContext
  private let descriptions: Lock<[NSPersistentStoreDescription]>

  /// Makes a container whose store is `<name>.sqlite` in ``defaultDirectoryURL()`` unless described
  /// otherwise.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    managedObjectModel = model
    persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    viewContext = NSManagedObjectContext(concurrencyType: .mainQueue)
    let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    descriptions = Lock([NSPersistentStoreDescription(url: url)])
    super.init()
    viewContext.persistentStoreCoordinator = persistentStoreCoordinator
  }

  /// Makes a container without a model of its own: entities come with the types that are registered later.
  ///
  /// Core Data looks for a compiled model of this name in the bundle. Linux has no model compiler, so nothing
  /// is found here: the container is empty and loading its stores reports what to do.
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: NSManagedObjectModel())
  }

  /// Where stores go unless a description says otherwise: `$XDG_DATA_HOME`, else `~/.local/share`, or the
  /// platform's application support folder.
  open class func defaultDirectoryURL() -> URL {
    if let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], data.hasPrefix("/") {
      return URL(fileURLWithPath: data, isDirectory: true)
    }
    let found = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
    return found
      ?? URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true).appendingPathComponent(".local/share")
  }

  /// The stores to load. Change them before loading.
  public var persistentStoreDescriptions: [NSPersistentStoreDescription] {
    get { descriptions.withLock { $0 } }
    set { descriptions.withLock { $0 = newValue } }
  }

  /// Opens or creates the stores, and reports each.
  ///
  /// - Parameter block: called once for each description with nil or the error; before the call returns,
  ///   unless the description asks for loading in the background.
  public func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      let load = Carrier {
        do {
          if self.managedObjectModel.entities.isEmpty {
            throw ManagedObjectError(
              .modelMissing,
              "The container \"\(self.name)\" has no model. Make it with NSPersistentContainer(name:managedObjectModel:), "
                + "for instance from NSManagedObjectModel.makeRuntimeModel(Item.self).")
          }
          if let folder = description.url?.deletingLastPathComponent(), description.type == NSSQLiteStoreType,
            description.url?.path != "/dev/null", !description.isReadOnly
          {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
          }
          try self.persistentStoreCoordinator.addPersistentStore(description)
          block(description, nil)
        } catch {
          block(description, error)
        }
      }
      if description.shouldAddStoreAsynchronously {
        Task.detached { load.value() }
      } else {
        load.value()
      }
    }
  }

  /// A new context with an isolation of its own.
  public func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs a block on a new background context, later; returns at once.
  public func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs a block on a new background context and returns its result.
  nonisolated(nonsending)
    public func performBackgroundTask<Value, Failure: Error>(
      _ block: @escaping (NSManagedObjectContext) throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) -> Value in try block(context) }
  }
}

/// A container whose store is mirrored to CloudKit on Apple's platforms; elsewhere a plain container that
/// code may ask for by type.
nonisolated open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {
  // Guard: as its superclass.
}

/// Takes a block to another isolation.
struct Carrier<Value>: @unchecked Sendable {
  // Guard: the maker gives the value away and does not use it again.
  let value: Value
  init(_ value: Value) { self.value = value }
}
