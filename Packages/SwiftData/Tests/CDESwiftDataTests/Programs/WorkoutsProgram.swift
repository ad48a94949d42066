import CDESwiftData
import Testing

enum Fitness {
  enum Muscle: String, Codable, CaseIterable { case legs, chest, back }

  @Model
  final class Exercise {
    @Attribute(.unique) var name: String
    var muscle: Muscle
    @Relationship(deleteRule: .cascade, inverse: \WorkoutSet.exercise) var sets: [WorkoutSet]?

    init(name: String, muscle: Muscle) {
      self.name = name
      self.muscle = muscle
    }
  }

  @Model
  final class Workout {
    var date: Date
    var duration: TimeInterval
    @Relationship(deleteRule: .cascade, inverse: \WorkoutSet.workout) var sets = [WorkoutSet]()

    init(date: Date, duration: TimeInterval = 0) {
      self.date = date
      self.duration = duration
    }

    @Transient var restTimer: Int = 60

    var volume: Double { sets.reduce(0) { $0 + $1.weight * Double($1.reps) } }
    var orderedSets: [WorkoutSet] { sets.sorted(using: SortDescriptor(\.order)) }
  }

  @Model
  final class WorkoutSet {
    var order: Int
    var reps: Int
    var weight: Double
    var exercise: Exercise?
    var workout: Workout?

    init(order: Int, reps: Int, weight: Double, exercise: Exercise) {
      self.order = order
      self.reps = reps
      self.weight = weight
      self.exercise = exercise
    }
  }
}

@Suite("Workouts with sets")
struct WorkoutsProgram {
  typealias Workout = Fitness.Workout
  typealias Exercise = Fitness.Exercise

  func makeContext() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Fitness.Workout.self, Fitness.Exercise.self, Fitness.WorkoutSet.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  @Test("The volume of a workout is of its sets, in their order")
  func volume() throws {
    let context = try makeContext()
    let squat = Exercise(name: "Squat", muscle: .legs)
    let press = Exercise(name: "Bench press", muscle: .chest)
    let workout = Workout(date: Date(timeIntervalSinceReferenceDate: 0))
    context.insert(workout)
    workout.sets.append(Fitness.WorkoutSet(order: 2, reps: 5, weight: 100, exercise: squat))
    workout.sets.append(Fitness.WorkoutSet(order: 1, reps: 10, weight: 60, exercise: press))
    try context.save()
    #expect(workout.volume == 1_100)
    #expect(workout.orderedSets.map { $0.exercise?.name } == ["Bench press", "Squat"])
    #expect(squat.sets?.count == 1)
    #expect(workout.restTimer == 60)
  }

  @Test("Workouts of a week, and exercises of a muscle")
  func dates() throws {
    let context = try makeContext()
    let day: TimeInterval = 86_400
    for number in 0..<14 {
      context.insert(Workout(date: Date(timeIntervalSinceReferenceDate: Double(number) * day)))
    }
    context.insert(Exercise(name: "Row", muscle: .back))
    context.insert(Exercise(name: "Squat", muscle: .legs))
    try context.save()
    let start = Date(timeIntervalSinceReferenceDate: 3 * day)
    let end = start.addingTimeInterval(7 * day)
    let week = #Predicate<Workout> { $0.date >= start && $0.date < end }
    #expect(try context.fetchCount(FetchDescriptor(predicate: week)) == 7)
    let range = start...end
    let closed = #Predicate<Workout> { range.contains($0.date) }
    #expect(try context.fetchCount(FetchDescriptor(predicate: closed)) == 8)
    let legs = Fitness.Muscle.legs
    let exercises = try context.fetch(FetchDescriptor<Exercise>(predicate: #Predicate { $0.muscle == legs }))
    #expect(exercises.map(\.name) == ["Squat"])
  }

  @Test("Deleting an exercise deletes its sets from their workouts")
  func cascade() throws {
    let context = try makeContext()
    let squat = Exercise(name: "Squat", muscle: .legs)
    let workout = Workout(date: .now)
    context.insert(workout)
    workout.sets = (0..<5).map { Fitness.WorkoutSet(order: $0, reps: 5, weight: 50, exercise: squat) }
    try context.save()
    context.delete(squat)
    try context.save()
    #expect(workout.sets.isEmpty)
    #expect(try context.fetchCount(FetchDescriptor<Fitness.WorkoutSet>()) == 0)
  }
}
