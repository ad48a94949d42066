import CDEModelRuntime
import Foundation

final class Plain {
  var number = 0
}

@MainActor
final class Screen {
  var state = 0
  let plain = Plain()

  // A block that runs later, on the context, must not take along what is the main actor's.
  func later(_ context: NSManagedObjectContext, _ container: NSPersistentContainer) {
    context.perform { self.state += 1 }  // error: main actor-isolated property
    container.performBackgroundTask { _ in self.state += 1 }  // error: main actor-isolated property
  }
}

// A block of another actor can't be passed on by code that belongs to none.
func pass(_ block: @escaping @MainActor () -> Void, to context: NSManagedObjectContext) async {
  await context.perform(block)  // error: loses global actor 'MainActor'
}
