public import Foundation

/// Why a throw-away container could not be made.
public enum CDTestContainerError: LocalizedError, CustomStringConvertible, Sendable, Equatable {
  /// The folder for test stores does not exist and can't be made.
  case failedToCreateStoreDirectory(path: String, reason: String)
  /// A file left by an earlier run can't be removed.
  case failedToRemoveStaleStoreFile(path: String, reason: String)
  /// The store that a test's own is to be a copy of is missing, or can't be copied.
  case failedToCopyTemplate(path: String, reason: String)
  /// The store itself can't be opened: the model has a mistake, or the file system refuses.
  case failedToLoadPersistentStore(testName: String, storePath: String, reason: String)

  public var errorDescription: String? { description }

  public var description: String {
    switch self {
    case .failedToCreateStoreDirectory(let path, let reason):
      "The folder for test stores at \(path) could not be made: \(reason)"
    case .failedToRemoveStaleStoreFile(let path, let reason):
      "The file \(path), left by an earlier run, could not be removed: \(reason)"
    case .failedToCopyTemplate(let path, let reason):
      "The template \(path) could not be copied: \(reason) Give .template the path of a store's SQLite file."
    case .failedToLoadPersistentStore(let testName, let storePath, let reason):
      "The store of the test \"\(testName)\" at \(storePath) could not be loaded: \(reason)"
    }
  }
}
