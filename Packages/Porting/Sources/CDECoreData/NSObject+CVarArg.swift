public import Foundation

// Values of format strings. Predicates take the values themselves; C functions take the address of an object.

private func encoding(of object: NSObject) -> [Int] {
  // The address must stay valid until the C function has read it, which is later than this function ends.
  [Int(bitPattern: Unmanaged.passRetained(object).toOpaque())]
}

extension Date: @retroactive CVarArg {
  /// The date as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSDate) }
}

extension UUID: @retroactive CVarArg {
  /// The identifier as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSUUID) }
}

extension Data: @retroactive CVarArg {
  /// The data as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSData) }
}

extension URL: @retroactive CVarArg {
  /// The URL as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSURL) }
}

extension Array: @retroactive CVarArg {
  /// The array as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSArray) }
}

extension Dictionary: @retroactive CVarArg {
  /// The dictionary as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSDictionary) }
}

extension Set: @retroactive CVarArg {
  /// The set as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSSet) }
}

extension NSObject: @retroactive CVarArg {
  /// The object's address, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self) }
}
