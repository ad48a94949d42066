import CDESwiftData
import Foundation
import Observation
import Synchronization
import Testing

// A training log: enumerations, units, dates, totals.

@Model
final class Workout {
  var id: UUID = UUID()
  var start: Date
  var kind: Kind
  var feeling: Feeling?
  var notes: [String] = []
  var place: Place?
  @Relationship(deleteRule: .cascade, inverse: \ExerciseSet.workout) private(set) var sets: [ExerciseSet] = []

  enum Kind: String, Codable, CaseIterable { case strength, run, yoga }
  enum Feeling: Codable, Equatable {
    case good
    case tired
    case injured(part: String, days: Int)
  }
  struct Place: Codable, Equatable {
    var name: String
    var coordinate: Coordinate
    struct Coordinate: Codable, Equatable {
      var latitude: Double
      var longitude: Double
    }
  }

  init(_ kind: Kind, start: Date) {
    self.kind = kind
    self.start = start
  }

  func add(_ exercise: String, reps: Int, weight: Decimal) {
    sets.append(ExerciseSet(exercise: exercise, reps: reps, weight: weight, order: sets.count))
  }

  var volume: Decimal { sets.reduce(0) { $0 + $1.weight * Decimal($1.reps) } }
}

@Model
final class ExerciseSet {
  var exercise: String
  var reps: Int
  var weight: Decimal
  var order: Int
  var workout: Workout?

  init(exercise: String, reps: Int, weight: Decimal, order: Int) {
    (self.exercise, self.reps) = (exercise, reps)
    self.weight = weight
    self.order = order
  }
}

/// What a view has of the store.
@MainActor @Observable
final class WorkoutBoard {
  private let context: ModelContext
  private(set) var workouts: [Workout] = []

  init(_ context: ModelContext) { self.context = context }

  func load(since start: Date) throws {
    workouts = try context.fetch(
      FetchDescriptor(
        predicate: #Predicate { $0.start >= start }, sortBy: [SortDescriptor(\.start, order: .reverse)]))
  }
}

@ModelActor
actor WorkoutImporter {
  struct Entry: Sendable {
    var kind: Workout.Kind
    var day: Int
    var sets: [(String, Int, Int)]
  }

  private(set) var imported = 0

  func run(_ entries: [Entry], batch: Int = 2) throws -> [PersistentIdentifier] {
    var ids: [PersistentIdentifier] = []
    for start in stride(from: 0, to: entries.count, by: batch) {
      let made = entries[start..<min(start + batch, entries.count)].map { entry in
        let workout = Workout(entry.kind, start: Date(timeIntervalSince1970: Double(entry.day) * 86400))
        modelContext.insert(workout)
        for set in entry.sets { workout.add(set.0, reps: set.1, weight: Decimal(set.2)) }
        return workout
      }
      try modelContext.save()
      ids += made.map(\.persistentModelID)
      imported += made.count
    }
    return ids
  }

  func volume(of id: PersistentIdentifier) -> Decimal? { self[id, as: Workout.self]?.volume }

  func rename(_ id: PersistentIdentifier, note: String) throws {
    self[id, as: Workout.self]?.notes.append(note)
    try modelContext.save()
  }
}

@Suite("Programs: workouts")
struct WorkoutPrograms {
  private let entries = [
    WorkoutImporter.Entry(kind: .strength, day: 1, sets: [("squat", 5, 100), ("press", 8, 40)]),
    WorkoutImporter.Entry(kind: .run, day: 2, sets: []),
    WorkoutImporter.Entry(kind: .yoga, day: 3, sets: []),
  ]

  @Test("Enumerations, structs and arrays are stored and read in another container")
  func values() throws {
    let url = try TemporaryStore().url
    do {
      let context = ModelContext(
        try ModelContainer(for: Workout.self, configurations: ModelConfiguration(url: url)))
      let workout = Workout(.strength, start: Date(timeIntervalSince1970: 0))
      workout.feeling = .injured(part: "knee", days: 3)
      workout.place = .init(name: "Gym", coordinate: .init(latitude: 47.5, longitude: 9.25))
      workout.notes = ["warm", "late"]
      workout.add("squat", reps: 5, weight: 102.5)
      context.insert(workout)
      try context.save()
    }
    let context = ModelContext(
      try ModelContainer(for: Workout.self, configurations: ModelConfiguration(url: url)))
    let workout = try #require(try context.fetch(FetchDescriptor<Workout>()).first)
    #expect(workout.kind == .strength && workout.feeling == .injured(part: "knee", days: 3))
    #expect(
      workout.place?.coordinate == .init(latitude: 47.5, longitude: 9.25)
        && workout.notes == ["warm", "late"])
    #expect(workout.volume == 512.5 && workout.sets.first?.workout === workout)
    workout.feeling = .good
    workout.place?.name = "Park"
    workout.notes.removeFirst()
    try context.save()
    let again = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Workout>()).first)
    #expect(again.feeling == .good && again.place?.name == "Park" && again.notes == ["late"])
    #expect(again.place?.coordinate.latitude == 47.5)
  }

  @Test("An enumeration is compared by its raw value")
  func predicates() throws {
    let context = ModelContext(try .inMemory(Workout.self))
    for (index, kind) in Workout.Kind.allCases.enumerated() {
      context.insert(Workout(kind, start: Date(timeIntervalSince1970: Double(index))))
    }
    try context.save()
    let run = Workout.Kind.run
    #expect(
      try context.fetch(FetchDescriptor<Workout>(predicate: #Predicate { $0.kind == run })).map(\.kind) == [
        .run
      ])
    #expect(
      try context.fetch(
        FetchDescriptor<Workout>(
          predicate: #Predicate { $0.kind != run }, sortBy: [SortDescriptor(\.start, order: .reverse)])
      ).map(\.kind) == [.yoga, .strength])
  }

  @Test("An importer works in batches on its own actor, and the main context shows the result")
  @MainActor
  func importing() async throws {
    let container = try ModelContainer.inMemory(Workout.self)
    let importer = WorkoutImporter(modelContainer: container)
    let ids = try await importer.run(entries)
    #expect(await importer.imported == 3)
    #expect(await importer.volume(of: ids[0]) == 820)
    let board = WorkoutBoard(container.mainContext)
    try board.load(since: Date(timeIntervalSince1970: 2 * 86400))
    #expect(board.workouts.map(\.kind) == [.yoga, .run])
  }

  @Test("A view that shows a workout wakes when the importer changes it")
  @MainActor
  func waking() async throws {
    let container = try ModelContainer.inMemory(Workout.self)
    let importer = WorkoutImporter(modelContainer: container)
    let id = try await importer.run(entries)[0]
    let board = WorkoutBoard(container.mainContext)
    try board.load(since: .distantPast)
    let shown = try #require(board.workouts.first { $0.persistentModelID == id })
    let (wakes, continuation) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      _ = shown.notes
    } onChange: {
      continuation.yield()
    }
    try await importer.rename(id, note: "hard")
    var iterator = wakes.makeAsyncIterator()
    await iterator.next()
    #expect(shown.notes == ["hard"])
  }

  @Test("An own id stays the model's, and is found by a predicate")
  func ownID() throws {
    let context = ModelContext(try .inMemory(Workout.self))
    let (one, two) = (Workout(.run, start: .now), Workout(.run, start: .now))
    #expect(one.id != two.id)
    context.insert(one)
    context.insert(two)
    try context.save()
    let id = two.id
    let found = try context.fetch(FetchDescriptor<Workout>(predicate: #Predicate { $0.id == id }))
    #expect(found.count == 1 && found.first === two)
  }
}
