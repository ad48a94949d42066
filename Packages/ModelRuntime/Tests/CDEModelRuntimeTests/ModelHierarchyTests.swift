import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

private enum Grade: String { case low, high }

@Composition
private struct Extent: Equatable {
  var width: Double
  @CompositionField(persistentName: "h") var height: Double?
}

@PersistentModel(isAbstract: true)
private class Work: NSManagedObject {
  @Attribute(persistentName: "name") var title: String = ""
  var year: Int?
  @Attribute(persistentName: "grade_raw", storageMethod: .raw) var grade: Grade = .low
  @Attribute(storageMethod: .codable) var notes: [String]?
  @Attribute(persistentName: "size", storageMethod: .composition) var extent: Extent?
  @Relationship(inverse: "works", deleteRule: .nullify) var owner: Owner?
  @Relationship(inverse: "works", deleteRule: .nullify) var labels: Set<WorkLabel>
}

@PersistentModel(entityName: "Paper")
private class Text: Work {
  @Attribute(persistentName: "page_count") var pages: Int = 0
  @Relationship(inverse: "text", deleteRule: .cascade) var chapters: [Section]
}

@PersistentModel(generateInit: true)
private final class Novel: Text {
  @Attribute(.unique) var isbn: String = ""
  @Relationship(inverse: "favourite", deleteRule: .nullify) var fan: Owner?
}

@PersistentModel
private final class Song: Work { var seconds: Double = 0 }

@PersistentModel
private final class Owner: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "owner", deleteRule: .cascade) var works: Set<Work>
  @Relationship(inverse: "fan", deleteRule: .nullify) var favourite: Novel?
}

@PersistentModel
private final class WorkLabel: NSManagedObject {
  var word: String = ""
  @Relationship(inverse: "labels", deleteRule: .nullify) var works: Set<Work>
}

@PersistentModel
private final class Section: NSManagedObject {
  var heading: String = ""
  @Relationship(inverse: "chapters", deleteRule: .nullify) var text: Text?
}

/// In no model.
@PersistentModel
private final class LooseWork: Work { var version: Int = 0 }

@Suite("Models that inherit from models")
struct ModelHierarchyTests {
  private static let types: [any CDRuntimeSchemaProviding.Type] = [
    Novel.self, Work.self, Song.self, Text.self, Owner.self, WorkLabel.self, Section.self,
  ]

  private func stack() throws -> Stack { try Stack(model: .makeRuntimeModel(Self.types)) }

  private func fill(_ context: NSManagedObjectContext) throws -> Novel {
    let owner = Owner(context: context)
    owner.name = "Ada"
    let label = WorkLabel(context: context)
    label.word = "old"
    let novel = Novel(context: context)
    novel.title = "Émile"
    novel.year = 1762
    novel.grade = .high
    novel.notes = ["a", "b"]
    novel.extent = Extent(width: 2, height: 3)
    novel.owner = owner
    novel.addToLabels(label)
    novel.pages = 600
    novel.isbn = "1"
    novel.fan = owner
    let section = Section(context: context)
    section.heading = "I"
    novel.addToChapters(section)
    let text = Text(context: context)
    text.title = "Essay"
    text.pages = 7
    let song = Song(context: context)
    song.title = "Song"
    song.seconds = 90
    try context.save()
    return novel
  }

  @Test("The model has parents, sub-entities, abstract entities and inherited properties")
  func schema() throws {
    let model = try NSManagedObjectModel.makeRuntimeModel(Self.types)
    let entities = model.entitiesByName
    #expect(
      model.entities.map(\.name) == ["Novel", "Work", "Song", "Paper", "Owner", "WorkLabel", "Section"])
    #expect(entities["Work"]?.isAbstract == true)
    #expect(entities["Paper"]?.isAbstract == false)
    #expect(entities["Work"]?.subentities.compactMap(\.name).sorted() == ["Paper", "Song"])
    #expect(entities["Novel"]?.superentity?.name == "Paper")
    #expect(
      entities["Novel"]?.properties.map(\.name).sorted() == [
        "chapters", "fan", "grade_raw", "isbn", "labels", "name", "notes", "owner", "page_count", "size",
        "year",
      ])
    #expect(Novel.__cdRuntimeEntitySchema.parentEntityName == "Paper")
    #expect(Novel.__cdRuntimeEntitySchema.attributes.map(\.swiftName) == ["isbn"])
  }

  @Test("A parent that is left out of the list is an error that names it")
  func missingParent() {
    #expect(throws: CDRuntimeModelBuilderError.unknownParent(entityName: "Song", parentEntityName: "Work")) {
      try NSManagedObjectModel.makeRuntimeModel(Song.self)
    }
    let error = CDRuntimeModelBuilderError.unknownParent(entityName: "Song", parentEntityName: "Work")
    #expect(
      error.errorDescription == "Song inherits from Work, which is not in the list of model types. Add it.")
  }

  @Test("Inherited properties are saved, fetched by parent and child, and read from both")
  func savingAndFetching() throws {
    let stack = try stack()
    _ = try fill(stack.context())
    let context = stack.context()
    let works = try context.fetch(Work.fetchRequest())
    #expect(Set(works.map { "\(type(of: $0))" }) == ["Novel", "Text", "Song"])
    #expect(try context.fetch(Text.fetchRequest()).count == 2)
    let novel = try #require(try context.fetch(Novel.fetchRequest()).first)
    #expect(novel.title == "Émile" && novel.year == 1762 && novel.grade == .high)
    #expect(novel.notes == ["a", "b"] && novel.extent == Extent(width: 2, height: 3))
    #expect(novel.pages == 600 && novel.isbn == "1" && novel.chaptersCount == 1)
    #expect(novel.owner?.name == "Ada" && novel.owner?.favourite === novel)
    #expect(novel.owner?.works == [novel] && novel.labels.first?.works == [novel])
    #expect(novel.chapters.first?.text === novel)
    let song = try #require(works.first { $0 is Song } as? Song)
    #expect(song.title == "Song" && song.seconds == 90 && song.grade == .low)
  }

  @Test("Typed paths of a child lead to inherited and own properties, and through relationships to them")
  func paths() throws {
    let stack = try stack()
    _ = try fill(stack.context())
    let context = stack.context()
    let title: CDPath<Novel, String> = Novel.path.title
    #expect(title.raw == "name" && title.swiftPath == ["title"])
    #expect(Novel.path.extent.height.raw == "size.h")
    #expect(Novel.path.owner.name.raw == "owner.name")
    #expect(Owner.path.favourite.title.raw == "favourite.name")
    #expect(Owner.path.favourite.fan.name.raw == "favourite.fan.name")
    #expect(Section.path.text.owner.name.raw == "text.owner.name")
    #expect(Work.path.title.raw == "name")
    func count<Model: NSManagedObject>(_ request: NSFetchRequest<Model>, _ filter: NSPredicate) throws -> Int
    {
      request.predicate = filter
      return try context.count(for: request)
    }
    #expect(try count(Novel.fetchRequest(), Novel.path.title.contains("mil")) == 1)
    #expect(try count(Text.fetchRequest(), Text.path.pages.greaterThan(5)) == 2)
    #expect(try count(Text.fetchRequest(), Text.path.grade.equals(.high)) == 1)
    #expect(try count(Work.fetchRequest(), Work.path.labels.any.word.equals("old")) == 1)
    #expect(try count(Owner.fetchRequest(), Owner.path.works.any.title.equals("Émile")) == 1)
    #expect(try count(Owner.fetchRequest(), Owner.path.favourite.pages.equals(600)) == 1)
    #expect(try count(WorkLabel.fetchRequest(), WorkLabel.path.works.any.grade.equals(.high)) == 1)
    let request = Text.fetchRequest()
    request.sortDescriptors = [try NSSortDescriptor(Text.self, path: Text.path.title, order: .desc)]
    #expect(try context.fetch(request).map(\.title) == ["Émile", "Essay"])
    request.sortDescriptors = [NSSortDescriptor(Text.self, key: Text.Keys.pages, ascending: true)]
    #expect(try context.fetch(request).map(\.pages) == [7, 600])
    request.sortDescriptors = [NSSortDescriptor(Text.self, key: Work.Keys.title, ascending: true)]
    #expect(try context.fetch(request).map(\.title) == ["Essay", "Émile"])
  }

  @Test("#Predicate and SortDescriptor take inherited properties of a child")
  func predicates() throws {
    let stack = try stack()
    _ = try fill(stack.context())
    let context = stack.context()
    let novels = FetchDescriptor<Novel>(
      predicate: #Predicate { $0.title == "Émile" && $0.pages > 5 && $0.isbn == "1" },
      sortBy: [SortDescriptor(\.title), SortDescriptor(\.isbn)])
    #expect(try context.fetch(novels).map(\.isbn) == ["1"])
    let texts = FetchDescriptor<Text>(sortBy: [SortDescriptor(\.title, order: .reverse)])
    #expect(try context.fetch(texts).map(\.pages) == [600, 7])
    let works = FetchDescriptor<Work>(predicate: #Predicate { $0.year == nil })
    #expect(try context.fetchCount(works) == 2)
    let owners = FetchDescriptor<Owner>(predicate: #Predicate { $0.favourite?.title == "Émile" })
    #expect(try context.fetchCount(owners) == 1)
    let extents = FetchDescriptor<Novel>(sortBy: [SortDescriptor(\.chaptersCount)])
    #expect(Novel.predicateKey(for: \Novel.chaptersCount) == "chapters.@count")
    #expect(Novel.predicateKey(for: \Novel.extent?.height) == "size.h")
    _ = extents
  }

  @Test("#Predicate takes casts to the classes of the model, over stored and unsaved objects")
  func casts() throws {
    let stack = try stack()
    _ = try fill(stack.context())
    let context = stack.context()
    let novel = Novel(context: context)
    novel.title = "Unsaved"
    novel.isbn = "2"
    func titles(_ predicate: Predicate<Work>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate)).map(\.title).sorted()
    }
    #expect(try titles(#Predicate { $0 is Text }) == ["Essay", "Unsaved", "Émile"])
    #expect(try titles(#Predicate { $0 is Novel }) == ["Unsaved", "Émile"])
    #expect(try titles(#Predicate { !($0 is Text) }) == ["Song"])
    #expect(try titles(#Predicate { ($0 as? Text)?.pages == 7 }) == ["Essay"])
    #expect(
      try titles(#Predicate { if let novel = $0 as? Novel { novel.isbn > "1" } else { false } }) == [
        "Unsaved"
      ])
    #expect(try titles(#Predicate { ($0 as? Song) == nil }) == ["Essay", "Unsaved", "Émile"])
    let readers = FetchDescriptor<Owner>(predicate: #Predicate { $0.works.contains { $0 is Novel } })
    #expect(try context.fetchCount(readers) == 1)
    let listeners = FetchDescriptor<Owner>(predicate: #Predicate { $0.works.contains { $0 is Song } })
    #expect(try context.fetchCount(listeners) == 0)
  }

  @Test("A cast to a class that the model lacks, and one without a fetch, are errors with the remedy")
  func impossibleCasts() throws {
    let casts: Predicate<Work> = #Predicate { $0 is LooseWork }
    let error = #expect(throws: ManagedObjectError.self) {
      try stack().context().fetch(FetchDescriptor(predicate: casts))
    }
    #expect(error?.message.contains("LooseWork is no class of the model") == true)
    let other = #expect(throws: PredicateTreeError.self) { try PredicateTree(casts) }
    #expect(other?.description.contains("entity.name == %@") == true)
  }

  @Test("Snapshots of children and parents read inherited and own properties")
  func snapshots() throws {
    let stack = try stack()
    let context = stack.context()
    let novel = try fill(context)
    let snapshot = try novel.snapshot(handlesOf: Novel.path.labels, Novel.path.chapters)
    #expect(snapshot.title == "Émile" && snapshot.year == 1762 && snapshot.grade == .high)
    #expect(snapshot.notes == ["a", "b"] && snapshot.extent == Extent(width: 2, height: 3))
    #expect(snapshot.pages == 600 && snapshot.isbn == "1")
    #expect(snapshot.owner == (try novel.owner?.handle) && snapshot.fan == snapshot.owner)
    #expect(snapshot.labels?.count == 1 && snapshot.chapters?.count == 1)
    let works = try context.fetchSnapshots(FetchDescriptor<Work>(sortBy: [SortDescriptor(\.title)]))
    #expect(works.map(\.title) == ["Émile", "Essay", "Song"].sorted())
    let novels = works.compactMap { $0.as(Novel.self) }
    #expect(novels.map(\.isbn) == ["1"])
    #expect(works.compactMap { $0.as(Text.self) }.count == 2)
    novel.title = "Julie"
    novel.pages = 1
    let changes = try novel.snapshot().changes(since: snapshot)
    #expect(changes.names == ["title", "pages"])
    #expect(changes.contains(\.title) && changes.contains(\.pages) && !changes.contains(\.isbn))
    let encoded = try JSONEncoder().encode(snapshot)
    let json = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
    #expect(json["title"] as? String == "Émile" && json["isbn"] as? String == "1")
    #expect((json["extent"] as? [String: Any])?["height"] as? Double == 3)
  }

  @Test("Objects without a context, handles and unique values work for children")
  func identity() throws {
    let stack = try stack()
    let context = stack.context()
    let novel = Novel(isbn: "9")
    novel.title = "Before"
    context.insert(novel)
    try context.save()
    let handle: Novel.Handle = try novel.handle
    #expect(try stack.context().object(for: handle).title == "Before")
    let other = Novel(context: context)
    other.isbn = "9"
    #expect(throws: (any Error).self) { try context.save() }
  }

  @Test("A key path that names no persisted property ends the program with a sentence")
  func foreignKeyPath() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try ModelHierarchyTests().stack().context()
      _ = try ModelHierarchyTests().fill(context).snapshot().hasChanges
    }
    #expect(
      result?.text.contains("A key path of Novel to Bool is none of its persisted properties.") == true)
  }

  @Test("An abstract model has no objects")
  func abstract() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Work(context: try ModelHierarchyTests().stack().context())
    }
    #expect(result?.text.contains("Work is abstract. Insert an object of one of its sub-entities.") == true)
  }
}
