import CDEManagedModel
import CDEModelRuntime
import CDEObservation
import CDEObservationModels
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Observation
import Testing

@PersistentModel(generateInit: true, observation: .mainActor, entityName: "Teaser")
final class Trailer: Clip {
  @Attribute(persistentName: "film_name") var film: String = ""
  @Relationship(inverse: "trailers", deleteRule: .nullify) var cinema: Cinema?
}

@PersistentModel
final class Report: Paper {
  @Attribute(.unique) var number: Int = 0
}

/// Observed, though its parents are not.
@PersistentModel(observation: .mainActor)
final class Sheet: Paper {
  var scale: Double = 1
}

@PersistentModel
final class Cinema: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "cinema", deleteRule: .nullify) var trailers: [Trailer]
}

@Suite("Models that inherit from models of another module")
@MainActor
struct HierarchyTests {
  @MainActor
  private final class World {
    let container: NSPersistentContainer
    let trailer: Trailer
    let report: Report
    let sheet: Sheet
    let shelf: Shelf
    private nonisolated let directory: URL

    init() throws {
      container = NSPersistentContainer(
        name: "Media",
        managedObjectModel: try .makeRuntimeModel(
          Medium.self, Clip.self, Trailer.self, Asset.self, Paper.self, Report.self, Sheet.self,
          Shelf.self, CDEObservationModels.Tag.self, Cinema.self))
      directory = ProcessFolder.newURL()
      container.persistentStoreDescriptions = [
        NSPersistentStoreDescription(url: directory.appendingPathComponent("Media.sqlite"))
      ]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      let view = container.viewContext
      view.automaticallyMergesChangesFromParent = true
      trailer = Trailer(film: "Film")
      view.insert(trailer)
      trailer.title = "Trailer"
      trailer.seconds = 90
      let cinema = Cinema(context: view)
      cinema.name = "Odeon"
      trailer.cinema = cinema
      shelf = Shelf(context: view)
      shelf.room = "cellar"
      trailer.shelf = shelf
      report = Report(context: view)
      (report.name, report.pages, report.number) = ("Report", 12, 7)
      sheet = Sheet(context: view)
      (sheet.name, sheet.pages) = ("Sheet", 1)
      shelf.addToAssets([report, sheet])
      try view.save()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var view: NSManagedObjectContext { container.viewContext }
  }

  @Test("Three levels in two modules make one model, with the names that each level gives")
  func schema() throws {
    let world = try World()
    let entities = world.container.managedObjectModel.entitiesByName
    #expect(entities["Teaser"]?.superentity?.superentity?.name == "Medium")
    #expect(entities["Report"]?.superentity?.superentity?.name == "Document")
    #expect(entities["Medium"]?.isAbstract == true && entities["Document"]?.isAbstract == true)
    #expect(
      entities["Teaser"]?.attributesByName.keys.sorted() == ["draft", "film_name", "name", "secs", "year"])
  }

  @Test("Objects of all levels are saved and fetched, by paths to properties of any level")
  func savingAndFetching() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    try context.performAndWait {
      let media = try context.fetch(Medium.fetchRequest())
      #expect(media.map { "\(type(of: $0))" } == ["Trailer"])
      let trailers = Trailer.fetchRequest()
      trailers.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        Trailer.path.title.contains("trail"), Trailer.path.seconds.greaterThan(60),
        Trailer.path.film.equals("Film"), Trailer.path.cinema.name.equals("Odeon"),
        Trailer.path.shelf.room.equals("cellar"), Trailer.path.year.equals(nil),
      ])
      let trailer = try #require(try context.fetch(trailers).first)
      #expect(trailer.title == "Trailer" && trailer.seconds == 90 && trailer.film == "Film")
      #expect(Trailer.path.title.raw == "name" && Trailer.path.seconds.raw == "secs")
      let cinemas = Cinema.fetchRequest()
      cinemas.predicate = Cinema.path.trailers.any.title.equals("Trailer")
      #expect(try context.count(for: cinemas) == 1)
      let sorted = FetchDescriptor<Paper>(
        predicate: #Predicate { $0.name != "" }, sortBy: [SortDescriptor(\.name, order: .reverse)])
      #expect(try context.fetch(sorted).map(\.pages) == [1, 12])
      let reports = FetchDescriptor<Report>(
        predicate: #Predicate { $0.name == "Report" && $0.pages == 12 && $0.number == 7 })
      #expect(try context.fetchCount(reports) == 1)
      let shelf = try #require(try context.fetch(Shelf.fetchRequest()).first)
      #expect(shelf.assets.map(\.name) == ["Report", "Sheet"])
      #expect(shelf.media == [trailer])
    }
  }

  @Test("Snapshots have the properties of all levels")
  func snapshots() throws {
    let world = try World()
    let snapshot = try world.trailer.snapshot(handlesOf: Trailer.path.tags)
    #expect(snapshot.title == "Trailer" && snapshot.seconds == 90 && snapshot.film == "Film")
    #expect(snapshot.year == nil && snapshot.tags == [])
    #expect(snapshot.shelf == (try world.shelf.handle))
    let assets = try world.view.fetchSnapshots(FetchDescriptor<Asset>(sortBy: [SortDescriptor(\.name)]))
    #expect(assets.map(\.name) == ["Report", "Sheet"])
    #expect(assets.compactMap { $0.as(Report.self)?.number } == [7])
    #expect(assets.compactMap { $0.as(Paper.self)?.pages } == [12, 1])
  }

  @Test("Readers of a property of any level wake by its change, and no others")
  func observation() async throws {
    let world = try World()
    let domain = CDEObservationDomain(container: world.container)
    let readers = Readers()
    let (trailer, sheet, report, shelf) = (world.trailer, world.sheet, world.report, world.shelf)
    readers.add("title") { _ = trailer.title }
    readers.add("seconds") { _ = trailer.seconds }
    readers.add("film") { _ = trailer.film }
    readers.add("tags") { _ = trailer.tagsCount }
    readers.add("name") { _ = sheet.name }
    readers.add("scale") { _ = sheet.scale }
    readers.add("number") { _ = report.number }
    readers.add("media") { _ = shelf.mediaCount }
    #expect(readers.take() == [:])
    trailer.title = "a"
    try world.view.save()
    #expect(readers.take() == ["title": 1])
    trailer.seconds = 2
    try world.view.save()
    #expect(readers.take() == ["seconds": 1])
    trailer.film = "b"
    try world.view.save()
    #expect(readers.take() == ["film": 1])
    // A level that is not observed wakes no reader, and the levels below it do.
    sheet.scale = 2
    sheet.name = "c"
    report.number = 8
    try world.view.save()
    #expect(readers.take() == ["scale": 1])
    let writer = domain.newObservedBackgroundContext()
    let id = trailer.objectID
    try await writer.perform {
      let trailer = try #require(try writer.existingObject(with: id) as? Trailer)
      trailer.film = "d"
      trailer.addToTags(CDEObservationModels.Tag(context: writer))
      try writer.save()
    }
    await world.view.perform(schedule: .enqueued) {}
    #expect(readers.take() == ["film": 1, "tags": 1])
    #expect(trailer.film == "d" && trailer.tagsCount == 1)
    let other = Trailer(context: world.view)
    other.shelf = shelf
    try world.view.save()
    #expect(readers.take() == ["media": 1])
    // A context that is not registered wakes readers of everything, on all levels.
    let plain = world.container.newBackgroundContext()
    try await plain.perform {
      let trailer = try #require(try plain.existingObject(with: id) as? Trailer)
      trailer.title = "e"
      try plain.save()
    }
    await world.view.perform(schedule: .enqueued) {}
    #expect(readers.take() == ["title": 1, "seconds": 1, "film": 1, "tags": 1])
  }

  @Test("The map of fields has those of all observed levels, under their stored names")
  func fieldMap() {
    #expect(
      Trailer.__cdObservationFieldMap.fieldsByCoreDataKey.keys.sorted() == [
        "cinema", "film_name", "name", "secs", "shelf", "tags", "year",
      ])
    #expect(Sheet.__cdObservationFieldMap.fieldsByCoreDataKey.keys.sorted() == ["scale"])
    let all = Trailer.__cdObservationFieldMap.fieldSet(forCoreDataKeys: ["name", "tags", "film_name"])
    #expect(Trailer.__cdObservationSwiftPaths(for: all) == ["title", "tags", "tagsCount", "film"])
  }
}
