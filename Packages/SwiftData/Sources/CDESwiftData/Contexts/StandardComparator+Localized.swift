public import Foundation

// Foundation on Linux has the lexical comparator of texts alone.
#if !canImport(ObjectiveC)
  extension String.StandardComparator {
    /// The order of a list that people read: numbers by their value, letters of either case together. For the orders of fetches:
    /// Foundation's own `sorted(using:)` on Linux orders by it as by `lexical`.
    public static var localizedStandard: String.StandardComparator { marked }

    /// The lexical comparator, which is marked as a localized one. The mark is checked, because Foundation owns the layout.
    private static let marked: String.StandardComparator = {
      var made = String.StandardComparator.lexical
      let place = MemoryLayout<UInt>.size
      withUnsafeMutableBytes(of: &made) { bytes in
        if bytes.count > place { bytes[place] = 1 }
      }
      let isMarked = Mirror(reflecting: made).children.contains {
        $0.label == "isLocalized" && $0.value as? Bool == true
      }
      return isMarked ? made : .lexical
    }()
  }

  extension SortComparator where Self == String.StandardComparator {
    /// The order of a list that people read.
    public static var localizedStandard: String.StandardComparator {
      String.StandardComparator.localizedStandard
    }
  }
#endif
