import CDESourceFacts
import Foundation

let help = """
  Usage: cde-source-facts [FILE...]

  Prints, as JSON, the classes, structures and enumerations of Swift files: their attributes and properties with types,
  defaults, and the places of all of them. Without a file, paths are read from standard input, separated by zero bytes.
  The command `cde model validate` runs this program.
  """

var paths = Array(CommandLine.arguments.dropFirst())
if paths == ["--help"] || paths == ["-h"] {
  print(help)
  exit(0)
}
if paths.isEmpty {
  let input = FileHandle.standardInput.readDataToEndOfFile()
  paths = input.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
}
let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
do {
  let facts = SourceFacts(files: FactReading(paths).files())
  try FileHandle.standardOutput.write(contentsOf: encoder.encode(facts))
  exit(0)
} catch {
  FileHandle.standardError.write(Data("error: \(error.localizedDescription)\n".utf8))
  exit(2)
}
