@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
public import Foundation

// Copies of whole stores, with their external values.

extension NSPersistentStoreCoordinator {
  /// Replaces a store, or makes one, by a copy of another one.
  ///
  /// The copy has the other store's UUID, so its objects' IDs are valid in both. It is complete before the old store is
  /// deleted. Other processes and contexts may use the other store meanwhile. A store of this coordinator at the destination is
  /// closed first; it must be closed in other coordinators, too, and added again afterwards.
  ///
  /// Symbolic links are followed on both sides. A link at the destination stays, and the file that it leads to is replaced.
  ///
  /// - Parameters:
  ///   - destinationURL: the URL of the store to replace.
  ///   - destinationOptions: options as for opening the store. They are not read.
  ///   - sourceURL: the URL of the store to copy.
  ///   - sourceOptions: options as for opening that store. They are not read.
  ///   - storeType: the type of both: ``NSSQLiteStoreType``.
  /// - Throws: ``ManagedObjectError`` if the other store is missing or can't be read, or a file can't be written. Then the
  ///   store at the destination is as before.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    try reportingNSErrors {
      try Self.requireFile(sourceURL, ofType: storeType)
      try Self.requireFile(destinationURL, ofType: storeType)
      let destination = Self.file(at: destinationURL)
      if Self.file(at: sourceURL).standardizedFileURL == destination.standardizedFileURL { return }
      let made = destination.deletingLastPathComponent()
        .appendingPathComponent("\(destination.lastPathComponent).\(UUID().uuidString)")
      try Self.copyStore(at: sourceURL, to: made)
      do {
        try destroyPersistentStore(at: destination, ofType: storeType)
        // The values come first: a database whose values are missing would be worse than none.
        try Self.move(Self.supportFolder(of: made), to: Self.supportFolder(of: destination))
        try Self.move(made, to: destination)
      } catch {
        for place in [made, Self.supportFolder(of: made)] {
          try? FileManager.default.removeItem(at: place)
        }
        throw error
      }
    }
  }

  /// Copies a store of this coordinator to another place, and uses the copy from then on. The old store stays as it is.
  ///
  /// The copy has the same UUID, so the IDs of objects stay valid. While it is made, saves and reads of the store's entities fail
  /// with ``ManagedObjectError/Code/noStore``; contexts keep their changes and can save afterwards. What is saved to a store in
  /// memory or on a server while it is copied may be missing in the copy.
  ///
  /// The copy may have another type, such as that of a store on a server or in memory, or be a file that is made from such a store. Then
  /// the rows travel through this process, in blocks, and the history begins anew. Other processes should not write to the old store any
  /// more. A copy in memory takes the memory of all rows, those of external values included.
  ///
  /// - Parameters:
  ///   - store: a store of this coordinator. It is closed.
  ///   - url: the URL of the copy, where no store is. A store in memory is only called by it.
  ///   - options: options for opening the copy; nil for those of the store.
  ///   - storeType: the type of the copy: ``NSSQLiteStoreType``, ``NSInMemoryStoreType``, or that of a registered engine.
  /// - Returns: the opened copy.
  /// - Throws: ``ManagedObjectError``; the old store is open again then. `.unsupportedRequest` if the engine of the type makes no copies.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore {
    try reportingNSErrors {
      let copy = Self.description(of: store, at: url, options)
      copy.type = storeType
      guard persistentStores.contains(where: { $0 === store }) else {
        throw ManagedObjectError(
          .noStore, "The store \(store.identifier) is not loaded in this coordinator, so it can't be moved.")
      }
      guard store.handle.engine is any FileStore, storeType == NSSQLiteStoreType, url.path != "/dev/null"
      else {
        return try copyRows(of: store, to: copy)
      }
      try Self.requireFile(url, ofType: storeType)
      if FileManager.default.fileExists(atPath: url.path) {
        throw ManagedObjectError(
          .store,
          "There is a file at \(url.path). Delete it with destroyPersistentStore, or choose another URL.")
      }
      let place = persistentStores.firstIndex { $0 === store }
      guard let file = store.url, store.type == NSSQLiteStoreType, file.path != "/dev/null" else {
        try store.writeCopy(to: url)
        try remove(store)
        return try addPersistentStore(copy, at: place)
      }
      try remove(store)
      do {
        try Self.copyStore(at: file, to: url)
        return try addPersistentStore(copy, at: place)
      } catch {
        try addPersistentStore(Self.description(of: store, at: file, nil), at: place)
        throw error
      }
    }
  }

  /// Makes a store of another engine from the rows of a store, and takes it in its place.
  private func copyRows(
    of store: NSPersistentStore, to description: NSPersistentStoreDescription
  ) throws -> NSPersistentStore {
    let entities = try modelBinding.entities(in: description.configuration)
    let place = persistentStores.firstIndex { $0 === store }
    guard store.handle.engine is any FileStore, let file = store.url, file.path != "/dev/null" else {
      detach(store)
      do {
        // Other machines may write meanwhile.
        let source = try store.handle.engine.pinned() ?? store.handle.engine
        let copy = try make(description, from: source, entities, store, at: place)
        try? store.handle.engine.close()
        return copy
      } catch {
        attach(store, entities, at: place)
        throw error
      }
    }
    // Closed, so that a save that is on its way is in the copy or fails.
    try remove(store)
    do {
      let reading = Self.description(of: store, at: file, nil)
      reading.isReadOnly = true
      let source = try Self.engines.engine(for: store.type).open(
        StoreOpening(reading, modelBinding, entities))
      defer { try? source.close() }
      return try make(description, from: source, entities, store, at: place)
    } catch {
      try addPersistentStore(Self.description(of: store, at: file, nil), at: place)
      throw error
    }
  }

  private func make(
    _ description: NSPersistentStoreDescription, from source: any Store, _ entities: Set<EntityIndex>,
    _ old: NSPersistentStore, at place: Int?
  ) throws -> NSPersistentStore {
    do {
      let engine = try Self.engines.engine(for: description.type)
      let opening = StoreOpening(description, modelBinding, entities)
      let copy = try StoreCopy(of: source, entities: entities)
      if let files = engine as? any FileStoreEngine, try files.path(of: description) == nil {
        return try take(files.makeInMemory(opening, from: copy), entities, description, at: place)
      }
      try engine.make(opening, from: copy)
      return try addPersistentStore(description, at: place)
    } catch let error as StoreError {
      throw ManagedObjectError(
        .store,
        "The store at \(old.url?.place ?? "(memory)") can't be copied to \(description.place): \(error.message)",
        cause: error, entity: error.entity, property: error.properties.first)
    }
  }

  /// Closes a store, and opens the one at another URL in its place, with the same configuration and options. A file that was
  /// copied or moved has the same UUID, so the IDs of objects stay valid. No store is made.
  ///
  /// Core Data keeps the store object. Here `persistentStores` has another one, which `persistentStore(for: url)` returns.
  ///
  /// - Parameters:
  ///   - url: the URL of a store's file.
  ///   - store: a store of this coordinator. It is closed.
  /// - Returns: whether the store at the URL is open. Otherwise the old one is open again, and the reason is reported to
  ///   ``Diagnostics``.
  @discardableResult
  public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    let place = persistentStores.firstIndex { $0 === store }
    do {
      try Self.requireFile(url, ofType: store.type)
      guard persistentStores.contains(where: { $0 === store }) else {
        throw ManagedObjectError(.noStore, "The store \(store.identifier) is not loaded in this coordinator.")
      }
      guard FileManager.default.fileExists(atPath: url.path) else {
        throw ManagedObjectError(
          .noStore, "There is no store at \(url.path). Copy or move the files there first.")
      }
      try remove(store)
    } catch {
      Diagnostics.report("The store \(store.identifier) does not get the URL \(url): \(error)")
      return false
    }
    do {
      try addPersistentStore(Self.description(of: store, at: url, nil), at: place)
      return true
    } catch {
      Diagnostics.report("The store \(store.identifier) does not get the URL \(url): \(error)")
    }
    do {
      if let old = store.url {
        try addPersistentStore(Self.description(of: store, at: old, nil), at: place)
      }
    } catch {
      Diagnostics.report("The store \(store.identifier) could not be opened again: \(error)")
    }
    return false
  }

  private static func description(
    of store: NSPersistentStore, at url: URL, _ options: [AnyHashable: Any]?
  ) -> NSPersistentStoreDescription {
    let description = NSPersistentStoreDescription(url: url)
    let name = store.configurationName
    description.configuration = name == NSManagedObjectModel.defaultConfigurationName ? nil : name
    for (key, value) in options ?? store.options ?? [:] { description.setOption(value, forKey: "\(key)") }
    description.observer = store.observer
    return description
  }

  private static func copyStore(at url: URL, to destination: URL) throws {
    do {
      try StoreEngines.files.copyFile(at: url.path, to: destination.path)
    } catch {
      throw ManagedObjectError(
        .store, "The store at \(url.path) can't be copied to \(destination.path): \(error.message)",
        cause: error)
    }
  }

  private static func move(_ place: URL, to destination: URL) throws {
    guard FileManager.default.fileExists(atPath: place.path) else { return }
    do {
      try FileManager.default.moveItem(at: place, to: destination)
    } catch {
      throw ManagedObjectError(
        .store,
        "The copy at \(place.path) can't be moved to \(destination.path). Check the permissions of the folder.",
        cause: error)
    }
  }
}
