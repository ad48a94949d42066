@_spi(CDE) import CDEExecutors
import Testing

@Suite("Held lanes")
struct LaneHoldTests {
  @Test("Held blocks run one by one when released, in the order of asking", arguments: [true, false])
  func oneByOne(onMain: Bool) async {
    await watched("held blocks") {
      let lane = onMain ? ContextLane.main() : ContextLane()
      let log = Log()
      #expect(lane.hold())
      for number in 0..<3 { lane.enqueue { log.add(number) } }
      await lane.run(.enqueued) {}
      #expect(log.all == [] && lane.heldBlocks == 3)
      for number in 0..<3 {
        #expect(lane.releaseNext())
        await lane.run(.enqueued) {}
        #expect(log.all == Array(0...number))
      }
      #expect(!lane.releaseNext())
      #expect(lane.heldBlocks == 0)
      lane.release()
    }
  }

  @Test("Runs, waits and actor calls overtake held blocks", arguments: [true, false])
  func overtaking(onMain: Bool) async {
    await watched("overtaking") {
      let lane = onMain ? ContextLane.main() : ContextLane()
      let log = Log()
      #expect(lane.hold())
      lane.enqueue { log.add(4) }
      await lane.run { log.add(1) }
      await onPlainThread { lane.runAndWait { log.add(2) } }
      #expect(await Tenant(lane).bump() == 1)
      log.add(3)
      lane.release()
      await lane.run(.enqueued) {}
      #expect(log.all == [1, 2, 3, 4])
    }
  }

  @Test("The end of holding lets all go in order, before what is enqueued later")
  func release() async {
    await watched("release") {
      let lane = ContextLane()
      let log = Log()
      // Standing in line when the holding begins: it runs by itself.
      lane.enqueue { log.add(0) }
      #expect(lane.hold())
      for number in 1...100 { lane.enqueue { log.add(number) } }
      await lane.run(.enqueued) {}
      #expect(log.all == [0])
      lane.release()
      lane.enqueue { log.add(101) }
      await lane.run(.enqueued) {}
      #expect(log.all == Array(0...101))
      #expect(lane.heldBlocks == 0)
    }
  }

  @Test("What a released block enqueues is held as well")
  func blocksOfBlocks() async {
    await watched("blocks of blocks") {
      let lane = ContextLane()
      let log = Log()
      #expect(lane.hold())
      lane.enqueue {
        log.add(1)
        lane.enqueue { log.add(2) }
      }
      #expect(lane.releaseNext())
      await lane.run(.enqueued) {}
      #expect(log.all == [1] && lane.heldBlocks == 1)
      lane.release()
      await lane.run(.enqueued) {}
      #expect(log.all == [1, 2])
    }
  }

  @Test("A lane is held once at a time, and can be held again")
  func again() async {
    let lane = ContextLane()
    #expect(!lane.releaseNext())
    #expect(lane.hold())
    #expect(!lane.hold())
    lane.release()
    lane.release()
    #expect(lane.hold())
    lane.release()
    #expect(await lane.run { 1 } == 1)
  }
}
