internal import CDEStore
public import Foundation

// What a coordinator does with the files of stores, whether it has opened them or not.

extension NSPersistentStoreCoordinator {
  /// Reads the metadata of a store that is not opened, with Core Data's keys.
  ///
  /// - Parameters:
  ///   - storeType: the type of the store: ``NSSQLiteStoreType``, or one whose engine reads metadata.
  ///   - url: the URL of the store.
  ///   - options: options as for opening the store. Those of a file are not read.
  /// - Throws: ``ManagedObjectError``, for a missing store too.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try reportingNSErrors {
      do {
        let (identifier, read) = try storedMetadata(ofType: storeType, at: url, options: options)
        var metadata = read.values.mapValues(\.foundationValue)
        metadata[NSStoreUUIDKey] = identifier
        metadata[NSStoreTypeKey] = storeType
        return metadata
      } catch let error as StoreError {
        throw ManagedObjectError(
          .store, "The metadata of the store at \(url.path) can't be read: \(error.message)", cause: error)
      }
    }
  }

  private class func storedMetadata(
    ofType type: String, at url: URL, options: [AnyHashable: Any]?
  ) throws -> (identifier: String, metadata: StoreMetadata) {
    let description = NSPersistentStoreDescription(url: url)
    description.type = type
    for case (let key as String, let value as NSObject) in options ?? [:] {
      description.setOption(value, forKey: key)
    }
    if let found = try engines.all[type]?.metadata(of: description) { return found }
    try requireFile(url, ofType: type)
    return try StoreEngines.files.metadata(ofFileAt: url.path)
  }

  /// Replaces the metadata of an open store, except for the keys that describe the file itself.
  ///
  /// The metadata is written at once, not with the next save as in Core Data. If that fails, a message is logged.
  ///
  /// - Parameters:
  ///   - metadata: values of a property list by key. Other values are left out.
  ///   - store: a store of this coordinator.
  public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    store.metadata = metadata
  }

  /// Replaces the metadata of a store that is not opened, except for the keys that describe the file itself.
  ///
  /// - Parameters:
  ///   - metadata: values of a property list by key. Other values are left out.
  ///   - storeType: the type of the store: ``NSSQLiteStoreType``.
  ///   - url: the URL of the store's file.
  ///   - options: options as for opening the store. They are not read.
  /// - Throws: ``ManagedObjectError``, for a missing file too.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try reportingNSErrors {
      try requireFile(url, ofType: storeType)
      do {
        try StoreEngines.files.setMetadata(
          StoreMetadata(foundationValues: metadata ?? [:]), ofFileAt: url.path)
      } catch let error as StoreError {
        throw ManagedObjectError(
          .store, "The metadata of the store at \(url.path) can't be written: \(error.message)", cause: error)
      }
    }
  }

  /// Deletes a store: its file, the files that SQLite keeps beside it, and its external values.
  ///
  /// A store of this coordinator is closed first, so its objects can't be read or saved afterwards. Close the store in
  /// other coordinators before: they keep the deleted file open, and what they save is lost with it. A store that does not
  /// exist is no error.
  ///
  /// If the URL is a symbolic link, the store that it leads to is deleted, and stores that this coordinator has opened by other paths
  /// to that file are closed as well. The link stays and leads to no file. A store that is added by it again is made where it leads.
  ///
  /// - Parameters:
  ///   - url: the URL of the store's file. A store in memory has nothing to delete.
  ///   - storeType: the type of the store.
  ///   - options: options as for opening the store. They are not read.
  /// - Throws: ``ManagedObjectError`` if a file can't be deleted.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try reportingNSErrors {
      if storeType == NSInMemoryStoreType || url.path == "/dev/null" { return }
      try Self.requireFile(url, ofType: storeType)
      let given = url
      let url = Self.file(at: url)
      for open in persistentStores where open.isFile(at: url) || open.isFile(at: given) { try remove(open) }
      // The database is deleted last, so that a deletion which fails half way can be tried again.
      let places =
        [Self.supportFolder(of: url)]
        + ["-journal", "-wal", "-shm", ""].map { URL(fileURLWithPath: url.path + $0) }
      for place in places where FileManager.default.fileExists(atPath: place.path) {
        do {
          try FileManager.default.removeItem(at: place)
        } catch {
          throw ManagedObjectError(
            .store,
            "The store at \(given.path) can't be deleted, because \(place.path) can't. Change the permissions of its folder.",
            cause: error)
        }
      }
    }
  }

  /// The file that a URL leads to, with all symbolic links followed; the URL itself if no file can be there.
  static func file(at url: URL) -> URL {
    (try? StoreEngines.files.realPath(url.path)).map { URL(fileURLWithPath: $0) } ?? url
  }

  /// The folder that holds the external values of a store.
  static func supportFolder(of url: URL) -> URL {
    let name = url.deletingPathExtension().lastPathComponent
    return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT")
  }

  static func requireFile(_ url: URL, ofType type: String) throws {
    guard type == NSSQLiteStoreType else {
      throw ManagedObjectError(
        .invalidStoreType, "There are no files of the store type \"\(type)\". Use NSSQLiteStoreType.")
    }
    guard url.isFileURL else {
      throw ManagedObjectError(
        .noStore, "\(url) is no file URL, so there is no store. Make it with URL(fileURLWithPath:).")
    }
  }
}

extension NSPersistentStore {
  /// Whether the store is in a file, which was opened by this URL or by one that leads to the same file.
  fileprivate func isFile(at file: URL) -> Bool {
    guard type == NSSQLiteStoreType, let url, url.isFileURL, url.path != "/dev/null" else { return false }
    return url.standardizedFileURL == file.standardizedFileURL
      || NSPersistentStoreCoordinator.file(at: url).path == file.path
  }
}
