import CDESQLite
import CDEStore
import Foundation

/// Large values in files outside the database, as in Core Data.
///
/// A cell of an attribute with external storage has a head byte: 1 before the value itself, 2 before the name
/// of a file. Writers always use the first form. The store decides which values go into files.
struct ExternalStorage: Sendable {
  /// Values longer than this go into files.
  static let inlineLimit = 128 << 10

  let folder: String
  private let files: FileSystem

  init(storePath: String, files: FileSystem) {
    self.files = files
    folder = Self.folder(ofStoreAt: storePath)
  }

  /// The folder of the files of a store's values. Its parent folder belongs to the store, too.
  static func folder(ofStoreAt storePath: String) -> String {
    let path = storePath as NSString
    let name = (path.lastPathComponent as NSString).deletingPathExtension
    return (path.deletingLastPathComponent as NSString)
      .appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
  }

  private func path(_ name: String) -> String { (folder as NSString).appendingPathComponent(name) }

  /// File names come from rows, which may be manipulated. Only UUIDs are accepted.
  private func checked(_ name: String) throws(StoreError) -> String {
    guard UUID(uuidString: name) != nil else {
      throw StoreError(.unreadable, "A row names an external value that is no UUID; the store is damaged.")
    }
    return path(name)
  }

  /// Writes a value and waits until it is on the disk.
  ///
  /// - Returns: the file's name.
  func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> String {
    let name = UUID().uuidString
    let task = "Writing an external value"
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw Self.uncreated(error)
    }
    let file = try files.open(path(name), for: .creating, while: task)
    do throws(StoreError) {
      try file.write(bytes, while: task)
      try file.sync(while: task)
    } catch {
      files.remove(path(name))
      throw error
    }
    return name
  }

  private static func uncreated(_ error: any Error) -> StoreError {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
    let number = isFull ? ENOSPC : Int32(truncatingIfNeeded: underlying?.code ?? 0)
    let (code, remedy) =
      EngineError.classify(system: number) ?? (.io, "Check that the store's folder may be written.")
    return StoreError(code, "The folder for external values can't be created. \(remedy)", cause: error)
  }

  func read(_ name: String) throws(StoreError) -> [UInt8] {
    let path = try checked(name)
    let task = "Reading an external value"
    do throws(StoreError) {
      return try files.open(path, for: .reading, while: task).read(upTo: .max, while: task)
    } catch {
      if error.code == .tooManyOpenFiles { throw error }
      var status = cde_file_status()
      if cde_file_status_at(path, &status) == ENOENT {
        throw StoreError(
          .externalValueMissing,
          "The file \(name) of an external value is not in \(folder). Copy the store together with its support folder.",
          cause: error)
      }
      throw StoreError(
        .io, "The external value \(name) can't be read. Copy the store together with its support folder.",
        cause: error)
    }
  }

  /// The names of all files.
  func names() -> [String] {
    // Most stores have no such folder. If a folder can't be read, no file in it can be removed either.
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return entries.filter { UUID(uuidString: $0) != nil }
  }

  /// Removes files. A missing file is no failure.
  func remove(_ names: [String]) {
    for name in names where UUID(uuidString: name) != nil { files.remove(path(name)) }
  }
}
