import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import CDESourceTool
import Foundation

/// Prints `@Model` classes for a store or a model.
struct GenerateCommand {
  let source: URL

  /// The source of the classes, and what they do not express.
  func classes() throws -> (text: String, remarks: [String]) {
    guard FileManager.default.fileExists(atPath: source.path) else {
      throw Problem("There is no file \(source.path).")
    }
    let isModel = ["xcdatamodeld", "xcdatamodel", "momd", "mom"].contains(source.pathExtension)
    let model =
      isModel
      ? try NSManagedObjectModel(modelFile: source) : try NSManagedObjectModel(cachedInStoreAt: source)
    var generator = SwiftDataGenerator(model, rawValues: isModel ? [:] : try rawValues(of: model))
    let text = try generator.source()
    return (text, generator.remarks)
  }

  func run() throws {
    let (text, remarks) = try classes()
    print(text, terminator: "")
    for remark in remarks { FileHandle.standardError.write(Data("remark: \(remark)\n".utf8)) }
  }

  /// The values of enumerations that the store has. It is opened for reading only.
  private func rawValues(of model: NSManagedObjectModel) throws -> [String: [AnyHashable]] {
    var wanted: [(entity: String, attribute: String)] = []
    for entity in model.entities {
      for case let composite as NSCompositeAttributeDescription in entity.properties
      where composite.userInfo?["EnumType"] != nil && composite.elements.map(\.name) == [composite.name] {
        wanted.append((entity.name ?? "", composite.name))
      }
    }
    if wanted.isEmpty { return [:] }
    let container = NSPersistentContainer(name: "store", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: source)
    description.isReadOnly = true
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      var result: [String: [AnyHashable]] = [:]
      for (entity, attribute) in wanted {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.fetchBatchSize = 500
        var values = Set<AnyHashable>()
        for object in try context.fetch(request) {
          let value = (object.value(forKey: attribute) as? [String: Any])?[attribute]
          if let value = value as? AnyHashable { values.insert(value) }
          context.refresh(object, mergeChanges: false)
        }
        result["\(entity).\(attribute)"] = Array(values)
      }
      return result
    }
  }
}
