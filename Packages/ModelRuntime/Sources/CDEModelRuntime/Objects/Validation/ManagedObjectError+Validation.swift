internal import Foundation

extension ManagedObjectError {
  /// The failures that an error of an object's validation stands for.
  ///
  /// An error of several failures is taken apart, whichever code threw it. An error of a class's own validation is the
  /// cause of its failure, and Core Data's callers get it as it was thrown.
  static func failures(in error: any Error, of object: NSManagedObject) -> [ManagedObjectError] {
    if let known = error as? ManagedObjectError {
      let single =
        known.code == .multipleValidationErrors && !known.failures.isEmpty ? known.failures : [known]
      return single.map { failure in
        var failure = failure
        if failure.object == nil { failure.object = object }
        return failure
      }
    }
    let bridged = error as NSError
    if bridged.domain == NSCocoaErrorDomain, bridged.code == NSValidationMultipleErrorsError,
      let details = bridged.userInfo[NSDetailedErrorsKey] as? [any Error], !details.isEmpty
    {
      return details.flatMap { failures(in: $0, of: object) }
    }
    var failure = ManagedObjectError(
      .invalidValue, "\(object._binding.name) is not valid: \(error.localizedDescription)", cause: error,
      entity: object._binding.name, property: bridged.userInfo[NSValidationKeyErrorKey] as? String,
      objectID: object.objectID, object: object)
    failure.standsForCause = true
    return [failure]
  }
}
