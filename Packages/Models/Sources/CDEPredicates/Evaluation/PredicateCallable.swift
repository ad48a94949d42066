/// An object whose methods predicates and expressions may call in memory: `FUNCTION(SELF, "rating")`.
///
/// Core Data sends the selector to any object. Swift on Linux has no selectors, so the object answers by name.
/// A store never calls methods.
nonisolated public protocol PredicateCallable {
  /// The result of a method.
  ///
  /// - Parameters:
  ///   - selector: The method's name as the expression has it, with a colon for each argument.
  ///   - arguments: The values of the arguments, in order.
  /// - Throws: When the object has no such method, or the method fails. The evaluation then fails.
  func predicateValue(calling selector: String, arguments: [PredicateValue]) throws -> PredicateValue
}
