//
//  CoreDataStack.swift
//  Trips
//

import CoreData
import Foundation

public class CoreDataStack {

  public enum Storage {
    /// A file in the container's folder.
    case standard
    /// A file.
    case file(URL)
    /// SQLite without a file.
    case devNull
    /// The in-memory store.
    case memory
  }

  public static let shared = CoreDataStack(storage: .standard)

  // One model for the process: two of them would claim the same classes.
  public static let managedObjectModel: NSManagedObjectModel = {
    CoordinateTransformer.register()
    StringListTransformer.register()
    guard let url = modelURL, let model = NSManagedObjectModel(contentsOf: url) else {
      fatalError("Unable to load the model")
    }
    return model
  }()

  static var modelURL: URL? {
    var bundles = [Bundle(for: CoreDataStack.self), Bundle.main]
    #if SWIFT_PACKAGE
      bundles.append(Bundle.module)
    #endif
    return bundles.lazy.compactMap { $0.url(forResource: "Trips", withExtension: "momd") }.first
  }

  /// A version of the model by its number, for tests of migrations.
  static func modelURL(version: Int) -> URL? {
    let name = version == 1 ? "Trips" : "Trips \(version)"
    return modelURL?.appendingPathComponent(name).appendingPathExtension("mom")
  }

  private let storage: Storage

  public init(storage: Storage) {
    self.storage = storage
  }

  // MARK: - Container

  public private(set) lazy var persistentContainer: NSPersistentContainer = {
    let container = TripsContainer(name: "Trips", managedObjectModel: CoreDataStack.managedObjectModel)
    container.persistentStoreDescriptions = [storeDescription]
    container.loadPersistentStores { description, error in
      if let error = error as NSError? {
        fatalError("Unresolved error \(error), \(error.userInfo)")
      }
    }
    container.viewContext.automaticallyMergesChangesFromParent = true
    container.viewContext.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
    container.viewContext.name = "view"
    container.viewContext.undoManager = nil
    return container
  }()

  private var storeDescription: NSPersistentStoreDescription {
    let description: NSPersistentStoreDescription
    switch storage {
    case .standard:
      let folder = TripsContainer.defaultDirectoryURL()
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Trips.sqlite"))
    case .file(let url):
      description = NSPersistentStoreDescription(url: url)
    case .devNull:
      description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    case .memory:
      description = NSPersistentStoreDescription()
      description.type = NSInMemoryStoreType
    }
    description.shouldAddStoreAsynchronously = false
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = true
    return description
  }

  // MARK: - Files

  /// Whether a store was made with an older model.
  public static func needsMigration(at url: URL) -> Bool {
    guard
      let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: url, options: nil)
    else { return false }
    return !managedObjectModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }

  /// Closes the stores and deletes what is in them, as for a new account.
  public func destroyStores() throws {
    let coordinator = persistentContainer.persistentStoreCoordinator
    viewContext.reset()
    for store in coordinator.persistentStores {
      guard let url = store.url else { continue }
      try coordinator.remove(store)
      try coordinator.destroyPersistentStore(at: url, ofType: store.type, options: nil)
    }
  }

  // MARK: - Contexts

  public var viewContext: NSManagedObjectContext {
    return persistentContainer.viewContext
  }

  public func newBackgroundContext() -> NSManagedObjectContext {
    return persistentContainer.newBackgroundContext()
  }

  public func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    persistentContainer.performBackgroundTask { context in
      context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      block(context)
    }
  }

  // MARK: - Saving

  @discardableResult
  public func save() throws -> Bool {
    return try viewContext.saveIfNeeded()
  }

}

extension NSManagedObjectContext {

  /// Saves, and says with the app's own error why it failed.
  @discardableResult
  public func saveIfNeeded() throws -> Bool {
    guard hasChanges else { return false }
    do {
      try save()
      return true
    } catch let error as NSError {
      throw ModelError(error)
    }
  }

  /// Saves, and drops the changes when that fails.
  @discardableResult
  public func saveOrRollback() -> Bool {
    do {
      try save()
      return true
    } catch {
      rollback()
      return false
    }
  }

}
