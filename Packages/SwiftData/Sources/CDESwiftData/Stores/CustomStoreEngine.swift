internal import CDEManagedModel
internal import CDEModelRuntime
internal import CDEStore
internal import Foundation

/// Opens custom stores for the coordinator of their container.
struct CustomStoreEngine: StoreEngine {
  private static let option = "CDEDataStore"

  /// The store type, whose engine the first use registers.
  private static let type: String = {
    NSPersistentStoreCoordinator.registerStoreEngine(CustomStoreEngine(), forStoreType: "DataStore")
    return "DataStore"
  }()

  /// Describes a custom store.
  static func description(of store: CustomStore) -> NSPersistentStoreDescription {
    let description = NSPersistentStoreDescription()
    description.type = type
    // The mirror is in memory.
    description.url = URL(fileURLWithPath: "/dev/null")
    description.setOption(store, forKey: option)
    // Contexts take what the application's store gives from commits of others.
    description.setOption(true, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    return description
  }

  func open(_ opening: StoreOpening) throws -> any Store {
    guard let store = opening.description.options[Self.option] as? CustomStore,
      let memory = NSPersistentStoreCoordinator.registeredStoreEngines[NSInMemoryStoreType]
    else {
      throw StoreError(
        .cannotOpen, "A store of this type is opened by a ModelContainer, with a DataStoreConfiguration.")
    }
    store.attach(try memory.open(opening))
    return store
  }
}
