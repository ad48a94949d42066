import CoreDataEvolution
import Foundation
import Synchronization

/// Several writers, each on a thread of its own, for a while.
struct WriterRace {
  let seconds: Double

  /// Runs writers until the time is over.
  ///
  /// - Parameter make: makes the work of one writer, on its thread. It gets the writer's number.
  /// - Returns: the nanoseconds that pass for one save of all writers together.
  func run(_ count: Int, _ make: @escaping @Sendable (Int) -> () -> Void) -> Double {
    let (ready, go, end) = (DispatchGroup(), DispatchSemaphore(value: 0), DispatchGroup())
    let progress = Progress()
    for writer in 0..<count {
      ready.enter()
      end.enter()
      Thread.detachNewThread {
        let work = make(writer)
        work()
        ready.leave()
        go.wait()
        while !progress.isOver.load(ordering: .relaxed) {
          work()
          progress.saves.wrappingAdd(1, ordering: .relaxed)
        }
        end.leave()
      }
    }
    ready.wait()
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<count { go.signal() }
    Thread.sleep(forTimeInterval: seconds)
    progress.isOver.store(true, ordering: .relaxed)
    end.wait()
    return (clock.now - start).nanoseconds / Double(max(progress.saves.load(ordering: .relaxed), 1))
  }

  /// The same with contexts, each of which changes an object of its own and saves.
  ///
  /// - Parameter keys: the keys of objects, at least one for each writer.
  func run(_ count: Int, savingIn container: NSPersistentContainer, _ keys: [Int64]) -> Double {
    run(count) { writer in
      let context = container.newBackgroundContext()
      let request = Item.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
      request.fetchOffset = Int(keys[writer]) - 1
      request.fetchLimit = 1
      let item = context.performAndWait { try! context.fetch(request)[0] }
      return {
        context.performAndWait {
          item.count &+= 1
          do { try context.save() } catch { fatalError("A save failed: \(error)") }
        }
      }
    }
  }

  private final class Progress: Sendable {
    let isOver = Atomic(false)
    let saves = Atomic(0)
  }
}
