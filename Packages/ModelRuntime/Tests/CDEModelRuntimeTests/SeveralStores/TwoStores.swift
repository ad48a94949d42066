import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation

/// A coordinator with several stores of the same entities.
struct TwoStores {
  let coordinator: NSPersistentStoreCoordinator
  let stores: [NSPersistentStore]
  let folder: URL

  static func makeModel() -> NSManagedObjectModel {
    let owner = entity(
      "Owner", nil,
      [
        attribute("name", .stringAttributeType, default: ""),
        attribute("rank", .integer64AttributeType, optional: false, default: 0),
      ])
    let picture = attribute("picture", .binaryDataAttributeType)
    picture.allowsExternalBinaryDataStorage = true
    let part = entity(
      "Part", nil,
      [
        attribute("n", .integer64AttributeType, optional: false, default: 0),
        attribute("text", .stringAttributeType), attribute("price", .decimalAttributeType),
        attribute("ratio", .doubleAttributeType), attribute("day", .dateAttributeType), picture,
      ])
    let special = entity("SpecialPart", nil, [attribute("extra", .stringAttributeType)])
    part.subentities = [special]
    let tag = entity("Tag", nil, [attribute("code", .stringAttributeType)])
    tag.uniquenessConstraints = [["code"]]
    connect(.many(owner, "parts"), .one(part, "owner"))
    connect(.many(owner, "line", ordered: true), .one(part, "liner"))
    connect(.many(part, "tags"), .many(tag, "parts"))
    let model = NSManagedObjectModel()
    model.entities = [owner, part, special, tag]
    return model
  }

  static let shared = makeModel()

  /// - Parameters:
  ///   - names: the files' names, in the order in which the stores are added.
  ///   - folder: the folder of the files; by default a new one.
  ///   - options: options that are on.
  init(
    _ names: [String] = ["A", "B"], in folder: URL? = nil, readOnly: Set<String> = [],
    vfs: [String: String] = [:],
    timeout: Double? = nil, model: NSManagedObjectModel = TwoStores.shared, options: String...
  ) throws {
    self.folder = folder ?? ProcessFolder.newURL()
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    self.coordinator = coordinator
    let place = self.folder
    stores = try names.map { name in
      var set: [AnyHashable: Any] = [:]
      for option in options { set[option] = true }
      if readOnly.contains(name) { set[NSReadOnlyPersistentStoreOption] = true }
      if let timeout { set[NSPersistentStoreTimeoutOption] = timeout }
      if let vfs = vfs[name] { set[CDESQLiteVFSOption] = vfs }
      return try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: place.appendingPathComponent("\(name).sqlite"),
        options: set)
    }
  }

  /// The same with a list of options.
  init(names: [String], in folder: URL? = nil, options: [String]) throws {
    switch options.count {
    case 0: try self.init(names, in: folder)
    case 1: try self.init(names, in: folder, options: options[0])
    default: try self.init(names, in: folder, options: options[0], options[1])
    }
  }

  func file(_ name: String) -> URL { folder.appendingPathComponent("\(name).sqlite") }

  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func close() throws { for store in coordinator.persistentStores { try coordinator.remove(store) } }
}

extension NSManagedObjectContext {
  /// Merges changes without entering the context's own queue.
  func merge(_ info: [AnyHashable: Any]) {
    mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, userInfo: info))
  }

  /// A new object that is assigned to a store.
  func make(_ entity: String, in store: NSPersistentStore, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = make(entity, values)
    assign(object, to: store)
    return object
  }

  /// The values of one property in a fetch.
  func list<Value>(
    _ key: String, of entity: String, sort: [NSSortDescriptor] = [], in stores: [NSPersistentStore]? = nil,
    _ format: String? = nil
  ) throws -> [Value] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = sort
    request.affectedStores = stores
    request.predicate = format.map { NSPredicate(format: $0) }
    return try fetch(request).compactMap { $0.value(forKey: key) as? Value }
  }
}
