internal import CDEManagedModel
internal import Foundation

/// The copy of a model in the source of a mapping model: an archive as text.
///
/// An archive of Core Data's own classes is read like a compiled model. Xcode's editor has classes of its own, too, whose fields are
/// not known.
struct EmbeddedModel {
  private let data: Data
  private let file: String

  /// - Parameters:
  ///   - text: the archive in base64, or in hexadecimal digits.
  ///   - file: the path of the mapping model, for errors.
  init(_ text: String, file: String) throws(ModelFileError) {
    let text = text.filter { !$0.isWhitespace }
    guard let data = Self.hexadecimal(text) ?? Data(base64Encoded: text), Self.isArchive(data) else {
      throw ModelFileError(.damaged, "The copy of the model in the mapping model is no archive.", file: file)
    }
    self.data = data
    self.file = file
  }

  func fill(_ model: NSManagedObjectModel) throws(ModelFileError) {
    let archive = try ModelArchive(data, file: file)
    let name = archive.fields(archive.root).map(archive.className) ?? ""
    guard name == "NSManagedObjectModel" else {
      throw ModelFileError(
        .unsupportedFormat,
        "The copy of the model in the mapping model is of the editor's class \(name), which only Xcode reads.",
        file: file)
    }
    try CompiledModelReader(data, file: file).fill(model, module: nil)
  }

  private static func isArchive(_ data: Data) -> Bool { data.starts(with: Data("bplist".utf8)) }

  /// Digits may be in angle brackets, as data are printed.
  private static func hexadecimal(_ text: String) -> Data? {
    let digits = Array(text.utf8.drop { $0 == UInt8(ascii: "<") }.prefix { $0 != UInt8(ascii: ">") })
    guard digits.count.isMultiple(of: 2) else { return nil }
    var data = Data(capacity: digits.count / 2)
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Character(UnicodeScalar(digits[place])).hexDigitValue,
        let low = Character(UnicodeScalar(digits[place + 1])).hexDigitValue
      else { return nil }
      data.append(UInt8(high << 4 | low))
    }
    return isArchive(data) ? data : nil
  }
}

extension MappingSource {
  /// Why there is no copy of a model to read.
  func noCopy(_ which: String) -> ModelFileError {
    ModelFileError(.missing, "The mapping model has no copy of its \(which) model either.", file: file)
  }
}
