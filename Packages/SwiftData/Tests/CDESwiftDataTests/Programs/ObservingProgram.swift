import CDESwiftData
import Observation
import Synchronization
import Testing

@Model
final class Player {
  var name: String
  var score: Int = 0
  var team: Team?
  init(name: String) { self.name = name }
}

@Model
final class Team {
  var name: String
  @Relationship(inverse: \Player.team) var players: [Player] = []
  init(name: String) { self.name = name }
}

@ModelActor
actor Referee {
  func award(_ points: Int, to id: PersistentIdentifier) throws {
    guard let player = self[id, as: Player.self] else { return }
    player.score += points
    try modelContext.save()
  }

  func rename(_ id: PersistentIdentifier, to name: String) throws {
    self[id, as: Player.self]?.name = name
    try modelContext.save()
  }
}

@MainActor
@Suite("Views that observe a game")
struct ObservingProgram {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Player.self, Team.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  /// Waits until a change of what the closure reads.
  func change(of read: () -> Void, after body: () async throws -> Void) async rethrows -> Bool {
    let woken = Mutex(false)
    let stream = AsyncStream<Void>.makeStream()
    withObservationTracking(read) {
      woken.withLock { $0 = true }
      stream.continuation.yield()
    }
    try await body()
    for await _ in stream.stream { break }
    return woken.withLock { $0 }
  }

  @Test("A detached model is observed as any observable class is")
  func detached() {
    let player = Player(name: "Ada")
    let woken = Mutex(0)
    withObservationTracking {
      _ = player.score
    } onChange: {
      woken.withLock { $0 += 1 }
    }
    player.name = "Alan"
    #expect(woken.withLock { $0 } == 0)
    player.score = 1
    #expect(woken.withLock { $0 } == 1)
  }

  @Test("A reader wakes for a save of an actor")
  func actor() async throws {
    let context = container.mainContext
    let player = Player(name: "Ada")
    context.insert(player)
    try context.save()
    let referee = Referee(modelContainer: container)
    let id = player.persistentModelID
    #expect(try await change(of: { _ = player.score }, after: { try await referee.award(3, to: id) }))
    #expect(player.score == 3)
  }

  @Test("A reader of a relationship wakes when the other side changes")
  func relationships() async throws {
    let context = container.mainContext
    let (player, team) = (Player(name: "Ada"), Team(name: "Red"))
    context.insert(player)
    context.insert(team)
    #expect(await change(of: { _ = team.players.count }, after: { player.team = team }))
    #expect(team.players.map(\.name) == ["Ada"])
    #expect(await change(of: { _ = player.team }, after: { team.players.removeAll() }))
    #expect(player.team == nil)
  }
}
