import CDEModelRuntime
import Foundation

let context = NSManagedObjectContext(concurrencyType: .privateQueue)

// Overloads are chosen at top level as in a synchronous function: this is the form that returns at once.
await context.perform { print("later") }  // warning: no 'async' operations occur within 'await' expression
