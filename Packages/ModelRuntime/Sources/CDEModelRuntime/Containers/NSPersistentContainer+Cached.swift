@_spi(CDE) public import CDEManagedModel
@_spi(CDE) internal import CDEModelFiles
public import Foundation

extension NSPersistentContainer {
  /// Makes a container for a store whose model is the copy that the store keeps, for stores of other programs.
  ///
  /// ```swift
  /// let container = try NSPersistentContainer(modelCachedInStoreAt: url)
  /// container.persistentStoreDescriptions[0].isReadOnly = true
  /// container.loadPersistentStores { _, error in
  ///   if let error { print(error) }
  /// }
  /// ```
  ///
  /// The only description is that of the store: it names the configuration whose entities the store has, records commits
  /// in the history if the store has one, and does not migrate. Set `isReadOnly` to leave the file and its folder as they
  /// are. `init(cachedInStoreAt:_:)` of the model says what becomes of classes and version hashes.
  ///
  /// Reads the file once. The store is opened by `loadPersistentStores`. Apple's Core Data has no such call.
  ///
  /// - Parameters:
  ///   - url: the URL of the store's file.
  ///   - name: the container's name; nil for the name of the file without its extension.
  ///   - timeout: how long to wait while another program has the file locked, in seconds. The store is opened with the description's.
  ///   - file: the calling file, which the compiler fills in.
  /// - Throws: ``ManagedObjectError``: `.modelMissing` if the store has no usable copy of its model, `.store` for a file
  ///   that is missing or no store.
  public convenience init(
    modelCachedInStoreAt url: URL, name: String? = nil, timeout: TimeInterval = 10, _ file: String = #fileID
  ) throws {
    try self.init(
      modelCachedInStoreAt: url, name: name, timeout: timeout, module: ModelResources.module(in: file)
    ) { _ in }
  }

  /// The same for tools, which may change the model before it is used.
  @_spi(CDE) public convenience init(
    modelCachedInStoreAt url: URL, name: String? = nil, timeout: TimeInterval, module: String,
    _ prepare: (NSManagedObjectModel) -> Void
  ) throws {
    let cached = try CachedModel(inStoreAt: url, timeout: timeout)
    let model = try NSManagedObjectModel(cached, module: module)
    prepare(model)
    self.init(name: name ?? url.deletingPathExtension().lastPathComponent, managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    description.configuration = cached.configuration(of: model)
    description.shouldMigrateStoreAutomatically = false
    if cached.hasHistory { description.setOption(true, forKey: NSPersistentHistoryTrackingKey) }
    persistentStoreDescriptions = [description]
  }
}
