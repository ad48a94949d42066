@_spi(CDE) internal import CDEExecutors
internal import Foundation

/// The names along key paths over to-one relationships, such as `\Book.author?.name`, for orders.
///
/// No function of the standard library takes a key path apart, or appends to one that ends in an optional. Its description names each
/// part by its getter, and so tells whether the path consists of the properties of models.
enum RelatedPaths {
  private struct Known: @unchecked Sendable {
    // Guard: the lock; key paths of properties are immutable.
    var names: [AnyKeyPath: [String]?] = [:]
  }

  private static let known = Lock(Known())

  /// The greatest number of relationships in a path.
  private static let limit = 4

  /// The names of the properties along a key path; nil if it leads over anything else.
  static func names(of path: AnyKeyPath, from type: any PersistentModel.Type) -> [String]? {
    if let known = known.withLock({ $0.names[path] }) { return known }
    let found = names(of: parts(of: path), from: type, limit)
    known.withLock { $0.names[path] = .some(found) }
    return found
  }

  private static func names(
    of text: Substring, from type: any PersistentModel.Type, _ limit: Int
  ) -> [String]? {
    for entry in properties(of: type) {
      let part = parts(of: entry.keypath)
      guard !part.isEmpty, text.hasPrefix(part) else { continue }
      let rest = text.dropFirst(part.count)
      let info = _ModelInfo.known(type)
      // An optional chain ends with the mark of the optional that it makes.
      if rest.isEmpty || rest == "?" {
        return info.name(of: entry.keypath).map { $0.split(separator: ".").map(String.init) }
      }
      guard limit > 0, let destination = destination(of: Swift.type(of: entry.keypath).valueType) else {
        continue
      }
      for mark in ["?.", "!.", "."] where rest.hasPrefix(mark) {
        if let names = names(of: rest.dropFirst(mark.count), from: destination, limit - 1) {
          return [entry.name] + names
        }
      }
    }
    return nil
  }

  /// The description of a key path without its root.
  private static func parts(of path: AnyKeyPath) -> Substring {
    let text = path.debugDescription
    guard let point = text.firstIndex(of: ".") else { return "" }
    let root = "\\\(type(of: path).rootType)."
    return text.hasPrefix(root) ? text.dropFirst(root.count) : text[text.index(after: point)...]
  }

  private static func properties(of type: any PersistentModel.Type) -> [Schema.PropertyMetadata] {
    _ModelInfo.known(type).metadata.filter { !$0.name.isEmpty }
  }

  private static func destination(of type: Any.Type) -> (any PersistentModel.Type)? {
    if let model = type as? any PersistentModel.Type { return model }
    return (type as? any OptionalModel.Type)?.model
  }
}

/// An optional whose value may be a model.
private protocol OptionalModel {
  static var model: (any PersistentModel.Type)? { get }
}

extension Optional: OptionalModel {
  fileprivate static var model: (any PersistentModel.Type)? { Wrapped.self as? any PersistentModel.Type }
}
