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
        reportMissingFile(info, error)
      } else {
        unreadable(info, error)
      }
      return .null
    }
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
