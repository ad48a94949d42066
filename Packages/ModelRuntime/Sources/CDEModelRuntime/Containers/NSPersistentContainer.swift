@_spi(CDE) internal import CDEExecutors
public import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
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
  // Guard: immutable except for the descriptions and the reason of a missing model, which are behind mutexes.

  /// The container's name. It is also the name of the store's file, unless a description names another.
  open var name: String { ownName }
  /// The model of the container's stores. It can't be changed after the container was made.
  open var managedObjectModel: NSManagedObjectModel { ownModel }
  /// The coordinator that all contexts of the container share.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { ownCoordinator }
  /// The main actor's context. The container has exactly one.
  open var viewContext: NSManagedObjectContext { ownContext }

  private let ownName: String
  private let ownModel: NSManagedObjectModel
  private let ownCoordinator: NSPersistentStoreCoordinator
  private let ownContext: NSManagedObjectContext
  private let descriptions: Lock<[NSPersistentStoreDescription]>

  /// Makes a container whose store is `<name>.sqlite` in ``defaultDirectoryURL()``, unless descriptions name
  /// others.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    ownName = name
    ownModel = model
    ownCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    ownContext = NSManagedObjectContext(concurrencyType: .mainQueue)
    let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    descriptions = Lock([NSPersistentStoreDescription(url: url)])
    super.init()
    ownContext.persistentStoreCoordinator = ownCoordinator
  }

  /// Makes a container with the compiled model of its name: `<name>.momd` or `<name>.mom` among the resources of the
  /// calling target, then of other targets, then of the main bundle.
  ///
  /// Without such a model, or with a damaged one, the container is empty. Loading its stores then reports an error that
  /// says where the model was looked for, or what is wrong with it.
  ///
  /// - Parameters:
  ///   - name: the name of the model, and of the store's file.
  ///   - file: the calling file, which the compiler fills in.
  public convenience init(name: String, _ file: String = #fileID) {
    let module = ModelResources.module(in: file)
    let search = ModelResources.model(named: name, for: module)
    guard let url = search.found else {
      self.init(name: name, managedObjectModel: NSManagedObjectModel())
      missingModel.withLock { $0 = .places(search.looked) }
      return
    }
    do {
      self.init(name: name, managedObjectModel: try NSManagedObjectModel(modelFile: url, module: module))
    } catch {
      self.init(name: name, managedObjectModel: NSManagedObjectModel())
      missingModel.withLock { $0 = .damaged(error) }
    }
  }

  /// Why a container made by a name alone has no model.
  private enum MissingModel {
    case places([URL])
    case damaged(any Error)
  }
  private let missingModel = Lock<MissingModel?>(nil)

  private var modelError: ManagedObjectError {
    let advice =
      "Make it with NSPersistentContainer(name:managedObjectModel:), for instance from "
      + "NSManagedObjectModel.makeRuntimeModel(Item.self)"
    switch missingModel.withLock({ $0 }) {
    case .damaged(let error)?:
      return ManagedObjectError(
        .modelMissing,
        "The model of the container \"\(name)\" can't be read: \((error as? any CDEError)?.message ?? "\(error)")",
        cause: error)
    case .places(let places)?:
      let list = places.map(\.path).joined(separator: ", ")
      return ManagedObjectError(
        .modelMissing,
        "The container \"\(name)\" has no model: there is no \(name).momd and no \(name).mom in \(list). \(advice), or "
          + "add the model's folder to a target with the plug-in CoreDataSources.")
    case nil:
      return ManagedObjectError(.modelMissing, "The container \"\(name)\" has no model. \(advice).")
    }
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
  open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
    get { descriptions.withLock { $0 } }
    set { descriptions.withLock { $0 = newValue } }
  }

  /// Opens or creates the stores, migrates those of another version of the model, and reports the result of each.
  ///
  /// - Parameter block: called once for each description with nil or the error, before this call returns. If
  ///   a description requests loading in the background, the block is called later: on the main actor if the caller is there, and
  ///   otherwise on the queue that has loaded it, as in Core Data. No thread of Swift's tasks loads.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      NSPersistentStoreCoordinator.load(description, then: block) { try self.load(description) }
    }
  }

  private func load(_ description: NSPersistentStoreDescription) throws {
    if managedObjectModel.entities.isEmpty { throw modelError }
    try NSPersistentStoreCoordinator.makeFolder(of: description)
    try persistentStoreCoordinator.addPersistentStore(description)
  }

  /// A new context with its own isolation.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs a block on a new background context, later. Returns at once.
  open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
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
