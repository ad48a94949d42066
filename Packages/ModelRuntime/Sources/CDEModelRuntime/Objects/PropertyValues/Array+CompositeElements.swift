internal import CDEStore

/// The elements of a composite, whose values are a dictionary by name. A composite among them has a dictionary of its own, as in
/// Core Data, so that elements on several levels may share a name.
///
/// In rows a composite is only its leaves, in declared order.
extension [StoreAttribute] {
  /// Makes the dictionary of values by element.
  ///
  /// - Parameter leaf: returns the value of the leaf with an index; nil for none.
  /// - Returns: nil if no leaf has a value.
  func dictionary(_ leaf: (Int) throws -> Any?) rethrows -> [String: Any]? {
    var next = 0
    return try dictionary(&next, leaf)
  }

  private func dictionary(_ next: inout Int, _ leaf: (Int) throws -> Any?) rethrows -> [String: Any]? {
    var result: [String: Any] = [:]
    for element in self {
      if element.type == .composite {
        result[element.name] = try element.elements.dictionary(&next, leaf)
      } else {
        result[element.name] = try leaf(next)
        next += 1
      }
    }
    return result.isEmpty ? nil : result
  }

  /// The values of all leaves in a dictionary of values by element. What is no dictionary where one is expected counts as nil.
  func leafValues(in dictionary: [String: Any]?) -> [Any?] {
    flatMap { element -> [Any?] in
      let value = dictionary?[element.name]
      return element.type == .composite
        ? element.elements.leafValues(in: value as? [String: Any]) : [value]
    }
  }

  /// The first value in a dictionary that its element can't hold, with the path of the element.
  func unfitValue(in dictionary: [String: Any]) -> UnfitValue? {
    for element in self {
      do throws(UnfitValue) {
        if element.type == .composite {
          _ = try _PropertyValue(any: dictionary[element.name], elements: element.elements)
        } else {
          _ = try _PropertyValue(any: dictionary[element.name], as: element.type)
        }
      } catch {
        return UnfitValue(reason: "\(element.name): \(error.reason)", value: error.value)
      }
    }
    let names = map(\.name)
    guard let stranger = dictionary.keys.filter({ !names.contains($0) }).min() else { return nil }
    return UnfitValue(
      reason: "The composite has no element \(stranger). Its elements are: \(names.joined(separator: ", ")).")
  }
}
