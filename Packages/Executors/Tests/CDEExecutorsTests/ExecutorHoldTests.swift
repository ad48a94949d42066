@_spi(CDE) import CDEExecutors
import Testing

@Suite("Held executors")
struct ExecutorHoldTests {
  @Test("Held blocks run one by one when released, in the order of asking", arguments: [true, false])
  func oneByOne(onMain: Bool) async {
    await watched("held blocks") {
      let executor = onMain ? ContextExecutor.main() : ContextExecutor()
      let log = Log()
      #expect(executor.hold())
      for number in 0..<3 { executor.enqueue { log.add(number) } }
      await executor.run(.enqueued) {}
      #expect(log.all == [] && executor.heldBlocks == 3)
      for number in 0..<3 {
        #expect(executor.releaseNext())
        await executor.run(.enqueued) {}
        #expect(log.all == Array(0...number))
      }
      #expect(!executor.releaseNext())
      #expect(executor.heldBlocks == 0)
      executor.release()
    }
  }

  @Test("Runs, waits and actor calls overtake held blocks", arguments: [true, false])
  func overtaking(onMain: Bool) async {
    await watched("overtaking") {
      let executor = onMain ? ContextExecutor.main() : ContextExecutor()
      let log = Log()
      #expect(executor.hold())
      executor.enqueue { log.add(4) }
      await executor.run { log.add(1) }
      await onPlainThread { executor.runAndWait { log.add(2) } }
      #expect(await Tenant(executor).bump() == 1)
      log.add(3)
      executor.release()
      await executor.run(.enqueued) {}
      #expect(log.all == [1, 2, 3, 4])
    }
  }

  @Test("The end of holding lets all go in order, before what is enqueued later")
  func release() async {
    await watched("release") {
      let executor = ContextExecutor()
      let log = Log()
      // Standing in line when the holding begins: it runs by itself.
      executor.enqueue { log.add(0) }
      #expect(executor.hold())
      for number in 1...100 { executor.enqueue { log.add(number) } }
      await executor.run(.enqueued) {}
      #expect(log.all == [0])
      executor.release()
      executor.enqueue { log.add(101) }
      await executor.run(.enqueued) {}
      #expect(log.all == Array(0...101))
      #expect(executor.heldBlocks == 0)
    }
  }

  @Test("What a released block enqueues is held as well")
  func blocksOfBlocks() async {
    await watched("blocks of blocks") {
      let executor = ContextExecutor()
      let log = Log()
      #expect(executor.hold())
      executor.enqueue {
        log.add(1)
        executor.enqueue { log.add(2) }
      }
      #expect(executor.releaseNext())
      await executor.run(.enqueued) {}
      #expect(log.all == [1] && executor.heldBlocks == 1)
      executor.release()
      await executor.run(.enqueued) {}
      #expect(log.all == [1, 2])
    }
  }

  @Test("An executor is held once at a time, and can be held again")
  func again() async {
    let executor = ContextExecutor()
    #expect(!executor.releaseNext())
    #expect(executor.hold())
    #expect(!executor.hold())
    executor.release()
    executor.release()
    #expect(executor.hold())
    executor.release()
    #expect(await executor.run { 1 } == 1)
  }
}
