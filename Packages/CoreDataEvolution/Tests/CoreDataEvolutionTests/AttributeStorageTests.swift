import CoreDataEvolution
import Testing

enum Phase: String { case planned, running, done }

struct Options: Codable, Equatable {
  var flags: [String] = []
}

@Composition
public struct Spot: Equatable {
  public var row: Int
  @CompositionField(persistentName: "col") var column: Int?
}

enum Planning {
  /// A nested model of which other modules could see everything but its secrets.
  @PersistentModel(generateInit: true, observation: .mainActor)
  public final class Job: NSManagedObject {
    @Attribute(.unique, .length(1...8)) public var code: String = "none"
    @Attribute(persistentName: "phase_raw", storageMethod: .raw) var phase: Phase = .planned
    @Attribute(storageMethod: .codable) var options: Options?
    @Attribute(storageMethod: .transformed(NSSecureUnarchiveFromDataTransformer.self)) var notes: [String]?
    @Attribute(persistentName: "place", storageMethod: .composition) public var spot: Spot?
    @Attribute(storageMethod: .composition) private var secret: Spot?
    @Attribute(.transient) var draft: String?
    @Ignore var cache: Int = 0
    @Relationship(inverse: "jobs", deleteRule: .nullify) var crew: Crew?

    func hide(_ spot: Spot?) { secret = spot }
    var hidden: Spot? { secret }
  }

  @PersistentModel
  final class Crew: NSManagedObject {
    var name: String = ""
    @Relationship(inverse: "crew", deleteRule: .cascade) var jobs: [Job]
  }
}

@PersistentModel
final class Surveyed: NSManagedObject {
  var name: String = ""
  @Attribute(storageMethod: .composition) var spot: Spot?
}

@Suite("Storage of attributes through one import")
struct AttributeStorageTests {
  @Test("A nested, public, observed model keeps every kind of value")
  func everything() async throws {
    let container = try NSPersistentContainer.makeRuntimeTest(
      modelTypes: Planning.Job.self, Planning.Crew.self)
    let context = container.newBackgroundContext()
    try await context.perform {
      let crew = Planning.Crew(context: context)
      for (index, phase) in [Phase.running, .done, .running].enumerated() {
        let job = Planning.Job(
          code: "j\(index)", phase: phase, options: Options(flags: ["f"]), notes: ["n\(index)"],
          spot: Spot(row: index, column: nil), secret: nil, draft: "gone", cache: 1)
        context.insert(job)
        job.hide(Spot(row: -1, column: index))
        crew.addToJobs(job)
      }
      try context.save()
      context.reset()
      let request = Planning.Job.fetchRequest()
      request.predicate = NSPredicate(format: "phase_raw == %@ AND crew != nil", "running")
      request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: false)]
      let jobs = try context.fetch(request)
      #expect(jobs.map(\.code) == ["j2", "j0"])
      let job = try #require(jobs.first)
      #expect(job.phase == .running && job.options == Options(flags: ["f"]) && job.notes == ["n2"])
      #expect(job.spot == Spot(row: 2, column: nil) && job.hidden == Spot(row: -1, column: 2))
      #expect(job.draft == nil && job.cache == 0)
      #expect(job.crew?.jobs.map(\.code) == ["j0", "j1", "j2"])
      job.code = "much too long"
      let error = #expect(throws: ManagedObjectError.self) { try context.save() }
      #expect(error?.code == .stringTooLong && error?.property == "code")
    }
  }

  @Test("Fields of a composition are compared and sorted by key path, in the store and in memory")
  func compositionFields() async throws {
    let container = try NSPersistentContainer.makeTest(
      model: .makeRuntimeModel(Surveyed.self, compositions: .columns))
    let context = container.newBackgroundContext()
    try await context.perform {
      for (name, spot) in [
        ("c", Spot(row: 3, column: 1)), ("a", Spot(row: 1, column: nil)), ("b", Spot(row: 2, column: 7)),
        ("none", nil),
      ] {
        let stake = Surveyed(context: context)
        stake.name = name
        stake.spot = spot
      }
      let predicates: [(Predicate<Surveyed>, [String])] = [
        (#Predicate { ($0.spot?.row ?? 0) >= 2 }, ["b", "c"]),
        (#Predicate { $0.spot?.column == 1 }, ["c"]),
        (#Predicate { $0.spot?.row == 1 || $0.name == "b" }, ["a", "b"]),
        (#Predicate { $0.spot?.column == nil && $0.spot?.row != nil }, ["a"]),
      ]
      for isSaved in [false, true] {
        if isSaved {
          try context.save()
          context.reset()
        }
        for (predicate, names) in predicates {
          let found = try context.fetch(
            FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.spot?.row)]))
          #expect(found.map(\.name) == names, "\(predicate)")
        }
        let sorted = try context.fetch(
          FetchDescriptor<Surveyed>(sortBy: [SortDescriptor(\.spot?.row, order: .reverse)]))
        #expect(sorted.map(\.name) == ["c", "b", "a", "none"])
      }
    }
  }

  @Test("Observed storage is identified by persistent name; transient attributes are no observed field")
  func observation() {
    func paths(_ keys: String...) -> [String] {
      Planning.Job.__cdObservationSwiftPaths(
        for: Planning.Job.__cdObservationFieldMap.fieldSet(forCoreDataKeys: keys))
    }
    #expect(paths("place") == ["spot"] && paths("phase_raw") == ["phase"] && paths("options") == ["options"])
    #expect(paths("draft").isEmpty && paths("spot").isEmpty)
  }
}
