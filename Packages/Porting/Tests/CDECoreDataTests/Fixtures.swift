import CDECoreData
@_spi(CDE) import CDESQLiteFaults

/// A model in code: a note has a required title, and tags.
func makeModel() -> NSManagedObjectModel {
  let title = NSAttributeDescription()
  title.name = "title"
  title.attributeType = .stringAttributeType
  title.isOptional = false
  let rank = NSAttributeDescription()
  rank.name = "rank"
  rank.attributeType = .integer64AttributeType
  rank.defaultValue = 0
  rank.setValidationPredicates(
    [NSPredicate(format: "SELF <= %d", 100)], withValidationWarnings: ["A rank is 100 at most."])
  let body = NSAttributeDescription()
  body.name = "body"
  body.attributeType = .binaryDataAttributeType
  body.allowsExternalBinaryDataStorage = true

  let name = NSAttributeDescription()
  name.name = "name"
  name.attributeType = .stringAttributeType

  let note = NSEntityDescription()
  note.name = "Note"
  let tag = NSEntityDescription()
  tag.name = "Tag"
  let tags = NSRelationshipDescription()
  tags.name = "tags"
  tags.destinationEntity = tag
  let notes = NSRelationshipDescription()
  notes.name = "notes"
  notes.destinationEntity = note
  tags.inverseRelationship = notes
  notes.inverseRelationship = tags
  note.properties = [title, rank, body, tags]
  tag.properties = [name, notes]

  let model = NSManagedObjectModel()
  model.entities = [note, tag]
  return model
}

/// A store in a folder of its own, with a context.
struct Stack {
  let container: NSPersistentContainer
  let url: URL

  init() throws {
    url = ProcessFolder.newURL().appendingPathComponent("Notes.sqlite")
    container = NSPersistentContainer(name: "Notes", managedObjectModel: makeModel())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    try load()
  }

  func load() throws {
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  @discardableResult
  func insertNote(_ title: String?, rank: Int = 0, in context: NSManagedObjectContext) -> NSManagedObject {
    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    note.setValue(title, forKey: "title")
    note.setValue(rank, forKey: "rank")
    return note
  }

  /// The names of the files beside the store, and of its folder.
  var files: [String] {
    let folder = url.deletingLastPathComponent().path
    return (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []
  }
}
