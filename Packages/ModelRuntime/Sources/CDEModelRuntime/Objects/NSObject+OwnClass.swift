internal import Foundation

extension NSObject {
  /// A value as an object of exactly this object's class; nil if its class is another one.
  ///
  /// A set calls `isEqual` for each neighbour in its table. A cast, or a conversion to `AnyObject`, takes most of that time.
  @inline(__always)
  final func ofOwnClass(_ value: Any) -> Self? {
    func reference<Value>(_ value: Value) -> Self {
      withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: Self.self) }
    }
    return type(of: value) == type(of: self) ? reference(value) : nil
  }
}
