/// A rule that an attribute's values must satisfy to be saved. In a model it becomes predicates on `SELF`, as
/// in Core Data.
public enum CDRuntimeValidationRule: Sendable, Equatable {
  /// A number within bounds, both included, given as decimal literals; nil for no bound.
  case range(minimum: String?, maximum: String?)
  /// Text with a number of characters within bounds, both included.
  case length(minimum: Int?, maximum: Int?)
  /// Text that matches the whole regular expression.
  case matching(String)
}
