#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDEExecutors
  import CDEStore
  import Foundation
  import Testing

  @Suite struct CommitQueueTests {
    @Test func `Commits that end in another order are announced in that of their places`() throws {
      let queue = CommitQueue()
      let places = (0..<3).map { _ in queue.enter() }
      let announced = Lock<[UInt64]>([])
      // The later ones are ready first.
      let calls = [places[2], places[1]].map { place in
        SeveralWritersTests.Call { () throws(StoreError) in
          queue.wait(for: place)
          announced.withLock { $0.append(place) }
          queue.leave(place)
        }
      }
      #expect(announced.withLock { $0 } == [])
      queue.wait(for: places[0])
      announced.withLock { $0.append(places[0]) }
      queue.leave(places[0])
      for call in calls { try call.value.get() }
      #expect(announced.withLock { $0 } == places)
    }

    @Test func `A commit that did not wait for its turn overtakes the earlier ones that are not over`() {
      let queue = CommitQueue()
      let places = (0..<4).map { _ in queue.enter() }
      queue.leave(places[0])
      queue.overtake(places[2])
      queue.leave(places[2])
      #expect(places.map(queue.isOvertaken) == [true, true, false, false])
      queue.leave(places[1])
      queue.wait(for: places[3])
      // It is the first, so that there is nothing to overtake.
      queue.overtake(places[3])
      #expect(!queue.isOvertaken(places[2]))
      queue.leave(places[3])
    }

    @Test func `A commit that failed lets later ones go on, whether its turn has come or not`() throws {
      let queue = CommitQueue()
      let places = (0..<4).map { _ in queue.enter() }
      queue.leave(places[1])
      let call = SeveralWritersTests.Call { () throws(StoreError) in queue.wait(for: places[3]) }
      queue.leave(places[0])
      queue.wait(for: places[2])
      queue.leave(places[2])
      try call.value.get()
      queue.leave(places[3])
      let next = queue.enter()
      queue.wait(for: next)
      queue.leave(next)
    }
  }
#endif
