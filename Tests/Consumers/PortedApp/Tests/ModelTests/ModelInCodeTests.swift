//
//  ModelInCodeTests.swift
//  TripsTests
//

import CoreData
import XCTest

@objc(CDNote)
final class CDNote: NSManagedObject {
  @NSManaged var title: String
  @NSManaged var tags: Set<CDTag>
}

@objc(CDTag)
final class CDTag: NSManagedObject {
  @NSManaged var name: String
  @NSManaged var note: CDNote?
}

final class ModelInCodeTests: XCTestCase {

  private func attribute(_ name: String) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = .stringAttributeType
    return attribute
  }

  private func model() -> NSManagedObjectModel {
    let note = NSEntityDescription()
    note.name = "CDNote"
    note.managedObjectClassName = "CDNote"
    let tag = NSEntityDescription()
    tag.name = "CDTag"
    tag.managedObjectClassName = "CDTag"
    let tags = NSRelationshipDescription()
    tags.name = "tags"
    tags.destinationEntity = tag
    let owner = NSRelationshipDescription()
    owner.name = "note"
    owner.destinationEntity = note
    owner.maxCount = 1
    tags.inverseRelationship = owner
    owner.inverseRelationship = tags
    note.properties = [attribute("title"), tags]
    tag.properties = [attribute("name"), owner]
    let model = NSManagedObjectModel()
    model.entities = [note, tag]
    return model
  }

  private func container(_ url: URL) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: Error?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  func testMembersAreOfAClassThatNoCodeHasNamed() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try container(folder.appendingPathComponent("Notes.sqlite"))
    let context = container.viewContext
    let note = NSEntityDescription.insertNewObject(forEntityName: "CDNote", into: context)
    note.setValue("Milk", forKey: "title")
    let tag = NSEntityDescription.insertNewObject(forEntityName: "CDTag", into: context)
    tag.setValue("home", forKey: "name")
    tag.setValue(note, forKey: "note")
    try context.save()
    context.reset()

    let found = try context.fetch(NSFetchRequest<CDNote>(entityName: "CDNote"))
    XCTAssertEqual(found.map(\.title), ["Milk"])
    XCTAssertEqual(found[0].tags.map(\.name), ["home"])
    XCTAssertTrue(found[0].tags.first?.note === found[0])
  }

}
