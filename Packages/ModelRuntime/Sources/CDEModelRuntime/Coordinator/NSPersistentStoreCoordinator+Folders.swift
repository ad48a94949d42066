internal import CDEStore
internal import Foundation

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
