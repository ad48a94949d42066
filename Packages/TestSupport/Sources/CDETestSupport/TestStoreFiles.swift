public import Foundation

/// The files of one test store: the database and what lies beside it.
@_spi(CDE) public struct TestStoreFiles: Sendable {
  /// The database itself.
  public let store: URL

  public init(store: URL) { self.store = store }

  init(name: TestStoreName, subDirectory: String) {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent(subDirectory, isDirectory: true)
    store = folder.appendingPathComponent(name.text + ".sqlite")
  }

  var folder: URL { store.deletingLastPathComponent() }

  /// Everything that belongs to the store, present or not: the sidecars of both journal modes and the
  /// folder of external values.
  private var all: [URL] {
    let name = store.lastPathComponent
    let support = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
    return ["-wal", "-shm", "-journal", ""].map { folder.appendingPathComponent(name + $0) }
      + [folder.appendingPathComponent(support, isDirectory: true)]
  }

  /// Makes the folder, where it does not exist.
  ///
  /// - Throws: `CDTestContainerError.failedToCreateStoreDirectory`.
  func createFolder() throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw CDTestContainerError.failedToCreateStoreDirectory(
        path: folder.path, reason: error.localizedDescription)
    }
  }

  /// Removes every file, present or not. The sidecars go first: a log beside a missing database is ignored by
  /// the next store, a log beside a new one is not.
  ///
  /// - Throws: `CDTestContainerError.failedToRemoveStaleStoreFile`.
  public func remove() throws {
    for file in all {
      do {
        try FileManager.default.removeItem(at: file)
      } catch CocoaError.fileNoSuchFile {
        continue
      } catch {
        throw CDTestContainerError.failedToRemoveStaleStoreFile(
          path: file.path, reason: error.localizedDescription)
      }
    }
  }
}
