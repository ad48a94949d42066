internal import CDEStore

// Which engine opens the stores of a type.

extension StoreOpening {
  /// The opening of a store of a model.
  init(_ description: NSPersistentStoreDescription, _ model: ModelBinding, _ entities: Set<EntityIndex>) {
    self.init(
      description: description, schema: model.schema, entities: entities,
      makeModelCache: { model.modelCache })
  }
}

extension NSPersistentStoreCoordinator {
  static let engines = StoreEngines([
    NSSQLiteStoreType: StoreEngines.files, NSInMemoryStoreType: StoreEngines.files,
  ])

  /// The engines by the store types that they open. At first there are those of ``NSSQLiteStoreType`` and ``NSInMemoryStoreType``.
  ///
  /// May be used from any thread. The same as `registeredStoreTypes` of Apple's Core Data.
  public class var registeredStoreEngines: [String: any StoreEngine] { engines.all }

  /// Makes an engine open the stores of a type, in all coordinators of the process.
  ///
  /// May be used from any thread. Stores that are open are not concerned. The same as `registerStoreClass(_:forStoreType:)` of
  /// Apple's Core Data.
  ///
  /// - Parameters:
  ///   - engine: the engine; nil to remove the present one.
  ///   - type: the name that ``NSPersistentStoreDescription/type`` has.
  public class func registerStoreEngine(_ engine: (any StoreEngine)?, forStoreType type: String) {
    engines.register(engine, for: type)
  }
}
