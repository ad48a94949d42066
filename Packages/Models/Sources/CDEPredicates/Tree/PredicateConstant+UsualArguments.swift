internal import Foundation

extension PredicateConstant {
  /// The constant for a value of one of the types that most arguments have.
  ///
  /// Compares types, because each cast that fails costs hundreds of instructions, and the arguments of a search for one object are
  /// a good part of its cost.
  static func usual(_ value: Any) -> PredicateConstant? {
    let type = type(of: value)
    if type == String.self { return .string(value as! String) }
    if type == Int.self { return .integer(Int64(value as! Int)) }
    if type == Int64.self { return .integer(value as! Int64) }
    if type == Bool.self { return .bool(value as! Bool) }
    if type == Double.self { return .double(value as! Double) }
    if type == Date.self { return .date(value as! Date) }
    if type == UUID.self { return .uuid(value as! UUID) }
    return nil
  }
}
