import CoreDataEvolution
import Observation

@PersistentModel(observation: .mainActor)
final class Score: NSManagedObject {
  var points: Int = 0
  @Attribute(storageMethod: .raw) var mood: Mood = .calm
  @Attribute(storageMethod: .transformed(name: "NSSecureUnarchiveFromData")) var names: [String]?
}

@NSModelActor
actor Scorer {
  func score(_ id: NSManagedObjectID, points: Int) throws {
    self[id, as: Score.self]?.points = points
    try modelContext.save()
  }
}

/// A reader under tracking is woken by the save of a context that the domain knows, and by that of its property alone.
func observeScores(_ container: NSPersistentContainer) async throws {
  let domain = CDEObservationDomain(container: container)
  let score = Score(context: container.viewContext)
  score.names = ["Ann", "Ben"]
  try container.viewContext.save()

  var moodWoke = false
  withObservationTracking {
    _ = score.mood
  } onChange: {
    // Readers are woken where they read.
    MainActor.assumeIsolated { moodWoke = true }
  }
  await withCheckedContinuation { continuation in
    withObservationTracking {
      _ = score.points
    } onChange: {
      continuation.resume()
    }
    let (scorer, id) = (Scorer(observationDomain: domain), score.objectID)
    Task { try await scorer.score(id, points: 7) }
  }
  precondition(score.points == 7 && !moodWoke, "woken without the value, or too many were")
  score.mood = .busy
  try container.viewContext.save()
  precondition(moodWoke && score.names == ["Ann", "Ben"], "the save of the context's own woke no reader")
  withExtendedLifetime(domain) {}
}
