@_spi(CDE) import CDEExecutors
import Testing

@Suite("Suspended executors")
struct ExecutorSuspensionTests {
  @Test(
    "Suspended blocks run one by one when they are resumed, in the order of their requests",
    arguments: [true, false])
  func oneByOne(onMain: Bool) async {
    await watched("suspended blocks") {
      let executor = onMain ? ContextExecutor.main() : ContextExecutor()
      let log = Log()
      #expect(executor.suspend())
      for number in 0..<3 { executor.enqueue { log.add(number) } }
      await executor.run(.enqueued) {}
      #expect(log.all == [] && executor.suspendedBlockCount == 3)
      for number in 0..<3 {
        #expect(executor.resumeNext())
        await executor.run(.enqueued) {}
        #expect(log.all == Array(0...number))
      }
      #expect(!executor.resumeNext())
      #expect(executor.suspendedBlockCount == 0)
      executor.resume()
    }
  }

  @Test("Runs, waits and actor calls run before suspended blocks", arguments: [true, false])
  func overtaking(onMain: Bool) async {
    await watched("overtaking") {
      let executor = onMain ? ContextExecutor.main() : ContextExecutor()
      let log = Log()
      #expect(executor.suspend())
      executor.enqueue { log.add(4) }
      await executor.run { log.add(1) }
      await onPlainThread { executor.runAndWait { log.add(2) } }
      #expect(await BoundActor(executor).bump() == 1)
      log.add(3)
      executor.resume()
      await executor.run(.enqueued) {}
      #expect(log.all == [1, 2, 3, 4])
    }
  }

  @Test("The end of a suspension runs all blocks in order, before blocks that are enqueued later")
  func resume() async {
    await watched("resume") {
      let executor = ContextExecutor()
      let log = Log()
      // In the queue when the suspension begins: it is not suspended.
      executor.enqueue { log.add(0) }
      #expect(executor.suspend())
      for number in 1...100 { executor.enqueue { log.add(number) } }
      await executor.run(.enqueued) {}
      #expect(log.all == [0])
      executor.resume()
      executor.enqueue { log.add(101) }
      await executor.run(.enqueued) {}
      #expect(log.all == Array(0...101))
      #expect(executor.suspendedBlockCount == 0)
    }
  }

  @Test("Blocks that a resumed block enqueues are suspended as well")
  func blocksOfBlocks() async {
    await watched("blocks of blocks") {
      let executor = ContextExecutor()
      let log = Log()
      #expect(executor.suspend())
      executor.enqueue {
        log.add(1)
        executor.enqueue { log.add(2) }
      }
      #expect(executor.resumeNext())
      await executor.run(.enqueued) {}
      #expect(log.all == [1] && executor.suspendedBlockCount == 1)
      executor.resume()
      await executor.run(.enqueued) {}
      #expect(log.all == [1, 2])
    }
  }

  @Test("An executor is suspended once at a time, and can be suspended again")
  func again() async {
    let executor = ContextExecutor()
    #expect(!executor.resumeNext())
    #expect(executor.suspend())
    #expect(!executor.suspend())
    executor.resume()
    executor.resume()
    #expect(executor.suspend())
    executor.resume()
    #expect(await executor.run { 1 } == 1)
  }
}
