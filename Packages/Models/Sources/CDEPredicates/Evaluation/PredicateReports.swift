@_spi(CDE) internal import CDEExecutors
internal import Foundation

/// Notes about predicates and sort descriptors that could not be evaluated in memory, by functions that can't throw.
enum PredicateReports {
  /// Notes that a predicate was false because of an error.
  static func noteFalse(_ predicate: NSPredicate, _ error: any Error) {
    note(
      "The predicate \(predicate.description)", "it is false", "matches(_:) throws the error", error)
  }

  /// Notes that two objects were taken as equal in an order because of an error.
  static func noteUnordered(_ descriptor: NSSortDescriptor, _ error: any Error) {
    note(
      "The sort descriptor \(descriptor.description)", "the objects are left as they are",
      "Sort by a key of both objects", error)
  }

  private static func note(_ what: String, _ effect: String, _ remedy: String, _ error: any Error) {
    LayerReports.note(what) {
      "\(what) could not be evaluated with an object, and perhaps with others: \(effect). \(remedy): \(error)"
    }
  }
}
