import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@PersistentModel
private final class Report: NSManagedObject {
  var heading: String = ""
  var body: Data?
}

@PersistentModel(entityName: "Report")
private final class NewReport: NSManagedObject {
  var caption: String = ""
  @Attribute(persistentName: "body") var content: Data?
}

@Suite("Descriptions of a model of classes, changed before its first use")
struct ChangedDescriptionTests {
  @Test("Indexes are used, large values are in files, and a renaming identifier keeps values", .onSQLite)
  func changes() throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Report.self)
    let entity = try #require(model.entitiesByName["Report"])
    let heading = try #require(entity.attributesByName["heading"])
    let index = NSFetchIndexElementDescription(property: heading, collationType: .binary)
    entity.indexes = [NSFetchIndexDescription(name: "byHeading", elements: [index])]
    entity.attributesByName["body"]?.allowsExternalBinaryDataStorage = true
    let stack = try Stack(model: model)
    let context = stack.context()
    let report = Report(context: context)
    report.heading = "First"
    report.body = Data(repeating: 7, count: 1_000_000)
    try context.save()
    let request = Report.fetchRequest()
    request.predicate = NSPredicate(format: "heading == %@", "First")
    #expect(try context.explain(request).usesIndex)
    let url = try #require(stack.container.persistentStoreDescriptions.first?.url)
    #expect(try Data(contentsOf: url).count < 1_000_000)

    let coordinator = stack.container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let later = try NSManagedObjectModel.makeRuntimeModel(NewReport.self)
    let attributes = try #require(later.entitiesByName["Report"]?.attributesByName)
    attributes["caption"]?.renamingIdentifier = "heading"
    attributes["body"]?.allowsExternalBinaryDataStorage = true
    let container = NSPersistentContainer(name: "Later", managedObjectModel: later)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let reader = container.newBackgroundContext()
    let migrated = try reader.fetch(NewReport.fetchRequest())
    #expect(migrated.map(\.caption) == ["First"] && migrated.first?.content?.count == 1_000_000)
  }

  @Test("A store that exists gets no index of a model with the same version hashes")
  func laterIndex() throws {
    let description = NSEntityDescription()
    description.name = "Note"
    let number = NSAttributeDescription()
    (number.name, number.attributeType) = ("number", .integer64AttributeType)
    description.properties = [number]
    let model = NSManagedObjectModel()
    model.entities = [description]
    let stack = try Stack(model: model)
    let url = try #require(stack.container.persistentStoreDescriptions.first?.url)
    let later = try #require(model.copy() as? NSManagedObjectModel)
    let property = try #require(later.entities.first?.attributesByName["number"])
    let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
    later.entities.first?.indexes = [NSFetchIndexDescription(name: "byNumber", elements: [element])]
    let container = NSPersistentContainer(name: "Later", managedObjectModel: later)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let reader = container.newBackgroundContext()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.predicate = NSPredicate(format: "number == 1")
    #expect(try !reader.explain(request).usesIndex)
  }
}
