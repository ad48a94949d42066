internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension NSManagedObject {
  /// The key of the object that a to-one relationship's row refers to.
  final func storedKey(_ info: PropertyInfo) -> Int64? {
    info.cells.first.flatMap { _batch.integer(Int(_row), $0) }
  }

  /// The row's value of an attribute or composite of any type.
  ///
  /// A failed read is recorded and returns no value.
  final func storedValue(_ info: PropertyInfo) -> _PropertyValue {
    let row = RowReference(batch: _batch, row: Int(_row))
    func external(_ value: ExternalValue) throws -> Data {
      let data = try externalData(value)
      // A save compares with these bytes, which are in the cache of the file system now.
      overlay.loadedFiles.insert(info.slot)
      return data
    }
    do { return try row.value(of: info, external: external) } catch {
      // Without a class of the program, whatever transformer the model names may be unknown here.
      if case .attribute(.transformable) = info.kind, type(of: self) == NSManagedObject.self,
        let value = UndecodedValue(try? row.bytes(of: info, external: external), of: info, because: error)
      {
        return .object(_ObjectBox(value))
      }
      if let error = error as? StoreError, error.code == .externalValueMissing {
        if let value = presentValue(info, external) { return value }
        reportMissingFile(info, error)
      } else {
        unreadable(info, error)
      }
      return .null
    }
  }

  /// The value that the store has now. The writer that replaced the value has removed the file that this object's row names.
  ///
  /// - Returns: nil if there is no other value.
  private func presentValue(
    _ info: PropertyInfo, _ external: (ExternalValue) throws -> Data
  ) -> _PropertyValue? {
    guard !hasTemporaryKey, let row = try? _registry?.context?.presentRow(of: self),
      row.batch.layout === _batch.layout
    else { return nil }
    return try? row.value(of: info, external: external)
  }

  final func externalData(_ value: ExternalValue) throws -> Data {
    guard let context = _registry?.context else {
      throw StoreError(.closed, "The object's context is gone, which would read the value.")
    }
    return try context.externalData(value, for: _binding)
  }

  @inline(never)
  private func unreadable(_ info: PropertyInfo, _ error: any Error) {
    if let context = _registry?.context {
      context.noteUnread(self, info.name, error)
    } else {
      reportLostContext(info.name)
    }
  }

  /// Writes a reference to an object by its present key, which may be temporary. Positions in orders stay as they are.
  final func write(
    _ destination: NSManagedObject?, as info: PropertyInfo, into builder: inout RowBatchBuilder
  ) {
    for cell in info.cells {
      switch _binding.layout.cells[cell].role {
      case .key:
        if let destination { builder.setInteger(cell, destination._key) } else { builder.setNull(cell) }
      case .entity:
        if let destination {
          builder.setEntity(cell, destination._binding.index)
        } else {
          builder.setNull(cell)
        }
      case .order, .value: break
      }
    }
  }
}

// What print shows of an object, in Core Data's form. To print an object changes nothing: it reads no rows, files and members.
extension NSManagedObject {
  final var printed: String {
    let id = _key == 0 ? "" : "; id: \(Self.printed(objectID))"
    return
      "<\(Swift.type(of: self)): \(Self.address(of: self))> (entity: \(_binding.name)\(id)\(printedData))"
  }

  /// The values; none for callers that are not on the context's isolation, because its own code may change them meanwhile.
  private final var printedData: String {
    if isFault { return "; data: <fault>" }
    if let context = _registry?.context, !context.isIsolatedHere { return "" }
    let lines = _binding.properties.elements.sorted { $0.name < $1.name }.map { info in
      "    \(info.name) = \(printedValue(info));\n"
    }
    return "; data: {\n\(lines.joined())}"
  }

  private final func printedValue(_ info: PropertyInfo) -> String {
    let held = _overlay?.values[info.slot] ?? .unset
    switch info.kind {
    case .attribute(let type): return printedAttribute(info, held, type)
    case .composite: return printedAttribute(info, held, .composite)
    case .toOne:
      if case .toOne(let object) = held { return PrintedValue.quoted(Self.printed(object.objectID)) }
      guard held.isUnset, isStored, let key = storedKey(info) else { return "nil" }
      let binding = _binding.model.entities[storedEntity(info)]
      let store = _registry?.identityHandle(for: binding, key: key)
      return PrintedValue.quoted(Self.printed(NSManagedObjectID(binding: binding, key: key, store: store)))
    case .toMany:
      guard case .toMany(let members) = held, members.isLoaded else {
        return isStored
          ? PrintedValue.quoted("<relationship fault: \(Self.address(of: self)) '\(info.name)'>")
          : PrintedValue.list([])
      }
      return PrintedValue.list(members.objects.map { PrintedValue.quoted(Self.printed($0.objectID)) })
    }
  }

  private struct InFile: Error {}

  private final func printedAttribute(
    _ info: PropertyInfo, _ held: _PropertyValue, _ type: StoreAttributeType
  ) -> String {
    if !held.isUnset { return PrintedValue.text(held.any(as: type)) }
    if info.isTransient { return PrintedValue.text(info.defaultValue.any(as: type)) }
    do {
      let row = RowReference(batch: _batch, row: Int(_row))
      return PrintedValue.text(try row.value(of: info) { _ in throw InFile() }.any(as: type))
    } catch is InFile { return "<data in a file>" } catch { return "<unreadable>" }
  }

  private static func printed(_ id: NSManagedObjectID) -> String { "\(address(of: id)) \(id)" }

  private static func address(of object: AnyObject) -> String {
    "0x" + String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
  }
}

/// Values in the form in which `NSDictionary` prints them.
private enum PrintedValue {
  static func text(_ value: Any?, indent: String = "    ") -> String {
    switch _PropertyValue.unwrap(value) {
    case nil, is NSNull: return "nil"
    case let text as String: return quoted(text)
    case let truth as Bool where !(value is NSNumber): return truth ? "1" : "0"
    case let number as NSNumber: return number.stringValue
    case let data as Data: return bytes(data)
    case let id as UUID: return quoted(id.uuidString)
    case let url as URL: return quoted(url.absoluteString)
    case let elements as [String: Any]:
      let inner = indent + "    "
      let lines = elements.sorted { $0.key < $1.key }.map {
        "\(inner)\($0.key) = \(text($0.value, indent: inner));\n"
      }
      return "{\n\(lines.joined())\(indent)}"
    case let value?: return quoted("\(value)")
    }
  }

  static func list(_ members: [String]) -> String {
    let lines = members.map { "\n        \($0)" }
    return "    (\(lines.joined(separator: ","))\n    )"
  }

  /// Text that a property list would not need quotes for is printed without them.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"):
        true
      default: false
      }
    }
    return isPlain && !text.isEmpty ? text : PredicateConstant.quoted(text)
  }

  private static func bytes(_ data: Data) -> String {
    let digits = data.prefix(24).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return "{length = \(data.count), bytes = 0x\(digits)\(data.count > 24 ? " ..." : "")}"
  }
}
