import CoreData

@objc(Note)
public final class Note: NSManagedObject {
  @NSManaged public var text: String

  static var model: NSManagedObjectModel {
    let text = NSAttributeDescription()
    text.name = #keyPath(Note.text)
    text.attributeType = .stringAttributeType
    text.defaultValue = ""
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = NSStringFromClass(Note.self)
    note.properties = [text]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }
}

/// Saves notes and returns the texts that begin with a prefix.
public func saved(_ texts: [String], beginningWith prefix: String) throws -> [String] {
  let container = NSPersistentContainer(name: "Notes", managedObjectModel: Note.model)
  let description = NSPersistentStoreDescription()
  description.type = NSInMemoryStoreType
  container.persistentStoreDescriptions = [description]
  container.loadPersistentStores { _, error in
    if let error { fatalError("The store does not open: \(error)") }
  }
  let context = container.newBackgroundContext()
  return try context.performAndWait {
    for text in texts { Note(context: context).text = text }
    try context.save()
    let request = NSFetchRequest<Note>(entityName: "Note")
    request.predicate = NSPredicate(format: "%K BEGINSWITH %@", #keyPath(Note.text), prefix)
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Note.text), ascending: true)]
    return try context.fetch(request).map(\.text)
  }
}
