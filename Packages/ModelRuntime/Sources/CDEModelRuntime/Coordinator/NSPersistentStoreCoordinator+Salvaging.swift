public import CDEManagedModel
public import CDEStore
public import Foundation

extension NSPersistentStoreCoordinator {
  /// Copies what can be read of a damaged store into a new one, row by row.
  ///
  /// ```swift
  /// let report = try NSPersistentStoreCoordinator.salvagePersistentStore(at: url, to: rescued)
  /// print(report)
  /// ```
  ///
  /// The file is read page by page, without SQLite, so rows are found below damaged pages as well. The damaged files stay as
  /// they are. The new store has the rows with their IDs, versions and external values, and the metadata. References to lost
  /// rows are removed. A history and the tables of other programs are left out.
  ///
  /// Close the store in all processes first. May be called on any isolation; takes about as long as reading the file twice and
  /// writing the rows. Apple's Core Data has no such call.
  ///
  /// - Parameters:
  ///   - url: the URL of the damaged file.
  ///   - destination: the URL of the new store, which must not exist.
  ///   - model: the model of the store; nil for the copy in the file.
  ///   - configuration: the configuration of the model that the store has; nil for the whole model, or for what the copy in
  ///     the file says.
  /// - Returns: what was copied, what is damaged and what is lost.
  /// - Throws: ``ManagedObjectError``: `.modelMissing` if the copy of the model is damaged as well, `.store` for a file that
  ///   is missing, a destination that exists, and failures of writing. Damage is no error.
  @discardableResult
  public class func salvagePersistentStore(
    at url: URL, to destination: URL, model: NSManagedObjectModel? = nil, configuration: String? = nil
  ) throws -> SalvageReport {
    try reportingNSErrors {
      try requireFile(url, ofType: NSSQLiteStoreType)
      try requireFile(destination, ofType: NSSQLiteStoreType)
      var (model, configuration) = (model, configuration)
      if model == nil {
        let cached = try CachedModel(inDamagedStoreAt: url)
        let read = try NSManagedObjectModel(cached, module: "")
        configuration = configuration ?? cached.configuration(of: read)
        model = read
      }
      let binding = try NSPersistentStoreCoordinator(managedObjectModel: model!).usableBinding()
      do {
        return try StoreEngines.files.salvage(
          fileAt: url.path, to: destination.path, schema: binding.schema,
          entities: try binding.entities(in: configuration), modelCache: binding.modelCache)
      } catch let error as StoreError {
        throw ManagedObjectError(
          .store, "The store at \(url.path) can't be salvaged to \(destination.path): \(error.message)",
          cause: error)
      }
    }
  }
}
