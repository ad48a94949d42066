@_spi(CDE) import CDEExecutors
import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import Foundation
import Testing

@Suite("Notifications whose names were not used")
struct PostedNameTests {
  private let name = PostedName("Test-\(UUID())")
  private var literal: Notification.Name { Notification.Name(name.literal) }

  /// Observes until the end of a test.
  private final class Observation {
    let token: any NSObjectProtocol
    init(
      _ name: Notification.Name?, _ object: AnyObject?, _ block: @escaping @Sendable (Notification) -> Void
    ) {
      token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil, using: block)
    }
    deinit { NotificationCenter.default.removeObserver(token) }
  }

  private final class Poster: Sendable {}

  @Test("Observers of a literal name, and of all names, get them before and after the first use of the name")
  func observers() {
    let poster = Poster()
    let seen = Lock<[String]>([])
    let named = Observation(literal, nil) { note in
      seen.withLock { $0.append("named \(note.userInfo?["n"] as? Int ?? 0)") }
    }
    let all = Observation(nil, poster) { note in
      seen.withLock { $0.append("all \(note.userInfo?["n"] as? Int ?? 0)") }
    }
    withExtendedLifetime((named, all)) {
      #expect(!name.isUsed)
      name.post(poster, ["n": 1])
      #expect(name.used() == literal)
      #expect(name.isUsed)
      name.post(poster, ["n": 2])
    }
    #expect(seen.withLock { $0.sorted() } == ["all 1", "all 2", "named 1", "named 2"])
  }

  @Test("An observer may post, and may wait for another thread that posts")
  func nested() {
    let poster = Poster()
    let seen = Lock<[Int]>([])
    let observation = Observation(literal, poster) { [name] note in
      let number = note.userInfo?["n"] as? Int ?? 0
      seen.withLock { $0.append(number) }
      if number > 1 { return }
      name.post(poster, ["n": 2])
      let posted = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        name.post(poster, ["n": 3])
        posted.signal()
      }
      posted.wait()
    }
    withExtendedLifetime(observation) { name.post(poster, ["n": 1]) }
    #expect(seen.withLock { $0 } == [1, 2, 3])
  }

  @Test("Of many threads that post at once, each post arrives once")
  func threads() {
    let poster = Poster()
    let seen = Lock<[Int]>([])
    let observation = Observation(literal, nil) { note in
      seen.withLock { $0.append(note.userInfo?["n"] as? Int ?? 0) }
    }
    withExtendedLifetime(observation) {
      DispatchQueue.concurrentPerform(iterations: 8) { [name] thread in
        for number in 0..<200 { name.post(poster, ["n": thread * 200 + number]) }
      }
    }
    #expect(seen.withLock { $0.sorted() } == Array(0..<1600))
  }
}
