@_spi(CDE) internal import CDEExecutors
public import CDEManagedModel
public import Foundation

/// A model, its stores and their contexts.
///
/// May be used on any isolation. ``viewContext`` belongs to the main actor.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
/// container.loadPersistentStores { _, error in
///   if let error { print("The store could not be opened: \(error)") }
/// }
/// ```
nonisolated open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // Guard: immutable except for the descriptions, which the mutex of `descriptions` protects.

  /// The container's name. It is also the name of the store's file, unless a description names another.
  public let name: String
  /// The model of the container's stores. It can't be changed after the container was made.
  public let managedObjectModel: NSManagedObjectModel
  /// The coordinator that all contexts of the container share.
  public let persistentStoreCoordinator: NSPersistentStoreCoordinator
  /// The main actor's context. The container has exactly one.
  public let viewContext: NSManagedObjectContext
  private let descriptions: Lock<[NSPersistentStoreDescription]>

  /// Makes a container whose store is `<name>.sqlite` in ``defaultDirectoryURL()``, unless descriptions name
  /// others.
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

  /// Makes a container without its own model. Types that are registered later add their entities.
  ///
  /// Core Data finds a compiled model of this name in the bundle. Linux has no model compiler, so the
  /// container is empty here. Loading its stores reports an error that names alternatives.
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: NSManagedObjectModel())
  }

  /// The folder of stores without another URL: `$XDG_DATA_HOME`, otherwise `~/.local/share`, or the
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

  /// Opens or creates the stores, and reports the result of each.
  ///
  /// - Parameter block: called once for each description with nil or the error, before this call returns. If
  ///   a description requests loading in the background, the block is called later: on its own actor, or in a
  ///   task without an actor if it has none.
  public func loadPersistentStores(
    completionHandler block: @escaping @isolated(any) (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    // The same closure. Only its type contains the isolation, and the cast removes it. The closure is called
    // on that isolation.
    typealias Handler = (NSPersistentStoreDescription, (any Error)?) -> Void
    let handler = Carrier(unsafeBitCast(block, to: Handler.self))
    let owner = block.isolation
    // A block without its own actor may use state of the main actor, if its caller is on the main actor.
    let home = owner ?? (viewContext.executor.isCurrent ? MainActor.shared : nil)
    for description in persistentStoreDescriptions {
      let carried = Carrier(description)
      if description.shouldAddStoreAsynchronously {
        Task.detached {
          let failure = self.failure(toLoad: carried.value)
          await Self.report(carried, failure, to: handler, on: home)
        }
      } else if owner.map(ContextExecutor.isOnExecutor) ?? true {
        handler.value(description, failure(toLoad: description))
      } else {
        let failure = failure(toLoad: description)
        Task.detached { await Self.report(carried, failure, to: handler, on: home) }
      }
    }
  }

  private static func report(
    _ description: Carrier<NSPersistentStoreDescription>, _ failure: (any Error)?,
    to handler: Carrier<(NSPersistentStoreDescription, (any Error)?) -> Void>, on home: isolated (any Actor)?
  ) {
    handler.value(description.value, failure)
  }

  private func failure(toLoad description: NSPersistentStoreDescription) -> (any Error)? {
    do {
      if managedObjectModel.entities.isEmpty {
        throw ManagedObjectError(
          .modelMissing,
          "The container \"\(name)\" has no model. Make it with NSPersistentContainer(name:managedObjectModel:), "
            + "for instance from NSManagedObjectModel.makeRuntimeModel(Item.self).")
      }
      if let folder = description.url?.deletingLastPathComponent(), description.type == NSSQLiteStoreType,
        description.url?.path != "/dev/null", !description.isReadOnly
      {
        try makeFolder(folder, of: description)
      }
      try persistentStoreCoordinator.addPersistentStore(description)
      return nil
    } catch {
      return error
    }
  }

  private func makeFolder(_ folder: URL, of description: NSPersistentStoreDescription) throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      var isFolder = ObjCBool(false)
      var place = folder
      while place.path != "/", !FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder) {
        place.deleteLastPathComponent()
      }
      let reason =
        isFolder.boolValue
        ? "\(place.path) may not be written" : "\(place.path) is a file and no folder"
      throw ManagedObjectError(
        .store,
        "The store at \(description.url?.path ?? folder.path) can't be opened: its folder can't be made, because "
          + "\(reason). Set the description's url to another place, or change that one.", cause: error)
    }
  }

  /// A new context with its own isolation.
  public func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs a block on a new background context, later. Returns at once.
  public func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs a block on a new background context and returns its result.
  ///
  /// As in ``NSManagedObjectContext/perform(schedule:_:)``, a block that belongs to an actor, for example the
  /// main actor, runs on that actor and not in the background. To run in the background, call this from a
  /// `@concurrent` function or a detached task.
  nonisolated(nonsending)
    public func performBackgroundTask<Value, Failure: Error>(
      _ block: @escaping (NSManagedObjectContext) throws(Failure) -> Value
    ) async throws(Failure) -> Value
  {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) -> Value in try block(context) }
  }
}

/// A container whose store is mirrored to CloudKit on Apple's platforms. Elsewhere it is a plain container,
/// for code that names the type.
nonisolated open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {
  // Guard: the same as its superclass.
}
