public import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
public import Foundation

/// A version of a model that a stage names: the model itself, or where it is found when a store is migrated.
///
/// The checksum says which version it has to be: `NSManagedObjectModel.versionChecksum`, which Xcode shows for a version and
/// compiled models contain.
nonisolated open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
  // Guard: immutable.

  private enum Place: @unchecked Sendable {
    // Guard: immutable; a model may not change once it is shared.
    case model(NSManagedObjectModel)
    case file(URL)
    case hashes([String: Data], folders: [URL])
    case name(String, folders: [URL])
  }

  private let place: Place
  /// The checksum of the version.
  public let versionChecksum: String

  /// Refers to a model in memory, which can't be changed afterwards.
  public init(model: NSManagedObjectModel, versionChecksum: String) {
    place = .model(model)
    self.versionChecksum = versionChecksum
  }

  /// Refers to a file: a `.mom`, a `.momd` with the version as its current one, or an `.xcdatamodel`.
  public init(fileURL: URL, versionChecksum: String) {
    place = .file(fileURL)
    self.versionChecksum = versionChecksum
  }

  /// Refers to the version with these entities among the model files of a bundle.
  ///
  /// - Parameters:
  ///   - entityVersionHashes: the 32-byte version hashes by the names of the entities.
  ///   - bundle: where to look; nil for the resources of the program.
  ///   - versionChecksum: the checksum of the version.
  public init(
    entityVersionHashes: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String
  ) {
    var hashes: [String: Data] = [:]
    for (key, value) in entityVersionHashes {
      if let name = key.base as? String, let hash = value as? Data { hashes[name] = hash }
    }
    place = .hashes(hashes, folders: Self.folders(bundle))
    self.versionChecksum = versionChecksum
  }

  /// Refers to a version by the name of its file without an extension: `Notes 2` for `Notes 2.mom`, alone or in a `.momd`.
  ///
  /// - Parameters:
  ///   - modelName: the name.
  ///   - bundle: where to look; nil for the resources of the program.
  ///   - versionChecksum: the checksum of the version.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    place = .name(modelName, folders: Self.folders(bundle))
    self.versionChecksum = versionChecksum
  }

  private static func folders(_ bundle: Bundle?) -> [URL] {
    if let bundle { return [bundle.resourceURL ?? bundle.bundleURL] }
    return ModelResources.folders(of: nil) + [Bundle.main.resourceURL ?? Bundle.main.bundleURL]
  }

  /// The model. If it is not found, or has another checksum, the result is an empty model and a message is logged: Core Data
  /// raises an exception then. A migration throws the reason instead.
  open var resolvedModel: NSManagedObjectModel {
    do { return try resolve() } catch {
      Diagnostics.report("The model of a reference can't be used: \(error)")
      return NSManagedObjectModel()
    }
  }

  /// - Throws: ``ManagedObjectError``: `.migrationLacksSourceModel` if the model is not found or can't be read,
  ///   `.stagedMigrationVersion` if it has another checksum.
  func resolve() throws -> NSManagedObjectModel {
    let (model, text) = try find()
    guard model.versionChecksum == versionChecksum else {
      throw ManagedObjectError(
        .stagedMigrationVersion,
        "The model \(text) of a stage has the checksum \(model.versionChecksum) and not \(versionChecksum). Name the model with the "
          + "right checksum, or correct the checksum.")
    }
    return model
  }

  private func find() throws -> (NSManagedObjectModel, String) {
    switch place {
    case .model(let model): return (model, "in memory")
    case .file(let url):
      do { return (try NSManagedObjectModel(modelFile: url), "at \(url.path)") } catch {
        throw unreadable(url, error)
      }
    case .hashes(let hashes, let folders):
      if let found = ModelVersions.model(withHashes: hashes, in: folders) {
        return (found, "with \(hashes.count) entities")
      }
      throw missing(
        "No model with the entity versions of a stage is in \(Self.list(folders)). Add the model's file there.",
        nil)
    case .name(let name, let folders):
      let manager = FileManager.default
      for folder in folders {
        let versions = ((try? manager.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
          .filter { $0.hasSuffix(".momd") || $0.hasSuffix(".xcdatamodeld") }
        for place in [folder] + versions.map({ folder.appendingPathComponent($0) }) {
          for ending in ["mom", "momd", "xcdatamodel"] {
            let url = place.appendingPathComponent("\(name).\(ending)")
            guard manager.fileExists(atPath: url.path) else { continue }
            do { return (try NSManagedObjectModel(modelFile: url), name) } catch {
              throw unreadable(url, error)
            }
          }
        }
      }
      throw missing("The model \(name) of a stage is not in \(Self.list(folders)). Add its file there.", nil)
    }
  }

  private func unreadable(_ url: URL, _ error: any Error) -> ManagedObjectError {
    missing(
      "The model at \(url.path) of a stage can't be read: \((error as? any CDEError)?.message ?? "\(error)")",
      error)
  }

  private static func list(_ folders: [URL]) -> String { folders.map(\.path).joined(separator: ", ") }

  private func missing(_ message: String, _ cause: (any Error)?) -> ManagedObjectError {
    ManagedObjectError(.migrationLacksSourceModel, message, cause: cause)
  }
}
