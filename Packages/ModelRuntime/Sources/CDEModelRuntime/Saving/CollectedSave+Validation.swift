internal import CDEStore
internal import Foundation

extension CollectedSave {
  /// Validates every object of a save.
  ///
  /// - Throws: the failure, or `.multipleValidationErrors` with all failures.
  func validate() throws {
    var failures: [ManagedObjectError] = []
    var foreign: (any Error)?
    func check(_ object: NSManagedObject, _ body: () throws -> Void) {
      do {
        try body()
      } catch let error as ManagedObjectError {
        let single = error.code == .multipleValidationErrors ? error.failures : [error]
        failures += single.map { failure in
          var failure = failure
          if failure.object == nil { failure.object = object }
          return failure
        }
      } catch {
        // An error of a class's own validation.
        foreign = error
        failures.append(
          ManagedObjectError(
            .invalidValue, "\(object._binding.name) is not valid: \(error.localizedDescription)",
            cause: error,
            entity: object._binding.name, objectID: object.objectID, object: object))
      }
    }
    // Checked here, because a class may omit the validation of its superclass.
    func checkProblems(_ object: NSManagedObject) {
      if object.hasProblems { check(object) { try object.validateProblems() } }
    }
    inserted[...].forEachBorrowed { object in
      checkProblems(object)
      check(object) { try object.validateForInsert() }
    }
    updated[...].forEachBorrowed { object in
      checkProblems(object)
      check(object) { try object.validateForUpdate() }
    }
    deleted[...].forEachBorrowed { object in check(object) { try object.validateForDelete() } }
    if failures.count == 1, let foreign { throw foreign }
    try ManagedObjectError.throwing(failures)
  }
}
