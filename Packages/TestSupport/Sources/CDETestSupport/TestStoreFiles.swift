internal import Foundation

/// The files of one test store: the database and what lies beside it.
struct TestStoreFiles: Sendable {
  /// The database itself.
  let store: URL

  init(store: URL) { self.store = store }

  init(name: TestStoreName, subDirectory: String) {
    self.init(name: name, folder: TestFolder.url(subDirectory))
  }

  /// - Parameter folder: The folder for test stores when nil.
  init(name: TestStoreName, folder: URL?) {
    guard let folder else {
      self.init(name: name, subDirectory: "CoreDataEvolutionTestTemp")
      return
    }
    self.init(store: folder.appendingPathComponent(name.text + ".sqlite"))
  }

  var folder: URL { store.deletingLastPathComponent() }

  private func sidecar(_ suffix: String) -> URL {
    folder.appendingPathComponent(store.lastPathComponent + suffix)
  }

  /// The folder of external values.
  private var support: URL {
    let name = store.deletingPathExtension().lastPathComponent
    return folder.appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
  }

  /// Where a failed test leaves what its store was asked.
  var log: URL { store.deletingPathExtension().appendingPathExtension("sql") }

  /// Everything that belongs to the store, present or not: the sidecars of both journal modes, the folder of
  /// external values and the log.
  private var all: [URL] { ["-wal", "-shm", "-journal", ""].map(sidecar) + [support, log] }

  /// Makes the store a copy of another one, with what is still in its log or journal and its external values.
  ///
  /// - Throws: `CDTestContainerError.failedToCopyTemplate`.
  func copy(_ template: URL) throws {
    let source = TestStoreFiles(store: template)
    func failure(_ reason: String) -> CDTestContainerError {
      .failedToCopyTemplate(path: template.path, reason: reason)
    }
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: template.path) else {
      throw failure("There is no such file.")
    }
    // An empty file would be taken for a store yet to be made.
    guard (attributes[.size] as? NSNumber)?.intValue != 0 else { throw failure("The file is empty.") }
    do {
      try FileManager.default.copyItem(at: template, to: store)
      let sides = ["-wal", "-journal"].map { (source.sidecar($0), sidecar($0)) }
      for (from, to) in sides + [(source.support, support)]
      where FileManager.default.fileExists(atPath: from.path) {
        try FileManager.default.copyItem(at: from, to: to)
      }
    } catch {
      throw failure(error.localizedDescription)
    }
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
  func remove() throws {
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
