internal import CDEStore
internal import Foundation

extension NSManagedObject {
  /// What the row says about an attribute or composite, whatever its type.
  ///
  /// What can't be read is remembered and reads as nothing.
  final func storedValue(_ info: PropertyInfo) -> _PropertyValue {
    do {
      return try RowReference(batch: _batch, row: Int(_row)).value(of: info) {
        let data = try externalData($0)
        // A save compares with these bytes, which the file system has at hand now.
        overlay.loadedFiles.insert(info.slot)
        return data
      }
    } catch {
      unreadable(info, error)
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
      Diagnostics.report("\(_binding.name).\(info.name) could not be read: \(error)")
    }
  }
}
