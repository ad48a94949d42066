internal import Synchronization

/// The names of key paths over several properties, which Swift does not tell on Linux.
///
/// The rewriting writes the name beside each such key path that a call of `observe` is given.
enum _CDNamedKeyPaths {
  private struct Table: @unchecked Sendable {
    // Guard: the mutex around it. A key path is immutable.
    var names: [AnyKeyPath: String] = [:]
  }

  private static let table = Mutex(Table())

  static func name(of keyPath: AnyKeyPath) -> String? {
    let found = table.withLock { $0 }
    return found.names[keyPath]
  }

  static func add(_ name: String, for keyPath: AnyKeyPath) {
    nonisolated(unsafe) let keyPath = keyPath
    // Guard: a key path is immutable.
    table.withLock { $0.names[keyPath] = name }
  }
}

/// Says by which keys key-value coding names a key path. Rewritten sources call it.
///
/// - Parameters:
///   - keyPath: a key path over several properties.
///   - name: the keys, with dots between them.
/// - Returns: the key path.
public func _cdNamed<Root, Value>(_ keyPath: KeyPath<Root, Value>, _ name: String) -> KeyPath<Root, Value> {
  _CDNamedKeyPaths.add(name, for: keyPath)
  return keyPath
}

/// The keys of a key path that rewritten sources have named.
public func _cdName(of keyPath: AnyKeyPath) -> String? { _CDNamedKeyPaths.name(of: keyPath) }

extension AnyKeyPath {
  /// What `_kvcKeyPathString` becomes: the keys of a key path over variables with `@NSManaged` or `@objc`; nil for another one.
  public var _cdKeyPathString: String? {
    (type(of: self).rootType as? any _CDKeyPathNaming.Type)?.predicateKey(for: self)
      ?? _CDNamedKeyPaths.name(of: self)
  }
}
