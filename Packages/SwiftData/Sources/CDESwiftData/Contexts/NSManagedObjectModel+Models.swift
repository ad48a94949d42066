public import CDEManagedModel
internal import Foundation

extension NSManagedObjectModel {
  /// The model of Core Data's stack for the store of model classes, so that an `NSPersistentContainer` and a ``ModelContainer`` use
  /// one store.
  ///
  /// ```swift
  /// let model = NSManagedObjectModel.makeManagedObjectModel(for: [Trip.self])!
  /// let container = NSPersistentContainer(name: "Trips", managedObjectModel: model)
  /// ```
  ///
  /// The model's version hashes are those of the container's stores, so neither of the two migrates for the other. Its objects are of
  /// the class `NSManagedObject`, unless an entity of the merged model says otherwise. As in SwiftData.
  ///
  /// - Parameters:
  ///   - types: the classes; those that they reach by relationships are added.
  ///   - mergedWith: a model whose entities are added. An entity of both has to be the same in both, and is the one of this model.
  /// - Returns: a model that may be changed before its first use; nil if the classes make no schema, or an entity is another one in the
  ///   merged model. The reason is reported.
  public static func makeManagedObjectModel(
    for types: [any PersistentModel.Type], mergedWith: NSManagedObjectModel? = nil
  ) -> NSManagedObjectModel? {
    let own: NSManagedObjectModel
    do { own = try Schema(types).managedObjectModel() } catch {
      ModelReport.send("No NSManagedObjectModel can be made for the classes: \(error)")
      return nil
    }
    guard let merged = NSManagedObjectModel(byMerging: [mergedWith, own].compactMap(\.self)) else {
      let differing = own.entities.filter { entity in
        mergedWith?.entitiesByName[entity.name ?? ""].map { $0.versionHash != entity.versionHash } ?? false
      }
      ModelReport.send(
        "No NSManagedObjectModel can be made for the classes, because the merged model has other entities of the names "
          + "\(differing.compactMap(\.name).sorted().joined(separator: ", ")). Describe them as the classes do, or rename them."
      )
      return nil
    }
    return merged
  }
}
