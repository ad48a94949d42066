public import CDEExecutors
internal import Foundation

/// Why a predicate or a sort order could not be parsed, converted or evaluated.
///
/// No initialiser of a predicate throws or traps because of data. The predicate stores the error, and the
/// functions that use the predicate throw it (``Foundation/NSPredicate/predicateTree()``, a fetch).
public struct PredicateTreeError: CDEError, Hashable {
  /// An open set of reasons.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The format string violates the grammar; ``PredicateTreeError/position`` contains the offset.
    public static let malformedFormat = Code(rawValue: "malformedFormat")
    /// A placeholder has no argument, or one of the wrong kind.
    public static let argument = Code(rawValue: "argument")
    /// A construct of Apple's predicates or `#Predicate` that has no meaning here.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A block of a predicate or a comparator of an order. Only memory can call it.
    public static let inMemoryOnly = Code(rawValue: "inMemoryOnly")
    /// A `$NAME` without a substituted value.
    public static let missingVariable = Code(rawValue: "missingVariable")
    /// A key that the object does not have.
    public static let unknownKey = Code(rawValue: "unknownKey")
    /// A Swift key path without a name: its root type does not conform to ``PredicateKeyPathNaming`` or has
    /// no name for it.
    public static let unnamedKeyPath = Code(rawValue: "unnamedKeyPath")
    /// A comparison that does not support its operands, such as `<` on a whole collection.
    public static let operands = Code(rawValue: "operands")
    /// A `MATCHES` pattern that is not a regular expression.
    public static let malformedPattern = Code(rawValue: "malformedPattern")
  }

  /// The kind of error, for programs.
  public let code: Code
  /// What went wrong and what to do about it, for people. With ``position`` set, it begins with the offset.
  public let message: String
  /// The subject of the error: a keyword, an operator, a placeholder or a type; never a bound value.
  public let construct: String
  /// The offset in the format string, counted in Unicode scalars from 0, if the error comes from one.
  public let position: Int?

  /// Always nil, because the error comes from this layer itself.
  public var cause: (any Error)? { nil }

  /// For layers that translate trees. They report a construct that a store can't express as the same error.
  @_spi(CDE) public init(_ code: Code, construct: String, position: Int? = nil, _ message: String) {
    self.code = code
    self.construct = construct
    self.position = position
    self.message = position.map { "at offset \($0): \(message)" } ?? message
  }
}
