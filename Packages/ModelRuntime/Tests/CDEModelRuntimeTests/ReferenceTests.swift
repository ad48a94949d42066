import CDEManagedModel
import CDEModelRuntime
import Foundation
import Synchronization
import Testing

/// After any interleaving of two contexts no saved reference leads to a row that is gone.
@Suite("References between writers")
struct ReferenceTests {
  /// Authors with books, of every delete rule.
  private static func library(_ rule: NSDeleteRule, required: Bool = false) -> NSManagedObjectModel {
    let author = entity("Author", nil, [attribute("name", .stringAttributeType)])
    let book = entity("Book", nil, [attribute("title", .stringAttributeType)])
    connect(.many(author, "books", rule: rule), .one(book, "author", optional: !required))
    let label = entity("Label", nil, [attribute("name", .stringAttributeType)])
    connect(.many(author, "labels", rule: rule), .many(label, "authors"))
    point(.one(book, "favourite"), to: label)
    return model(author, book, label)
  }

  private struct Writers {
    let stack: Stack
    let x: NSManagedObjectContext
    let y: NSManagedObjectContext

    init(_ rule: NSDeleteRule, required: Bool = false, policy: NSMergePolicy = .error) throws {
      stack = try Stack(model: ReferenceTests.library(rule, required: required))
      x = stack.context()
      y = stack.context()
      x.mergePolicy = policy
      y.mergePolicy = policy
    }

    func twin(_ object: NSManagedObject) throws -> NSManagedObject {
      try y.existingObject(with: object.objectID)
    }

    /// How many objects a context finds that has read nothing before.
    func count(_ entity: String, _ format: String = "TRUEPREDICATE") throws -> Int {
      try stack.context().all(entity, NSPredicate(format: format)).count
    }
  }

  @Test(
    "A book that got an author about to be deleted loses it, merged or not", arguments: [false, true])
  func nullified(_ merged: Bool) throws {
    let writers = try Writers(.nullifyDeleteRule)
    let author = writers.x.make("Author")
    let book = writers.x.make("Book", ["title": "t"])
    try writers.x.save()
    let doomed = try writers.twin(author)
    let twin = merged ? try writers.twin(book) : nil
    _ = twin?.value(forKey: "title")
    let listener = Listener(writers.x) { note in
      if merged, note.name == .NSManagedObjectContextDidSave {
        writers.y.mergeChanges(fromContextDidSave: note)
      }
    }
    writers.y.delete(doomed)
    book.setValue(author, forKey: "author")
    try writers.x.save()
    try writers.y.save()
    withExtendedLifetime(listener) {}
    #expect(try writers.count("Author") == 0)
    #expect(try writers.count("Book", "author == nil") == 1)
    if let twin { #expect(twin.value(forKey: "author") == nil) }
  }

  @Test("A rule that takes no action leaves references, as it does in Core Data")
  func noAction() throws {
    let writers = try Writers(.noActionDeleteRule)
    let author = writers.x.make("Author")
    try writers.x.save()
    writers.y.delete(try writers.twin(author))
    writers.x.make("Book", ["author": author])
    try writers.x.save()
    try writers.y.save()
    #expect(try writers.count("Author") == 0)
    #expect(try writers.count("Book", "author != nil") == 1)
  }

  @Test("A book added to an author about to be deleted goes with it under cascade, its hooks called")
  func cascaded() throws {
    let author = entity("Author", nil)
    let book = entity("Book", HookedBook.self, [attribute("title", .stringAttributeType)])
    connect(.many(author, "books", rule: .cascadeDeleteRule), .one(book, "author"))
    let stack = try Stack(model: model(author, book))
    let (x, y) = (stack.context(), stack.context())
    let shared = x.make("Author")
    try x.save()
    let doomed = try y.existingObject(with: shared.objectID)
    y.delete(doomed)
    x.make("Book", ["title": "late", "author": shared])
    try x.save()
    HookedBook.deletions.withLock { $0 = [] }
    try y.save()
    #expect(HookedBook.deletions.withLock { $0 } == ["prepare late", "save late"])
    #expect(try stack.context().all("Book").isEmpty)
  }

  @Test("A book added to an author about to be deleted denies the deletion")
  func denied() throws {
    let writers = try Writers(.denyDeleteRule)
    let author = writers.x.make("Author")
    try writers.x.save()
    let doomed = try writers.twin(author)
    writers.y.delete(doomed)
    writers.x.make("Book", ["author": author])
    try writers.x.save()
    let error = #expect(throws: ManagedObjectError.self) { try writers.y.save() }
    #expect(error?.code == .relationshipDeniedDelete)
    #expect(writers.y.deletedObjects == [doomed])
    #expect(try writers.count("Book", "author != nil") == 1)
    writers.y.rollback()
    #expect(doomed.set("books").count == 1)
  }

  @Test("A required reference of another writer fails the deletion by name")
  func required() throws {
    let writers = try Writers(.nullifyDeleteRule, required: true)
    let author = writers.x.make("Author")
    try writers.x.save()
    let doomed = try writers.twin(author)
    writers.y.delete(doomed)
    writers.x.make("Book", ["author": author])
    try writers.x.save()
    let error = #expect(throws: ManagedObjectError.self) { try writers.y.save() }
    #expect(error?.code == .missingMandatoryProperty)
    #expect(error?.property == "author")
    #expect(try writers.count("Author") == 1)
  }

  @Test("A pair added to an object about to be deleted counts for the rules of many-to-many relationships")
  func pairs() throws {
    let cascading = try Writers(.cascadeDeleteRule)
    let author = cascading.x.make("Author")
    let kept = cascading.x.make("Label", ["name": "kept"])
    let late = cascading.x.make("Label", ["name": "late"])
    author.setValue(NSSet(array: [kept]), forKey: "labels")
    try cascading.x.save()
    let doomed = try cascading.twin(author)
    doomed.setValue(NSSet(), forKey: "labels")
    cascading.y.delete(doomed)
    author.mutableSetValue(forKey: "labels").add(late)
    try cascading.x.save()
    try cascading.y.save()
    #expect(try cascading.count("Label") == 1)
    #expect(try cascading.count("Label", "name == 'kept'") == 1)

    let denying = try Writers(.denyDeleteRule)
    let other = denying.x.make("Author")
    let label = denying.x.make("Label")
    try denying.x.save()
    denying.y.delete(try denying.twin(other))
    other.mutableSetValue(forKey: "labels").add(label)
    try denying.x.save()
    let error = #expect(throws: ManagedObjectError.self) { try denying.y.save() }
    #expect(error?.code == .relationshipDeniedDelete)
  }

  @Test("A reference without an inverse is cleared when its object goes")
  func oneWay() throws {
    let writers = try Writers(.nullifyDeleteRule)
    let label = writers.x.make("Label")
    writers.x.make("Book", ["favourite": label])
    try writers.x.save()
    writers.y.delete(try writers.twin(label))
    try writers.y.save()
    #expect(try writers.count("Book", "favourite == nil") == 1)
  }

  @Test("A batch deletion clears references without an inverse, and tells other contexts")
  func oneWayBatch() throws {
    let writers = try Writers(.nullifyDeleteRule)
    let label = writers.x.make("Label", ["name": "gone"])
    let kept = writers.x.make("Label", ["name": "kept"])
    let book = writers.x.make("Book", ["favourite": label])
    writers.x.make("Book", ["favourite": kept])
    try writers.x.save()
    let seen = try writers.twin(book)
    #expect(seen.value(forKey: "favourite") != nil)
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Label")
    request.predicate = NSPredicate(format: "name == %@", "gone")
    let delete = NSBatchDeleteRequest(fetchRequest: request)
    delete.resultType = .resultTypeObjectIDs
    let result = try #require(try writers.y.execute(delete) as? NSBatchDeleteResult)
    #expect((result.result as? [NSManagedObjectID])?.count == 1)
    #expect(try writers.count("Book", "favourite == nil") == 1)
    #expect(try writers.count("Book", "favourite != nil") == 1)
  }

  @Test("Giving an object that another writer deleted fails under the error policy and names the property")
  func missingUnderError() throws {
    let writers = try Writers(.nullifyDeleteRule)
    let author = writers.x.make("Author")
    try writers.x.save()
    let seen = try writers.twin(author)
    writers.x.delete(author)
    try writers.x.save()
    let book = writers.y.make("Book", ["title": "t", "author": seen])
    let error = #expect(throws: ManagedObjectError.self) { try writers.y.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.entity == "Book")
    #expect(error?.property == "author")
    #expect(
      error?.message.contains("Book.author refers to an object of Author that another writer deleted") == true
    )
    #expect(error?.conflicts == [book.objectID])
    #expect(book.isInserted)
    book.setValue(nil, forKey: "author")
    try writers.y.save()
    #expect(try writers.count("Book", "author == nil") == 1)
  }

  @Test(
    "Under a policy that settles, such a reference becomes nil, or fails where it is required",
    arguments: NSMergePolicy.settling)
  func missingUnderTrump(_ type: NSMergePolicyType) throws {
    for required in [false, true] {
      let writers = try Writers(.nullifyDeleteRule, required: required, policy: NSMergePolicy(merge: type))
      let author = writers.x.make("Author")
      let other = writers.x.make("Author")
      let old = writers.x.make("Book", ["author": other])
      try writers.x.save()
      let seen = try writers.twin(author)
      let book = try writers.twin(old)
      writers.x.delete(author)
      try writers.x.save()
      book.setValue(seen, forKey: "author")
      writers.y.make("Book", ["title": "new", "author": seen])
      if required {
        let error = #expect(throws: ManagedObjectError.self) { try writers.y.save() }
        #expect(error?.code == .multipleValidationErrors)
        #expect(error?.failures.map(\.property) == ["author", "author"])
      } else {
        try writers.y.save()
        #expect(try writers.count("Book", "author == nil") == 2)
        #expect(seen.isDeleted)
      }
    }
  }

  @Test("A pair with an object that another writer deleted is not saved")
  func missingPairs() throws {
    let writers = try Writers(.nullifyDeleteRule, policy: .mergeByPropertyObjectTrump)
    let author = writers.x.make("Author", ["name": "a"])
    let label = writers.x.make("Label")
    try writers.x.save()
    let (owner, gone) = (try writers.twin(author), try writers.twin(label))
    writers.x.delete(label)
    try writers.x.save()
    owner.mutableSetValue(forKey: "labels").add(gone)
    owner.setValue("b", forKey: "name")
    try writers.y.save()
    #expect(owner.set("labels").isEmpty)
    #expect(try writers.count("Author", "name == 'b' AND labels.@count == 0") == 1)
  }

  @Test("Twenty thousand new objects that refer to a deleted one are settled in one go")
  func many() throws {
    let writers = try Writers(.nullifyDeleteRule, policy: .mergeByPropertyObjectTrump)
    let author = writers.x.make("Author")
    try writers.x.save()
    let seen = try writers.twin(author)
    writers.x.delete(author)
    try writers.x.save()
    for _ in 0..<20_000 { writers.y.make("Book", ["author": seen]) }
    try writers.y.save()
    #expect(try writers.count("Book", "author == nil") == 20_000)
  }
}

/// Says when it is to be deleted.
final class HookedBook: NSManagedObject {
  static let deletions = Mutex<[String]>([])
  private var title: String { value(forKey: "title") as? String ?? "" }

  override func prepareForDeletion() { Self.deletions.withLock { $0.append("prepare \(title)") } }

  override func willSave() {
    if isDeleted { Self.deletions.withLock { $0.append("save \(title)") } }
  }
}
