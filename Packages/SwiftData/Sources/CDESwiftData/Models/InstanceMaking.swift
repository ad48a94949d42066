@_spi(CDE) internal import CDEExecutors
@_spi(Reflection) internal import Swift

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The instances whose initialisers run.
enum InstanceMaking {
  private static let key = makeThreadSpecificKey()

  // MARK: Instances of existing objects

  /// Runs the initialiser of an object's instance. The fields of all its classes get the object.
  static func with<Result>(_ object: _ModelObject, _ body: () -> Result) -> Result {
    let before = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passUnretained(object).toOpaque())
    defer { pthread_setspecific(key, before) }
    return body()
  }

  /// The object of the instance that is being made on this thread; nil if an initialiser of the application's makes it.
  static func object(for info: _ModelInfo) -> _ModelObject? {
    guard let current = pthread_getspecific(key) else { return nil }
    let object = Unmanaged<_ModelObject>.fromOpaque(current).takeUnretainedValue()
    return object.info.descends(from: info) ? object : nil
  }

  // MARK: Instances of new objects

  private struct Begun: @unchecked Sendable {
    // Guard: the lock of the table; the object is used by the initialiser's thread alone.
    weak var object: _ModelObject?
  }

  private struct BegunObjects {
    var byAddress: [UInt: Begun] = [:]
    /// The number of entries at which those of freed objects are removed.
    var limit = 1_024
  }

  /// Objects of instances whose classes have several fields, by the instance's address.
  private static let begun = Lock(BegunObjects())

  static func begin(_ object: _ModelObject, at base: UnsafeMutableRawPointer) {
    begun.withLock { begun in
      if begun.byAddress.count >= begun.limit {
        begun.byAddress = begun.byAddress.filter { $0.value.object != nil }
        begun.limit = max(1_024, 2 * begun.byAddress.count)
      }
      begun.byAddress[UInt(bitPattern: base)] = Begun(object: object)
    }
  }

  /// The object that another field of the same instance has. An address may have been of an instance that is gone.
  static func begun(at base: UnsafeMutableRawPointer) -> _ModelObject? {
    guard let found = begun.withLock({ $0.byAddress[UInt(bitPattern: base)]?.object }),
      let model = found.model,
      UnsafeMutableRawPointer(Unmanaged.passUnretained(model as AnyObject).toOpaque()) == base
    else { return nil }
    return found
  }
}

/// Where the field of a class lies in its instances.
enum FieldOffset {
  static func ofBacking<Model: PersistentModel>(in type: Model.Type) -> Int? {
    #if canImport(ObjectiveC)
      return nil
    #else
      var found: Int?
      _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { name, offset, fieldType, _ in
        if fieldType == _ModelBacking<Model>.self, String(cString: name) == "_$backing" { found = offset }
        return true
      }
      return found
    #endif
  }
}

/// An optimised program may keep an instance that never leaves its function on the stack, where nothing may refer to it.
enum StackRange {
  static func contains(_ address: UnsafeMutableRawPointer) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { here in
      let (mine, other) = (UInt(bitPattern: here.baseAddress), UInt(bitPattern: address))
      // Frames of callers lie above, and a frame that has such an instance is near.
      return other > mine && other - mine < 64 << 10
    }
  }
}
