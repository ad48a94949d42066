internal import Foundation

/// A value decoded from a stored one, kept while the stored value stays the same.
///
/// A change of the stored value need not drop it, because each use compares the value that it was decoded
/// from.
final class DecodedValue {
  enum Source {
    case data(Data)
    case object(_ObjectBox)
  }

  let source: Source
  let value: Any

  init(_ source: Source, _ value: Any) {
    self.source = source
    self.value = value
  }

  func isMade(of other: Source) -> Bool {
    switch (source, other) {
    case (.data(let mine), .data(let other)): mine == other
    case (.object(let mine), .object(let other)): mine === other
    default: false
    }
  }
}
