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

  /// The error for a store that can't be opened, with its file and, if it has another model, its metadata.
  static func openingError(
    _ error: StoreError, _ description: NSPersistentStoreDescription
  ) -> ManagedObjectError {
    var told = ManagedObjectError(
      .store, "The store at \(description.url?.path ?? "(memory)") can't be opened: \(error.message)",
      cause: error)
    guard let url = description.url else { return told }
    if url.isFileURL { told.subjects[.path] = url.path }
    if error.code == .incompatibleSchema,
      let metadata = try? metadataForPersistentStore(
        ofType: description.type, at: url, options: description.options)
    {
      told.subjects[.metadata] = ConcernedMetadata(values: metadata)
    }
    return told
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

extension NSPersistentStoreCoordinator {
  /// Makes the folder of a store's file if it is missing, as containers do before they open a store.
  ///
  /// Nothing is made for a store in memory, one of another engine than that of files, one that is only read, and a path where no file can
  /// be.
  ///
  /// - Throws: ``ManagedObjectError`` if there can be no file at the path, or the folder can't be made.
  @_spi(CDE) public static func makeFolder(of description: NSPersistentStoreDescription) throws {
    try reportingNSErrors { try makeFolder(ofFileOf: description) }
  }

  private static func makeFolder(ofFileOf description: NSPersistentStoreDescription) throws {
    guard let url = description.url, url.isFileURL, url.path != "/dev/null", !description.isReadOnly,
      description.type == NSSQLiteStoreType
    else { return }
    func unopened(_ reason: String, _ cause: StoreError) -> ManagedObjectError {
      ManagedObjectError(.store, "The store at \(url.path) can't be opened: \(reason)", cause: cause)
    }
    if let engine = try engines.engine(for: description.type) as? any FileStoreEngine {
      // A folder for a file that SQLite refuses would stay behind.
      do { _ = try engine.path(of: description) } catch let error as StoreError {
        throw unopened(error.message, error)
      }
    }
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      let (code, reason, cause) = reasonAgainstFolder(url.deletingLastPathComponent(), error)
      throw unopened(
        "its folder can't be made, because \(reason). Set the description's url to another place, or change that one.",
        StoreError(
          code, "\(reason).", cause: cause, engineCode: code == .cannotOpen ? sqliteCannotOpen : nil))
    }
  }

  /// SQLite's code for a file that can't be opened, which it would give without the folder.
  private static let sqliteCannotOpen: Int32 = 14

  /// - Returns: the reason, and the error that has Core Data's number for it; nil for the number of paths that lead to no file.
  private static func reasonAgainstFolder(
    _ folder: URL, _ error: any Error
  ) -> (StoreError.Code, String, (any Error)?) {
    if (error as? CocoaError)?.code == .fileWriteOutOfSpace { return (.full, "the disk is full", error) }
    var isFolder = ObjCBool(false)
    var place = folder
    while place.path != "/", !FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder) {
      if (try? FileManager.default.destinationOfSymbolicLink(atPath: place.path)) != nil {
        return (.cannotOpen, "\(place.path) is a symbolic link that leads to no folder", nil)
      }
      place.deleteLastPathComponent()
    }
    guard isFolder.boolValue else { return (.cannotOpen, "\(place.path) is a file and no folder", nil) }
    return (.cannotOpen, "\(place.path) may not be written", error)
  }
}
