@_spi(CDE) public import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
public import Foundation

extension NSManagedObjectModel {
  /// Reads the model that a store keeps a copy of, in its table `Z_MODELCACHE`. Core Data writes it since 2015, SwiftData
  /// and this library do as well.
  ///
  /// ```swift
  /// let model = try NSManagedObjectModel(cachedInStoreAt: url)
  /// for entity in model.entities { print(entity.name ?? "", entity.propertiesByName.keys.sorted()) }
  /// ```
  ///
  /// Objects of entities whose class the program does not have are of the class `NSManagedObject`. The entities have the
  /// version hashes that the store has recorded. If the store has only some of the model's entities, and no configuration
  /// of the model has exactly these, the model gets one: ``storedEntitiesConfigurationName``.
  ///
  /// Reads the file once; neither the file nor its folder changes, also if the store is in use. May be called on any
  /// isolation. The cost grows with the size of the model, not with the number of rows. Apple's Core Data has no such
  /// call.
  ///
  /// - Parameters:
  ///   - url: the URL of the store's file.
  ///   - file: the calling file, which the compiler fills in. Class names without a module mean classes of its module
  ///     first.
  /// - Throws: ``ManagedObjectError``: `.modelMissing` if the store has no copy, a damaged one, or one of another version
  ///   of its model; `.store` for a file that is missing or no store.
  public convenience init(cachedInStoreAt url: URL, _ file: String = #fileID) throws {
    try self.init(CachedModel(inStoreAt: url), module: ModelResources.module(in: file))
  }

  /// Reads a model from a store's copy of it, and completes it by what else is in the file.
  convenience init(_ cached: CachedModel, module: String?) throws {
    do { try self.init(compiledModel: cached.archive, module: module) } catch { throw cached.unusable(error) }
    callingModule = module
    for case let derived as NSDerivedAttributeDescription in entities.flatMap(\.properties) {
      derived.isOfOtherProgram = true
    }
    try cached.complete(self)
  }

  /// The name of the configuration that ``init(cachedInStoreAt:_:)`` makes for a store with some of the model's entities.
  public static let storedEntitiesConfigurationName = "CDEStoredEntities"
}
