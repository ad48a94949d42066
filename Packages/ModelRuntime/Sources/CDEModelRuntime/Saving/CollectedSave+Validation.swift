internal import CDEStore
internal import Foundation

extension CollectedSave {
  /// Validates every object of a save.
  ///
  /// - Parameter areRestored: whether the values are earlier ones of the store, which are taken as they are.
  /// - Throws: the failure, or `.multipleValidationErrors` with all failures.
  func validate(areRestored: Bool) throws {
    var failures: [ManagedObjectError] = []
    var thrown: [any Error] = []
    func check(_ object: NSManagedObject, _ body: () throws -> Void) {
      do { try body() } catch {
        thrown.append(error)
        failures += ManagedObjectError.failures(in: error, of: object)
      }
    }
    // Checked here, because a class may omit the validation of its superclass.
    func checkProblems(_ object: NSManagedObject) {
      if object.hasProblems { check(object) { try object.validateProblems() } }
    }
    inserted[...].forEachBorrowed { object in
      checkProblems(object)
      if !areRestored { check(object) { try object.validateForInsert() } }
    }
    updated[...].forEachBorrowed { object in
      checkProblems(object)
      if !areRestored { check(object) { try object.validateForUpdate() } }
    }
    deleted[...].forEachBorrowed { object in check(object) { try object.validateForDelete() } }
    // A class's own error stays as it is where it is the only one.
    if thrown.count == 1, !(thrown[0] is ManagedObjectError) { throw thrown[0] }
    try ManagedObjectError.throwing(failures)
  }
}
